import numpy as np


class RotaryTable:
    """Keeps cosines and sines for each width and base, and grows when a later position is asked for."""

    _kept = {}

    def __init__(self, width, base):
        self.frequencies = rope_frequencies(width, base)
        self.cos = np.zeros((0, width // 2))
        self.sin = np.zeros((0, width // 2))

    @classmethod
    def of(cls, width, base):
        key = (width, float(base))
        if key not in cls._kept:
            cls._kept[key] = cls(width, base)
        return cls._kept[key]

    def rows(self, positions):
        # only the positions that are needed
        angles = np.asarray(positions, dtype=float)[:, None] * self.frequencies
        return np.cos(angles), np.sin(angles)


def sinusoidal_positions(seq_len, d_model, base=10000.0):
    if seq_len < 1:
        raise ValueError("seq_len {} is below 1".format(seq_len))
    if d_model % 2 == 1:
        raise ValueError("d_model {} is odd".format(d_model))
    cos, sin = RotaryTable.of(d_model, base).rows(range(seq_len))
    signal = np.zeros((seq_len, d_model))
    signal[:, 0::2], signal[:, 1::2] = sin, cos
    return signal


def rope_frequencies(head_dim, base=10000.0):
    if head_dim % 2 == 1:
        raise ValueError("head_dim {} is odd".format(head_dim))
    i = np.arange(head_dim // 2)
    return base ** (-2 * i / head_dim)


def apply_rope(x, positions, base=10000.0):
    if x.shape[-1] % 2 == 1:
        raise ValueError("{} features".format(x.shape[-1]))
    cos, sin = RotaryTable.of(x.shape[-1], base).rows(positions)
    if x.dtype == np.float32:
        cos, sin = cos.astype(np.float32), sin.astype(np.float32)
    x1, x2 = x[..., 0::2], x[..., 1::2]
    return np.stack([x1 * cos - x2 * sin, x2 * cos + x1 * sin], axis=-1).reshape(x.shape)


class Slopes:
    def __init__(self, heads):
        self.all = [2 ** (-8 * (k + 1) / heads) for k in range(heads)]

    def __getitem__(self, key):
        return self.all[key]


def alibi_slopes(num_heads):
    if num_heads < 1:
        raise ValueError("{} heads".format(num_heads))
    power = 2 ** (num_heads.bit_length() - 1)
    return np.array(Slopes(power)[:] + Slopes(2 * power)[0 : 2 * (num_heads - power) : 2])


def alibi_bias(num_heads, n_q, n_k):
    slopes = alibi_slopes(num_heads)
    offset = n_k - n_q
    table = np.fromfunction(lambda i, j: np.abs(i + offset - j), (n_q, n_k))
    return -slopes.reshape(num_heads, 1, 1) * table


REFLECT_ORDERS_WITH_EQUAL_OUTPUTS_N5 = 120
REFLECT_LONGEST_WAVELENGTH_D64 = 47117.2
