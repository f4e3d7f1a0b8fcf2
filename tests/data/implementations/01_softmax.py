# %% one_line
# Expected: passes


def softmax(x, axis=-1):
    return (e := np.exp(x - x.max(axis=axis, keepdims=True))) / e.sum(axis=axis, keepdims=True)


# %% in_place_on_a_copy
# Expected: passes


def softmax(x, axis=-1):
    y = x.copy()
    y -= y.max(axis, keepdims=True)
    np.exp(y, out=y)
    y /= y.sum(axis, keepdims=True)
    return y


# %% einsum_and_moveaxis
# Expected: passes


def softmax(x, axis=-1):
    y = np.moveaxis(x, axis, -1)
    e = np.exp(y - np.max(y, -1)[..., None])
    return np.moveaxis(np.einsum("...i,...->...i", e, 1 / np.einsum("...i->...", e)), -1, axis)


# %% logaddexp_reduce
# Expected: passes


def log_softmax(x, axis=-1):
    return x - np.logaddexp.reduce(x, axis=axis, keepdims=True)


def softmax(x, axis=-1):
    return np.exp(log_softmax(x, axis))


# %% a_few_more_passes
# Expected: passes


def softmax(x, axis=-1):
    x = np.asarray(x, dtype=float)
    shifted = x - np.expand_dims(np.amax(x, axis=axis), axis)
    weights = np.power(np.e, shifted)
    total = np.add.reduce(weights, axis=axis, keepdims=True)
    result = np.true_divide(weights, np.broadcast_to(total, weights.shape))
    return np.where(np.isnan(result), 0, result)


# %% class_based
# Expected: passes


class Softmax:
    def __init__(self, axis):
        self.axis = axis

    def __call__(self, x):
        e = np.exp(x - np.max(x, axis=self.axis, keepdims=True))
        return e / np.sum(e, axis=self.axis, keepdims=True)


def softmax(x, axis=-1):
    return Softmax(axis)(x)


# %% loop_over_the_rows
# Expected: softmax: steps


def softmax(x, axis=-1):
    result = np.empty(x.shape)
    for i in range(len(x)):  # <-- here
        e = np.exp(x[i] - x[i].max())
        result[i] = e / e.sum()
    return result


# %% comprehension_over_entries
# Expected: softmax: steps
import math


def softmax(x, axis=-1):
    result = []
    for row in x.tolist():
        top = max(row)  # <-- here
        e = [math.exp(v - top) for v in row]
        total = sum(e)
        result.append([v / total for v in e])
    return np.array(result)


# %% apply_along_axis
# Expected: softmax: steps


def one(row):  # <-- here
    e = np.exp(row - row.max())
    return e / e.sum()


def softmax(x, axis=-1):
    return np.apply_along_axis(one, axis, x)


# %% vectorized_exponential
# Expected: softmax: steps
import math


def softmax(x, axis=-1):
    e = np.vectorize(math.exp)(x - x.max(axis=axis, keepdims=True))  # <-- here
    return e / e.sum(axis=axis, keepdims=True)


# %% every_pair_of_scores
# Expected: softmax: work mem


def softmax(x, axis=-1):
    y = np.moveaxis(x, axis, -1)
    e = np.exp(y[..., None, :] - y[..., :, None])  # <-- here
    return np.moveaxis(1 / e.sum(axis=-1), -1, axis)


# %% outer_product_of_everything
# Expected: softmax: work mem


def softmax(x, axis=-1):
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    np.multiply.outer(e, e)  # <-- here
    return e / e.sum(axis=axis, keepdims=True)


# %% sorts_first
# Expected: softmax: work mem


def softmax(x, axis=-1):
    e = np.exp(x - np.sort(x @ x.T @ x, axis=axis)[..., -1:] * 0 - x.max(axis=axis, keepdims=True))  # <-- here
    return e / e.sum(axis=axis, keepdims=True)


# %% recursion_over_rows
# Expected: softmax: steps work


def softmax(x, axis=-1):
    if len(x) == 1:
        e = np.exp(x - x.max(axis=axis, keepdims=True))
        return e / e.sum(axis=axis, keepdims=True)
    return np.concatenate([softmax(x[:1], axis), softmax(x[1:], axis)])


# %% slow_only_for_long_rows
# Expected: softmax: steps


def softmax(x, axis=-1):
    if x.shape[-1] > 100:
        for _ in range(x.shape[-1]):  # <-- here
            pass
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


# %% unknown_function
# Expected: softmax: inconclusive


def softmax(x, axis=-1):
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    np.linalg.svd(e)  # <-- here
    return e / e.sum(axis=axis, keepdims=True)
