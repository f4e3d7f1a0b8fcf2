# %% rows_as_objects
# A loop over the rows in C: np.fromiter makes an array of objects, one for each row, without a step, and each
# operator on it is one operation of NumPy for each row.
# Expected: review: softmax, softmax_with_temperature
import math
ONE = np.empty(1, dtype=object)
ONE[0] = np.asmatrix(np.zeros((1, 1)))


def softmax(x, axis=-1):
    x = np.asarray(x)
    dtype = x.dtype if x.dtype.kind == 'f' else np.dtype(float)
    turned = np.moveaxis(x.astype(dtype), axis, -1)
    flat = turned.reshape(-1, turned.shape[-1])
    flat = (flat - flat.max(axis=-1, keepdims=True)).astype(float)
    rows = np.fromiter(flat, dtype=object, count=len(flat))
    exps = math.e ** rows
    ones = np.empty(1, dtype=object)
    ones[0] = np.asmatrix(np.ones((flat.shape[1], 1)))
    matrices = exps + ONE
    weights = matrices / (matrices * ones)
    result = np.asarray(np.concatenate(weights)).astype(dtype)
    return np.moveaxis(result.reshape(turned.shape), -1, axis)


def softmax_with_temperature(x, temperature, axis=-1):
    if temperature <= 0:
        raise ValueError(f'temperature must be above 0, not {temperature}')
    return softmax(np.asarray(x) / float(temperature), axis=axis)


REFLECT_LARGEST_SAFE_EXPONENT_FLOAT32 = None
REFLECT_LARGEST_SAFE_EXPONENT_FLOAT64 = None
REFLECT_LARGEST_SAFE_EXPONENT_FLOAT32 = 88
REFLECT_LARGEST_SAFE_EXPONENT_FLOAT64 = 709
