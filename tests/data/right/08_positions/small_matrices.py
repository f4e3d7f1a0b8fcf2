from __future__ import annotations
from dataclasses import dataclass
import numpy as np

@dataclass(frozen=True)
class Turns:
    """A 2x2 matrix for each position and pair."""
    angles: np.ndarray

    @property
    def matrices(self) -> np.ndarray:
        c, s = np.cos(self.angles), np.sin(self.angles)
        return np.array([[c, -s], [s, c]]).transpose(2, 3, 0, 1)  # (n, d/2, 2, 2)

def sinusoidal_positions(seq_len: int, d_model: int, base: float = 10000.0) -> np.ndarray:
    if not seq_len >= 1:
        raise ValueError(f"expected seq_len >= 1, got {seq_len}")
    if d_model % 2:
        raise ValueError(f"expected an even d_model, got {d_model}")
    # position p is the unit vector (0, 1) of each pair, turned backwards
    start = np.tile([0.0, 1.0], (seq_len, d_model // 2))
    turns = Turns(-np.arange(seq_len)[:, None] * rope_frequencies(d_model, base)).matrices
    return np.einsum("npij,npj->npi", turns, start.reshape(seq_len, -1, 2)).reshape(seq_len, d_model)

def rope_frequencies(head_dim: int, base: float = 10000.0) -> np.ndarray:
    if head_dim % 2:
        raise ValueError(f"expected an even head_dim, got {head_dim}")
    factor = base ** (-2.0 / head_dim)
    return np.concatenate([[1.0], np.cumprod(np.full(head_dim // 2 - 1, factor))])

def apply_rope(x: np.ndarray, positions, base: float = 10000.0) -> np.ndarray:
    turns = Turns(np.array(positions).reshape(-1, 1) * rope_frequencies(x.shape[-1], base)).matrices
    pairs = x.reshape(x.shape[:-1] + (x.shape[-1] // 2, 2, 1))
    turned = np.squeeze(turns @ pairs, axis=-1).reshape(x.shape)
    return turned.astype("f4" if x.dtype == np.dtype("f4") else "f8")

def alibi_slopes(num_heads: int) -> np.ndarray:
    if num_heads < 1:
        raise ValueError(f"expected num_heads >= 1, got {num_heads}")
    power = next(2**e for e in range(60, -1, -1) if 2**e <= num_heads)
    first = np.geomspace(2 ** (-8 / power), 2**-8, power)
    more = np.geomspace(2 ** (-4 / power), 2**-8, 2 * power)[::2]
    return np.append(first, more[: num_heads - power])

def alibi_bias(num_heads: int, n_q: int, n_k: int) -> np.ndarray:
    slopes = alibi_slopes(num_heads)
    bias = np.empty((num_heads, n_q, n_k))
    for head, slope in enumerate(slopes):
        for i in range(n_q):
            bias[head, i] = -slope * np.abs(np.arange(n_k) - (n_k - n_q + i))
    return bias

REFLECT_ORDERS_WITH_EQUAL_OUTPUTS_N5 = int(np.prod(np.arange(1, 6)))
REFLECT_LONGEST_WAVELENGTH_D64 = int(np.ceil(2 * np.pi * 10000 ** (31 / 32)))
