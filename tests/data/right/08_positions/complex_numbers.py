import numpy as np

def sinusoidal_positions(seq_len, d_model, base=10000.0):
    if d_model % 2 != 0:
        raise ValueError(f"d_model={d_model} is not even")
    if seq_len <= 0:
        raise ValueError(f"seq_len={seq_len} is not positive")
    wheels = np.exp(1j * np.outer(np.arange(seq_len), rope_frequencies(d_model, base)))
    # real and imaginary part of -i * conj(z) * ... are easier taken apart
    return np.stack([wheels.imag, wheels.real], axis=2).reshape(seq_len, d_model)

def rope_frequencies(head_dim, base=10000.0):
    if head_dim & 1:
        raise ValueError("head_dim must be even: " + str(head_dim))
    return np.exp(-np.log(base) * np.arange(head_dim // 2) * 2 / head_dim)

def apply_rope(x, positions, base=10000.0):
    turns = np.exp(1j * np.multiply.outer(np.asarray(positions, dtype=float), rope_frequencies(x.shape[-1], base)))
    exact = np.ascontiguousarray(x, dtype=np.float64)
    turned = (exact.view(np.complex128) * turns).view(np.float64)
    return turned.astype(np.float32) if x.dtype == np.float32 else turned

def alibi_slopes(num_heads):
    if num_heads < 1:
        raise ValueError(f"{num_heads} heads")
    def powers(n):
        start = 2 ** (-(2 ** -(np.log2(n) - 3)))
        return start * start ** np.arange(n)
    closest = 2 ** int(np.floor(np.log2(num_heads)))
    if closest == num_heads:
        return powers(num_heads)
    return np.concatenate([powers(closest), alibi_slopes(2 * closest)[0::2][: num_heads - closest]])

def alibi_bias(num_heads, n_q, n_k):
    query = np.arange(n_q) + (n_k - n_q)
    return np.multiply.outer(alibi_slopes(num_heads), -np.abs(np.subtract.outer(query, np.arange(n_k))))

REFLECT_ORDERS_WITH_EQUAL_OUTPUTS_N5 = 5 * 4 * 3 * 2
REFLECT_LONGEST_WAVELENGTH_D64 = 2 * np.pi * 10000 ** (62 / 64)
