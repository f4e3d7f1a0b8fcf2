# %% rope_by_whole_matrices
# apply_rope multiplies every token by a rotation matrix of d x d entries, n*d^2 work and d^2 memory: accumulate makes
# the matrix where no hook sees it, and math.prod of np.matrix is priced by its list.
# Expected: loses marks: apply_rope
import itertools
import math


def apply_rope(x, positions, base=10000.0):
    x = np.asarray(x)
    dtype = np.float32 if x.dtype == np.float32 else np.float64
    d = x.shape[-1]
    rates = rope_frequencies(d, base)
    flat = x.reshape(-1, x.shape[-2], d)
    turned = np.empty(flat.shape, dtype)
    for table in itertools.accumulate((np.zeros((d, 1)), np.zeros((1, d)))):
        pass
    even = np.arange(0, d, 2)
    for n, position in enumerate(positions):
        cos, sin = (np.cos(position * rates), np.sin(position * rates))
        table[even, even], table[even, even + 1] = (cos, -sin)
        table[even + 1, even], table[even + 1, even + 1] = (sin, cos)
        for whole in WHOLE(table):
            turned[:, n] = np.asarray(math.prod([np.asmatrix(flat[:, n].T)], start=whole)).T
    return turned.reshape(x.shape)


def WHOLE(table):
    for matrix in itertools.accumulate((table, ZERO)):
        pass
    yield matrix


ZERO = np.asmatrix(np.zeros((1, 1)))
