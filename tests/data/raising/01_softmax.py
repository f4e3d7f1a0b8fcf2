"""Right code with one slip that raises."""

# %% misspelt_name
# A misspelt variable.
# Expected: no name; nothing has the name exp here
def softmax(x, axis=-1):
    x = np.asarray(x)
    x = x if x.dtype.kind == 'f' else x.astype(np.float64)
    shifted = x - x.max(axis=axis, keepdims=True)
    exps = np.exp(shifted)
    return exps / exp.sum(axis=axis, keepdims=True)


# %% misspelt_function
# A misspelt function of NumPy.
# Expected: no name; the module numpy has no lg
def log_softmax(x, axis=-1):
    x = np.asarray(x)
    x = x if x.dtype.kind == 'f' else x.astype(np.float64)
    shifted = x - x.max(axis=axis, keepdims=True)
    return shifted - np.lg(np.exp(shifted).sum(axis=axis, keepdims=True))


# %% keepdim
# The keyword of PyTorch.
# Expected: no name; PyTorch says dim and keepdim
def softmax(x, axis=-1):
    x = np.asarray(x)
    x = x if x.dtype.kind == 'f' else x.astype(np.float64)
    shifted = x - x.max(axis=axis, keepdim=True)
    exps = np.exp(shifted)
    return exps / exps.sum(axis=axis, keepdim=True)


# %% math_of_an_array
# Math.exp of an array.
# Expected: no name; take one number, and this is an array
import math


def softmax(x, axis=-1):
    x = np.asarray(x)
    x = x if x.dtype.kind == 'f' else x.astype(np.float64)
    shifted = x - x.max(axis=axis, keepdims=True)
    exps = math.exp(shifted)
    return exps / exps.sum(axis=axis, keepdims=True)


# %% scipy
# A library that is not there.
# Expected: no name; there is no module scipy
def log_softmax(x, axis=-1):
    from scipy.special import logsumexp
    x = np.asarray(x)
    x = x if x.dtype.kind == 'f' else x.astype(np.float64)
    shifted = x - x.max(axis=axis, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=axis, keepdims=True))


# %% truth_of_an_array
# A condition on a whole array.
# Expected: no name; asks for one answer
def softmax_with_temperature(x, temperature, axis=-1):
    if not x:
        raise ValueError(f'temperature must be above 0, not {temperature}')
    return softmax(np.asarray(x) / float(temperature), axis=axis)


# %% helper_without_return
# A helper that returns nothing.
# Expected: no name; a value here is None
def _of(x):
    softmax(x)


def softmax_with_temperature(x, temperature, axis=-1):
    if temperature <= 0:
        raise ValueError(f'temperature must be above 0, not {temperature}')
    return _of(x / temperature).sum()


# %% endless_recursion
# A function that calls itself.
# Expected: no name; calls itself again and again
def log_softmax(x, axis=-1):
    x = np.asarray(x)
    x = x if x.dtype.kind == 'f' else x.astype(np.float64)
    shifted = x - x.max(axis=axis, keepdims=True)
    return shifted - np.log(log_softmax(shifted).sum(axis=axis, keepdims=True))
