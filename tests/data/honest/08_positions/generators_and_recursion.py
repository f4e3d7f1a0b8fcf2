import cmath
import itertools

import numpy as np


def angles_of(position, width, base):
    for pair in range(width // 2):
        yield position * base ** (-2 * pair / width)


def sinusoidal_positions(seq_len, d_model, base=10000.0):
    if not seq_len > 0:
        raise ValueError(seq_len)
    if d_model % 2:
        raise ValueError(d_model)

    def row(pos):
        for angle in angles_of(pos, d_model, base):
            z = cmath.exp(1j * angle)
            yield z.imag
            yield z.real

    return np.fromiter(itertools.chain.from_iterable(map(row, range(seq_len))), dtype=float).reshape(seq_len, d_model)


def rope_frequencies(head_dim, base=10000.0):
    if head_dim % 2:
        raise ValueError(head_dim)
    return np.array(list(angles_of(1, head_dim, base)))


def apply_rope(x, positions, base=10000.0):
    if x.shape[-1] % 2:
        raise ValueError(x.shape[-1])
    if x.ndim > 2:
        return np.stack([apply_rope(part, positions, base) for part in x])
    out = []
    for token, position in zip(x, positions):
        pairs = zip(token[::2], token[1::2], angles_of(int(position), len(token), base))
        turned = [complex(a, b) * cmath.rect(1, t) for a, b, t in pairs]
        out.append(list(itertools.chain.from_iterable((z.real, z.imag) for z in turned)))
    return np.array(out, dtype=np.float32 if x.dtype == np.float32 else np.float64)


def alibi_slopes(num_heads):
    if num_heads < 1:
        raise ValueError(num_heads)

    def lower(n, p=1):
        return p if 2 * p > n else lower(n, 2 * p)

    def sequence(h):
        return (2.0 ** (-8 * (k + 1) / h) for k in range(h))

    p = lower(num_heads)
    return np.array(list(itertools.islice(itertools.chain(sequence(p), itertools.islice(sequence(2 * p), 0, None, 2)), num_heads)))


def alibi_bias(num_heads, n_q, n_k):
    slopes = alibi_slopes(num_heads)
    entries = (-m * abs(q - k) for m, q, k in itertools.product(slopes, range(n_k - n_q, n_k), range(n_k)))
    return np.fromiter(entries, dtype=float, count=num_heads * n_q * n_k).reshape(num_heads, n_q, n_k)


REFLECT_ORDERS_WITH_EQUAL_OUTPUTS_N5 = sum(1 for _ in itertools.permutations("abcde"))
REFLECT_LONGEST_WAVELENGTH_D64 = round(2 * cmath.pi * 10000 ** (62 / 64))
