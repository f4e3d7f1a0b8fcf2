# Boltzmann distribution: p_i = exp(-E_i / kT) / Z. Here the "energies" are -x, so p_i = exp(β x_i) / Z.
import numpy as np

π, e = np.pi, np.e


def Z(βE, axis):
    """Partition function of the (shifted) exponents."""
    return np.add.reduce(np.exp(βE), axis=axis, keepdims=True)


def _centre(x, axis):
    ψ = np.asarray(x)
    ψ = ψ if ψ.dtype.kind == "f" else ψ.astype(float)
    μ = np.amax(ψ, axis=axis, keepdims=True)
    return ψ - μ


def softmax(x, axis=-1):
    Δ = _centre(x, axis)
    return np.exp(Δ) / Z(Δ, axis)


def log_softmax(x, axis=-1):
    Δ = _centre(x, axis)
    lnZ = np.log(Z(Δ, axis))  # free energy, up to a sign and kT
    return Δ - lnZ


def softmax_with_temperature(x, temperature, axis=-1):
    T = temperature
    if T <= 0:
        raise ValueError(f"T = {T} K? Absolute temperatures are positive")
    ψ = np.asarray(x)
    # dividing by a 0-d numpy scalar would change float32 to float64, hence .dtype.type
    σ = ψ.dtype.type if ψ.dtype.kind == "f" else np.float64
    return softmax(ψ / σ(T), axis)


REFLECT_LARGEST_SAFE_EXPONENT_FLOAT32 = int(np.floor(np.log(np.finfo(np.float32).max)))
REFLECT_LARGEST_SAFE_EXPONENT_FLOAT64 = int(np.floor(np.log(np.finfo(np.float64).max)))
