import numpy as np

from mylab.attention import scaled_dot_product_attention
from mylab.masks import create_causal_mask, masked_softmax


def sinusoidal_positions(seq_len, d_model, base=10000.0):
    if seq_len < 1:
        raise ValueError(f"expected at least one position, got {seq_len}")
    if d_model % 2:
        raise ValueError(f"expected an even width, got {d_model}")
    # (0, 1) in each pair, turned the other way round by RoPE itself
    start = np.zeros((seq_len, d_model))
    start[:, 0::2] = 1.0
    turned = apply_rope(start, list(range(seq_len)), base)  # cos, sin
    return turned.reshape(seq_len, -1, 2)[..., ::-1].reshape(seq_len, d_model)


def rope_frequencies(head_dim, base=10000.0):
    if head_dim % 2:
        raise ValueError(f"expected an even width, got {head_dim}")
    return base ** -(np.arange(head_dim // 2) / (head_dim / 2))


def apply_rope(x, positions, base=10000.0):
    frequencies = rope_frequencies(x.shape[-1], base)
    out = np.array(x, dtype=np.float32 if x.dtype == np.float32 else np.float64)
    for row, position in enumerate(positions):
        for pair, frequency in enumerate(frequencies):
            t = position * frequency
            turn = np.array([[np.cos(t), -np.sin(t)], [np.sin(t), np.cos(t)]])
            out[..., row, 2 * pair : 2 * pair + 2] = x[..., row, 2 * pair : 2 * pair + 2] @ turn.T
    return out


def alibi_slopes(num_heads):
    if num_heads < 1:
        raise ValueError(f"expected at least one head, got {num_heads}")
    power = 2 ** int(np.log2(num_heads))
    slopes = list(2.0 ** (-8.0 * np.arange(1, power + 1) / power))
    twice = list(2.0 ** (-8.0 * np.arange(1, 2 * power + 1) / (2 * power)))
    while len(slopes) < num_heads:
        slopes.append(twice.pop(0))
        twice.pop(0)
    return np.array(slopes)


def alibi_bias(num_heads, n_q, n_k):
    slopes = alibi_slopes(num_heads)
    bias = np.zeros((num_heads, n_q, n_k))
    for i in range(n_q):
        bias[:, i] = np.outer(-slopes, np.abs(np.arange(n_k) - (n_k - n_q + i)))
    return bias


def demo():
    x = np.eye(4)
    out, _ = scaled_dot_product_attention(apply_rope(x, range(4)), apply_rope(x, range(4)), x, create_causal_mask(4))
    return masked_softmax(out + alibi_bias(1, 4, 4)[0], create_causal_mask(4))


if __name__ == "__main__":
    print(demo())

REFLECT_ORDERS_WITH_EQUAL_OUTPUTS_N5 = 120
REFLECT_LONGEST_WAVELENGTH_D64 = 47117
