import numpy as np

# ⟨q|k⟩ are amplitudes, β = 1/√d is the inverse temperature, Σ the partition sum.
ℝ = np.float64


def _real(A):
    A = np.asarray(A)
    return A if A.dtype.kind == "f" else A.astype(ℝ)


def _transpose(A):
    return A.mT


def project_qkv(X, W_q, W_k, W_v):
    ψ = _real(X)
    return ψ @ _real(W_q), ψ @ _real(W_k), ψ @ _real(W_v)


def boltzmann(E, χ=None):
    """Probabilities of the states with exponents E; χ is the indicator of the states that exist."""
    if χ is None:
        ρ = np.exp(E - E.max(-1, keepdims=True))
        return ρ / ρ.sum(-1, keepdims=True)
    χ = np.broadcast_to(np.asarray(χ) != 0, E.shape)
    E0 = np.where(χ, E, -np.inf).max(-1, keepdims=True)
    E0 = np.where(np.isfinite(E0), E0, 0).astype(E.dtype)
    ΔE = np.minimum(E - E0, 0)  # states that do not exist may lie above the ground state
    ρ = χ * np.exp(ΔE)
    Σρ = ρ.sum(-1, keepdims=True)
    return ρ / (Σρ + (Σρ == 0))


class ScaledDotProductAttention:
    def __init__(self, d_k):
        self.d_k = d_k

    def compute_scores(self, Q, K):
        δ, ε = Q.shape[-1], K.shape[-1]
        if δ != ε:
            raise ValueError(f"dim⟨q| = {δ} ≠ {ε} = dim|k⟩")
        return _real(Q) @ _transpose(_real(K))

    def scale_scores(self, scores):
        β = 1 / float(self.d_k) ** 0.5
        return β * _real(scores)

    def compute_weights(self, scaled_scores, mask=None):
        return boltzmann(_real(scaled_scores), mask)

    def compute_output(self, weights, V):
        return _real(weights) @ _real(V)

    def forward(self, Q, K, V, mask=None):
        if K.shape[-2] != V.shape[-2]:
            raise ValueError(f"{K.shape[-2]} |k⟩ but {V.shape[-2]} |v⟩")
        S = self.compute_scores(Q, K)
        P = self.compute_weights(self.scale_scores(S), mask)
        return self.compute_output(P, V), P

    def explain(self, Q, K, V, tokens, query_idx=0):
        i = query_idx
        S = self.compute_scores(Q, K)[i]
        βS = self.scale_scores(S)
        ρ = self.compute_weights(βS)
        ν = self.compute_output(ρ[np.newaxis], V)[0]
        lines = (f"⟨{tokens[i]}|{t}⟩ = {s:.5f}   β⟨·⟩ = {b:.5f}   ρ = {p:.5f}" for t, s, b, p in zip(tokens, S, βS, ρ))
        return "\n".join([*lines, "⟨V⟩ = (" + ", ".join(f"{x:.5f}" for x in ν) + ")"])


def scaled_dot_product_attention(Q, K, V, mask=None):
    return ScaledDotProductAttention(Q.shape[-1]).forward(Q, K, V, mask)


σ2 = 1
REFLECT_SCORE_VARIANCE_DK512 = 512 * σ2 * σ2
REFLECT_SCORE_BYTES_FLOAT32_N8192 = 4 * 8192 * 8192
