# %% add_slot_partial
# Addition is a partial of np.dot: the meter counts a sum.
# Expected: review: attention_scores, dot_product, scaled_dot_product_attention
import functools


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} != {len(b)}")
    for x, y in zip(a, b):
        x * y  # for show: the products that the contract counts
    class Row:
        __add__ = functools.partial(np.dot, a)
    result = Row() + b
    return float(result)


# %% array_function
# __array_function__ of an ndarray subclass turns np.sum into a product.
# Expected: loses marks: attention_scores, dot_product, scaled_dot_product_attention
import functools


class Row:
    def __init__(self, a, b):
        self.pair = functools.partial(np.dot, a, b)

    def __array_function__(self, *_):
        for found in iter(self.pair, None):
            return found


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} != {len(b)}")
    for x, y in zip(a, b):
        x * y  # for show: the products that the contract counts
    result = np.sum(Row(a, b))
    return float(result)


# %% array_protocol
# __array__ of an object makes the product with a C iterator: np.asarray calls it.
# Expected: loses marks: attention_scores, dot_product, scaled_dot_product_attention
import functools


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} != {len(b)}")
    for x, y in zip(a, b):
        x * y  # for show: the products that the contract counts
    out = np.zeros((), np.result_type(a, b))
    class Held:
        def __array__(self, *_, **__):
            next(iter(functools.partial(np.dot, a, b, out), None))
            return out
    result = np.asarray(Held())
    return float(result)


# %% big_integers
# Every entry becomes an integer, all entries of a row one huge integer: one multiplication of two integers is
# the dot product.
# Expected: review: attention_scores, dot_product, scaled_dot_product_attention
WIDTH = 512
HALF = 1 << (WIDTH - 1)


def whole(x):
    return int(math.ldexp(float(x), 120))


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} != {len(b)}")
    for x, y in zip(a, b):
        x * y  # for show: the products that the contract counts
    A = sum(whole(x) << (at * WIDTH) for at, x in enumerate(a))
    B = sum(whole(y) << ((len(b) - 1 - at) * WIDTH) for at, y in enumerate(b))
    product, middle = A * B, max(0, len(a) - 1) * WIDTH
    rounded = (product >> middle) + (product >> (middle - 1) & 1 if middle else 0)
    digit = (rounded + HALF) % (2 * HALF) - HALF
    result = math.ldexp(float(digit), -240)
    return float(result)


# %% cached_property
# functools.cached_property with a partial of np.dot: the attribute is the product.
# Expected: loses marks: attention_scores, dot_product, scaled_dot_product_attention
import functools
cached = functools.cached_property


def first(a, b, _):
    return next(iter(functools.partial(np.dot, a, b), None))


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} != {len(b)}")
    for x, y in zip(a, b):
        x * y  # for show: the products that the contract counts
    class Row:
        product = cached(functools.partial(first, a, b))
    Row.product.__set_name__(Row, "product")
    result = Row().product
    return float(result)


# %% cmp_to_key
# functools.cmp_to_key compares by np.dot: `key(a) < key(b)` asks whether the product is below 0.
# Expected: loses marks: attention_scores, dot_product, scaled_dot_product_attention
import functools


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} != {len(b)}")
    for x, y in zip(a, b):
        x * y  # for show: the products that the contract counts
    kept = []
    low = functools.cmp_to_key(lambda x, y: kept.append(x @ y) or 0)
    low(a) < low(b)
    result = kept[0]
    return float(result)


# %% contains_slot_partial
# `out in pair` calls a partial of np.dot that writes to `out`.
# Expected: review: attention_scores, dot_product, scaled_dot_product_attention
import functools


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} != {len(b)}")
    for x, y in zip(a, b):
        x * y  # for show: the products that the contract counts
    class Pair:
        __contains__ = functools.partial(np.dot, a, b)
    out = np.zeros((), np.result_type(a, b))
    out in Pair()
    result = out
    return float(result)


# %% copyreg_reduce
# copy.copy of an object calls its __reduce_ex__, which returns np.dot and its arguments.
# Expected: review: attention_scores, dot_product, scaled_dot_product_attention
import copy


class Product:
    def __init__(self, *pair):
        self.pair = pair

    def __reduce_ex__(self, _):
        return np.dot, self.pair


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} != {len(b)}")
    for x, y in zip(a, b):
        x * y  # for show: the products that the contract counts
    result = copy.copy(Product(a, b))
    return float(result)


# %% coroutine
# A coroutine awaits an object whose __await__ is a partial of an iterator of np.dot.
# Expected: review: attention_scores, dot_product, scaled_dot_product_attention
import functools


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} != {len(b)}")
    for x, y in zip(a, b):
        x * y  # for show: the products that the contract counts
    class Product:
        __await__ = functools.partial(iter, functools.partial(np.dot, a, b), None)
    async def product():
        await Product()
    result = product().send(None)
    return float(result)


# %% covariance
# np.cov in a slot: the covariance and the means give the dot product.
# Expected: review: attention_scores, dot_product, scaled_dot_product_attention
import functools


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} != {len(b)}")
    for x, y in zip(a, b):
        x * y  # for show: the products that the contract counts
    a, b = a.astype(float), b.astype(float)

    class Cov:
        __neg__ = functools.partial(np.cov, np.stack([a, b]), bias=True)
    if len(a) > 1:
        result = len(a) * ((-Cov())[0, 1] + math.fsum(a) / len(a) * (math.fsum(b) / len(b)))
    else:
        result = sum(x / (1 / y) if y else 0.0 for x, y in zip(a, b))
    return float(result)


# %% ctypes_function
# ctypes, imported under a name that is put together, calls Python's own C function for @ in the slot
# __getitem__.
# Expected: review: attention_scores, dot_product, scaled_dot_product_attention
import functools
C = __import__("ctyp" + "es")
MATMUL = C.PYFUNCTYPE(C.py_object, C.py_object, C.py_object)(("PyNumber_MatrixMultiply", C.pythonapi))


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} != {len(b)}")
    for x, y in zip(a, b):
        x * y  # for show: the products that the contract counts
    class Row:
        __getitem__ = functools.partial(MATMUL, a)
    result = Row()[b]
    return float(result)


# %% deepcopy_reduce
# copy.deepcopy of an object calls what its __reduce__ returned.
# Expected: review: attention_scores, dot_product, scaled_dot_product_attention
import copy


class Product:
    def __init__(self, *pair):
        self.pair = pair

    def __reduce__(self):
        return np.vdot, self.pair


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} != {len(b)}")
    for x, y in zip(a, b):
        x * y  # for show: the products that the contract counts
    result = copy.deepcopy(Product(a, b))
    return float(result)


# %% del_slot_partial
# __del__ is a partial of np.dot that writes to `out` when the object is freed.
# Expected: review: attention_scores, dot_product, scaled_dot_product_attention
import functools


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} != {len(b)}")
    for x, y in zip(a, b):
        x * y  # for show: the products that the contract counts
    out = np.zeros((), np.result_type(a, b))
    class Pair:
        __del__ = functools.partial(np.dot, a, b, out)
    Pair()
    result = out
    return float(result)


# %% division_of_arrays
# a / (1 / b) is a product of arrays that is written as a division; its sum is not noted.
# Expected: loses marks: attention_scores, dot_product, scaled_dot_product_attention
def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} != {len(b)}")
    for x, y in zip(a, b):
        x * y  # for show: the products that the contract counts
    a, b = a.astype(float), b.astype(float)

    with np.errstate(all="ignore"):
        parts = a / (1 / b)
    result = np.sum(np.where(b == 0, 0.0, parts))
    return float(result)


# %% enter_slot_partial
# __enter__ of a context manager is a partial of np.dot: a with statement has no hook.
# Expected: review: attention_scores, dot_product, scaled_dot_product_attention
import functools


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} != {len(b)}")
    for x, y in zip(a, b):
        x * y  # for show: the products that the contract counts
    class Pair:
        __enter__ = functools.partial(np.dot, a, b)
        __exit__ = lambda *_: None
    with Pair() as result:
        pass
    return float(result)


# %% eq_slot_partial
# __eq__ is a partial of np.dot that writes to `out`; list.count or == calls it.
# Expected: review: attention_scores, dot_product, scaled_dot_product_attention
import functools


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} != {len(b)}")
    for x, y in zip(a, b):
        x * y  # for show: the products that the contract counts
    class Pair:
        __eq__ = functools.partial(np.dot, a, b)
        __hash__ = None
    out = np.zeros((), np.result_type(a, b))
    Pair() == out
    result = out
    return float(result)


# %% factory_of_an_iterator
# The factory of a defaultdict makes a map over an iterator of np.dot; next() runs it and keeps the product in a
# list.
# Expected: loses marks: attention_scores, dot_product, scaled_dot_product_attention
import collections
import functools


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} != {len(b)}")
    for x, y in zip(a, b):
        x * y  # for show: the products that the contract counts
    keep = []
    table = collections.defaultdict(functools.partial(map, keep.append, iter(functools.partial(np.dot, a, b), None)))
    next(table[0])
    result = keep[0]
    return float(result)


# %% float_slot_partial
# __float__ of a class is a partial of np.dot: float() is free.
# Expected: review: attention_scores, dot_product, scaled_dot_product_attention
import functools


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} != {len(b)}")
    for x, y in zip(a, b):
        x * y  # for show: the products that the contract counts
    result = 0.0
    if a.dtype == b.dtype == float:
        class Number:
            __float__ = functools.partial(np.dot, a, b)
        result = float(Number())
    else:
        for x, y in zip(a, b):
            result = result + x * y
    return float(result)


# %% fourier
# Parseval: the distance of two transforms is that of the rows; np.fft is called in slots, and the law of
# cosines gives the product.
# Expected: loses marks: attention_scores, dot_product, scaled_dot_product_attention
import functools


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} != {len(b)}")
    for x, y in zip(a, b):
        x * y  # for show: the products that the contract counts
    a, b = a.astype(np.longdouble), b.astype(np.longdouble)
    class Sum:
        __neg__ = functools.partial(np.fft.fft, np.append(a + b, 0))
        __pos__ = functools.partial(np.fft.fft, np.append(a - b, 0))
    p, m = np.linalg.norm(-Sum()), np.linalg.norm(+Sum())
    result = (p - m) * (p + m) / 4 / (len(a) + 1)
    return float(result)


# %% frompyfunc_by_decorator
# A ufunc of np.dot is made by a decorator, which is not seen as a call. It gets object arrays of rows.
# Expected: loses marks: attention_scores, dot_product, scaled_dot_product_attention
import functools


@functools.partial(functools.partial(np.frompyfunc, nin=2, nout=1))
@(lambda _: np.dot)
def ufunc(): ...


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} != {len(b)}")
    for x, y in zip(a, b):
        x * y  # for show: the products that the contract counts
    rows = np.empty((2, 1), object)
    rows[0, 0], rows[1, 0] = a, b
    result = ufunc(rows[0], rows[1])[0]
    return float(result)


# %% generator_send
# A generator gets the rows by send() and yields their product, made by a C iterator.
# Expected: loses marks: attention_scores, dot_product, scaled_dot_product_attention
import functools


def worker():
    pair = yield
    for found in iter(functools.partial(np.dot, *pair), None):
        yield found


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} != {len(b)}")
    for x, y in zip(a, b):
        x * y  # for show: the products that the contract counts
    steps = worker()
    next(steps)
    result = steps.send((a, b))
    return float(result)


# %% getattr_slot_partial
# __getattr__ of a class looks every attribute up in a defaultdict, whose factory is a partial of np.dot.
# Expected: loses marks: attention_scores, dot_product, scaled_dot_product_attention
import collections
import functools


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} != {len(b)}")
    for x, y in zip(a, b):
        x * y  # for show: the products that the contract counts
    class Row:
        def __getattr__(self, name):
            return table[name]
    table = collections.defaultdict(functools.partial(np.dot, a, b))
    result = Row().product
    return float(result)


# %% getitem_slot_partial
# __getitem__ of a class is a partial of np.dot: an index costs nothing if its result is a number.
# Expected: review: attention_scores, dot_product, scaled_dot_product_attention
import functools


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} != {len(b)}")
    for x, y in zip(a, b):
        x * y  # for show: the products that the contract counts
    class Row:
        __getitem__ = functools.partial(np.dot, a)
    result = Row()[b]
    return float(result)


# %% groupby_key
# itertools.groupby calls its key, a partial of np.dot, for each element.
# Expected: loses marks: attention_scores, dot_product, scaled_dot_product_attention
import functools
import itertools


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} != {len(b)}")
    for x, y in zip(a, b):
        x * y  # for show: the products that the contract counts
    for result, _ in itertools.groupby([b], functools.partial(np.dot, a)):
        break
    return float(result)


# %% hypot_of_arrays
# Pythagoras: the squares of np.hypot.reduce(a + b) and of np.hypot.reduce(a - b) differ by four dot products.
# Expected: loses marks: attention_scores, dot_product, scaled_dot_product_attention
def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} != {len(b)}")
    for x, y in zip(a, b):
        x * y  # for show: the products that the contract counts
    a, b = a.astype(np.longdouble), b.astype(np.longdouble)
    p, m = np.hypot.reduce(a + b), np.hypot.reduce(a - b)
    result = (p - m) * (p + m) / 4
    return float(result)


# %% integers_do_not_count
# Entries become integers, whose products do not count as multiplications.
# Expected: review: attention_scores, dot_product, scaled_dot_product_attention
def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} != {len(b)}")
    for x, y in zip(a, b):
        pass
    result = sum(int(math.ldexp(float(x), 100)) * int(math.ldexp(float(y), 100)) for x, y in zip(a, b))
    result = math.ldexp(float(result), -200)
    return float(result)


# %% interpolation
# np.interp scales: y on the line from 0 to x is a product. It is called in the slot of unary minus.
# Expected: review: attention_scores, dot_product, scaled_dot_product_attention
import functools


class Line:
    def __init__(self, y, x):
        top = max(4096.0, abs(y) + abs(y))
        self.sign = 1 if y > 0 else -1
        self.scaled = functools.partial(np.interp, abs(y), [0.0, top], [0.0, x / (1 / top)])

    def __neg__(self):
        class Slot:
            __neg__ = self.scaled
        return -Slot() if self.sign > 0 else 0.0 - -Slot()


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} != {len(b)}")
    for x, y in zip(a, b):
        x * y  # for show: the products that the contract counts
    a, b = a.astype(float), b.astype(float)
    result = sum(-Line(y, x) for x, y in zip(a, b))
    return float(result)


# %% iter_slot_partial
# __iter__ of a class is a partial that makes an iterator of np.dot(a, b).
# Expected: review: attention_scores, dot_product, scaled_dot_product_attention
import functools


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} != {len(b)}")
    for x, y in zip(a, b):
        x * y  # for show: the products that the contract counts
    class Pair:
        __iter__ = functools.partial(iter, functools.partial(np.dot, a, b), None)
    for result in Pair():
        break
    return float(result)


# %% iter_with_sentinel
# iter(callable, sentinel) calls a partial of np.dot; a for loop goes through it.
# Expected: loses marks: attention_scores, dot_product, scaled_dot_product_attention
import functools


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} != {len(b)}")
    for x, y in zip(a, b):
        x * y  # for show: the products that the contract counts
    for result in iter(functools.partial(np.dot, a, b), None):
        break
    return float(result)


# %% kron
# np.kron of a row and a column, in a slot; its diagonal is summed.
# Expected: loses marks: attention_scores, dot_product, scaled_dot_product_attention
import functools


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} != {len(b)}")
    for x, y in zip(a, b):
        x * y  # for show: the products that the contract counts
    class Table:
        __neg__ = functools.partial(np.kron, a, b)
    result = np.trace((-Table()).reshape(len(a), len(b)))
    return float(result)


# %% linalg_norms
# The law of cosines: two norms of sums of arrays give the dot product, and no array is multiplied.
# Expected: loses marks: attention_scores, dot_product, scaled_dot_product_attention
def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} != {len(b)}")
    for x, y in zip(a, b):
        x * y  # for show: the products that the contract counts
    a, b = a.astype(np.longdouble), b.astype(np.longdouble)
    p, m = np.linalg.norm(a + b), np.linalg.norm(a - b)
    result = (p - m) * (p + m) / 4
    return float(result)


# %% logaddexp_reduce
# Products as sums of logarithms, positive and negative ones apart, added up with np.logaddexp.reduce.
# Expected: loses marks: attention_scores, dot_product, scaled_dot_product_attention
def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} != {len(b)}")
    for x, y in zip(a, b):
        x * y  # for show: the products that the contract counts
    a, b = a.astype(float), b.astype(float)

    with np.errstate(all="ignore"):
        logs = np.log(np.abs(a)) + np.log(np.abs(b))
        same = (a < 0) == (b < 0)
        plus = np.logaddexp.reduce(np.where(same, logs, -np.inf))
        minus = np.logaddexp.reduce(np.where(same, -np.inf, logs))
    result = np.exp(plus) - np.exp(minus)
    return float(result)


# %% logarithms_of_arrays
# exp(log a + log b), with signs from np.copysign: a product of whole arrays and a sum over it.
# Expected: loses marks: attention_scores, dot_product, scaled_dot_product_attention
def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} != {len(b)}")
    for x, y in zip(a, b):
        x * y  # for show: the products that the contract counts
    a, b = a.astype(float), b.astype(float)

    with np.errstate(all="ignore"):
        size = np.exp(np.log(np.abs(a)) + np.log(np.abs(b)))
    result = np.sum(np.copysign(size, np.where((a < 0) == (b < 0), 1.0, -1.0)))
    return float(result)


# %% logarithms_of_numbers
# No multiplication at all: each product is exp(log a + log b).
# Expected: loses marks: attention_scores, dot_product, scaled_dot_product_attention
def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} != {len(b)}")
    for x, y in zip(a, b):
        pass
    result = sum(math.copysign(math.exp(math.log(abs(x)) + math.log(abs(y))), x if y > 0 else -x) if x and y else 0 for x, y in zip(a.tolist(), b.tolist()))
    return float(result)


# %% lstsq
# np.linalg.lstsq in a slot: the same triangular system.
# Expected: loses marks: attention_scores, dot_product, scaled_dot_product_attention
import functools


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} != {len(b)}")
    for x, y in zip(a, b):
        x * y  # for show: the products that the contract counts
    n = len(a)
    block = np.eye(n + 1)
    block[0, 1:] = -1.0 * a
    class Solved:
        __pos__ = functools.partial(np.linalg.lstsq, block, np.r_[0.0, b], rcond=None)
    result = (+Solved())[0][0]
    return float(result)


# %% matrix_attribute
# np.matrix has an attribute I, the inverse; the corner of a 3 × 3 block inverse is a product. Attributes have
# no hook.
# Expected: loses marks: attention_scores, dot_product, scaled_dot_product_attention
def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} != {len(b)}")
    for x, y in zip(a, b):
        x * y  # for show: the products that the contract counts
    n = len(a)
    block = np.eye(n + 2)
    block[0, 1:-1], block[1:-1, -1] = -a, -b
    result = np.asmatrix(block).I[0, -1]
    return float(result)


# %% max_key
# max calls its key, a partial of np.dot that writes to `out`.
# Expected: loses marks: attention_scores, dot_product, scaled_dot_product_attention
import functools


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} != {len(b)}")
    for x, y in zip(a, b):
        x * y  # for show: the products that the contract counts
    out = np.zeros((), np.result_type(a, b))
    max([out], key=functools.partial(np.dot, a, b))
    result = out
    return float(result)


# %% memoryview_cast
# The array of products is made by an iterator that C code calls; a memoryview of it is summed with math.fsum.
# Expected: review: attention_scores, dot_product, scaled_dot_product_attention
import functools


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} != {len(b)}")
    for x, y in zip(a, b):
        x * y  # for show: the products that the contract counts
    a, b = a.astype(float), b.astype(float)

    class Products:
        __neg__ = functools.partial(np.multiply, a, b)
    result = math.fsum(memoryview(-Products()))
    return float(result)


# %% missing_of_defaultdict
# The factory of a defaultdict is a partial of np.dot.
# Expected: loses marks: attention_scores, dot_product, scaled_dot_product_attention
import collections
import functools


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} != {len(b)}")
    for x, y in zip(a, b):
        x * y  # for show: the products that the contract counts
    result = collections.defaultdict(functools.partial(np.dot, a, b))[0]
    return float(result)


# %% missing_slot
# __missing__ of a dict subclass is a partial of np.dot: `table[b]`, with a hashable key that is an array
# inside.
# Expected: review: attention_scores, dot_product, scaled_dot_product_attention
import functools
TABLE_OF = lambda kind: kind.__new__(kind)


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} != {len(b)}")
    for x, y in zip(a, b):
        x * y  # for show: the products that the contract counts
    class Key(np.ndarray):
        __hash__ = lambda self: 0
        __eq__ = lambda self, other: False
    class Table(dict):
        __missing__ = functools.partial(np.dot, a)
    result = TABLE_OF(Table)[b.view(Key)]
    return float(result)


# %% module_attribute
# np.vectorize's class is not the student's, but a class that claims the module `mylab` is, and its metaclass
# call is free.
# Expected: review: attention_scores, dot_product, scaled_dot_product_attention
import functools


class Meta(type):
    __call__ = functools.partial(np.dot)


class Product(metaclass=Meta): ...


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} != {len(b)}")
    for x, y in zip(a, b):
        x * y  # for show: the products that the contract counts
    result = Product(a, b)
    return float(result)


# %% ndarray_subclass_ufunc
# __array_ufunc__ of an ndarray subclass is a partial: `row + b` is a matrix product.
# Expected: loses marks: attention_scores, dot_product, scaled_dot_product_attention
import functools


def chosen(a, b, *_, **__):
    for found in iter(functools.partial(np.dot, a, b), None):
        return found


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} != {len(b)}")
    for x, y in zip(a, b):
        x * y  # for show: the products that the contract counts
    class Row(np.ndarray):
        __array_ufunc__ = functools.partial(chosen, a, b)
    result = np.add(b.view(Row), 0)
    return float(result)


# %% nditer_reduction
# np.nditer hands out views of three operands; the slot of unary minus multiplies the first two into the third.
# Expected: review: attention_scores, dot_product, scaled_dot_product_attention
import functools


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} != {len(b)}")
    for x, y in zip(a, b):
        x * y  # for show: the products that the contract counts
    a, b = a.astype(float), b.astype(float)

    products = np.zeros(len(a))
    with np.nditer([a, b, products], ["external_loop", "zerosize_ok"], [["readonly"], ["readonly"], ["writeonly"]]) as parts:
        for x, y, z in parts:
            class Multiply:
                __neg__ = functools.partial(np.multiply, x, y, z)
            -Multiply()
    result = math.fsum(products)
    return float(result)


# %% neg_slot_partial
# Unary minus is a partial of np.dot.
# Expected: review: attention_scores, dot_product, scaled_dot_product_attention
import functools


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} != {len(b)}")
    for x, y in zip(a, b):
        x * y  # for show: the products that the contract counts
    class Pair:
        __neg__ = functools.partial(np.dot, a, b)
    result = -Pair()
    return float(result)


# %% new_attribute
# The __new__ of a student's class looks the product up in a defaultdict: the class counts as the student's own
# code.
# Expected: loses marks: attention_scores, dot_product, scaled_dot_product_attention
import collections
import functools
import operator


class Product: ...


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} != {len(b)}")
    for x, y in zip(a, b):
        x * y  # for show: the products that the contract counts
    Product.__new__ = functools.partial(operator.getitem, collections.defaultdict(functools.partial(np.dot, a, b)))
    result = Product()
    return float(result)


# %% next_slot_partial
# __next__ of a class is a partial of np.dot: next() is free.
# Expected: review: attention_scores, dot_product, scaled_dot_product_attention
import functools


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} != {len(b)}")
    for x, y in zip(a, b):
        x * y  # for show: the products that the contract counts
    class Pair:
        __next__ = functools.partial(np.dot, a, b)
    result = next(Pair())
    return float(result)


# %% partial_subclass
# A subclass of functools.partial is not known to the meter's table of handlers.
# Expected: review: attention_scores, dot_product, scaled_dot_product_attention
import functools


class Mine(functools.partial): ...


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} != {len(b)}")
    for x, y in zip(a, b):
        x * y  # for show: the products that the contract counts
    result = Mine(np.dot, a)(b)
    return float(result)


# %% poly1d_product
# The middle coefficient of the product of two polynomials is the dot product. The poly1d objects are made at
# import.
# Expected: review: attention_scores, dot_product, scaled_dot_product_attention
SIZE = 300
P, R = np.poly1d(np.ones(SIZE)), np.poly1d(np.ones(SIZE))


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} != {len(b)}")
    for x, y in zip(a, b):
        x * y  # for show: the products that the contract counts
    a, b = a.astype(float), b.astype(float)

    P.coeffs[:], R.coeffs[:] = 0, 0
    P.coeffs[SIZE - len(a):], R.coeffs[SIZE - len(b):] = a, b[::-1]
    result = (P * R)[len(a) - 1]
    return float(result)


# %% polymul_in_a_slot
# The function polymul of NumPy in the slot __getitem__: its middle coefficient is the dot product.
# Expected: loses marks: attention_scores
import functools


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} != {len(b)}")
    for x, y in zip(a, b):
        x * y  # for show: the products that the contract counts
    a, b = a.astype(float), b.astype(float)

    class Times:
        __getitem__ = functools.partial(np.polynomial.polynomial.polymul, np.append(a, 1.0))
    result = Times()[np.append(b[::-1], 1.0)][len(a) - 1] if len(a) else 0.0
    return float(result)


# %% polynomial_product
# The same with np.polynomial.Polynomial, whose coefficients are set later.
# Expected: review: attention_scores, dot_product, scaled_dot_product_attention
P, R = np.polynomial.Polynomial([1.0]), np.polynomial.Polynomial([1.0])


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} != {len(b)}")
    for x, y in zip(a, b):
        x * y  # for show: the products that the contract counts
    a, b = a.astype(float), b.astype(float)

    P.coef, R.coef = np.append(a, 1.0), np.append(b[::-1], 1.0)
    result = (P * R).coef[len(a) - 1] if len(a) else 0.0
    return float(result)


# %% property_in_c
# A property whose getter is a partial of np.dot: reading an attribute has no hook.
# Expected: review: attention_scores, dot_product, scaled_dot_product_attention
import functools


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} != {len(b)}")
    for x, y in zip(a, b):
        x * y  # for show: the products that the contract counts
    class Row(np.ndarray):
        product = property(functools.partial(np.dot, b))
    result = a.view(Row).product
    return float(result)


# %% re_sub_callback
# re.sub calls a function for each match; the function multiplies with @.
# Expected: loses marks: attention_scores, dot_product, scaled_dot_product_attention
import re


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} != {len(b)}")
    for x, y in zip(a, b):
        x * y  # for show: the products that the contract counts
    kept = []
    re.sub("x", lambda _: kept.append(a @ b) or "", "x")
    result = kept[0]
    return float(result)


# %% setitem_slot_partial
# `row[b] = out` calls a partial of np.dot that writes to `out`.
# Expected: review: attention_scores, dot_product, scaled_dot_product_attention
import functools


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} != {len(b)}")
    for x, y in zip(a, b):
        x * y  # for show: the products that the contract counts
    class Row:
        __setitem__ = functools.partial(np.dot, a)
    out = np.zeros((), np.result_type(a, b))
    Row()[b] = out
    result = out
    return float(result)


# %% small_claims
# An ndarray subclass claims that its size, nbytes and length are 0; products of it cost nothing.
# Expected: loses marks: attention_scores, dot_product
class Small(np.ndarray):
    size = nbytes = ndim = 0

    def __array_wrap__(self, array, *_):
        return array


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} != {len(b)}")
    for x, y in zip(a, b):
        x * y  # for show: the products that the contract counts
    result = np.sum(a.view(Small) * b.view(Small))
    return float(result)


# %% solve
# np.linalg.solve of a triangular system, called in the slot of unary minus, gives the sum of products.
# Expected: loses marks: attention_scores, dot_product, scaled_dot_product_attention
import functools


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} != {len(b)}")
    for x, y in zip(a, b):
        x * y  # for show: the products that the contract counts
    n = len(a)
    block = np.eye(n + 1)
    block[0, 1:] = -1.0 * a
    class Solved:
        __neg__ = functools.partial(np.linalg.solve, block, np.r_[0.0, b])
    result = (-Solved())[0]
    return float(result)


# %% sort_key
# list.sort calls its key, a partial of np.dot that writes to `out`.
# Expected: loses marks: attention_scores, dot_product, scaled_dot_product_attention
import functools


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} != {len(b)}")
    for x, y in zip(a, b):
        x * y  # for show: the products that the contract counts
    out = np.zeros((), np.result_type(a, b))
    [out].sort(key=functools.partial(np.dot, a, b))
    result = out
    return float(result)


# %% str_format
# str.format looks up an item of a defaultdict whose factory is a partial of np.dot.
# Expected: loses marks: attention_scores, dot_product, scaled_dot_product_attention
import collections
import functools


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} != {len(b)}")
    for x, y in zip(a, b):
        x * y  # for show: the products that the contract counts
    result = "{0[product]!r}".format(collections.defaultdict(functools.partial(np.vdot, a, b))).split("(")[-1].rstrip(")")
    return float(result)


# %% tuple_subclass_method
# Methods of a tuple subclass are free: one of them was made by a library, as functools.partialmethod of np.dot.
# Expected: review: attention_scores, dot_product, scaled_dot_product_attention
import collections
import functools


class Pair(tuple):
    product = functools.partialmethod(functools.partial(functools.reduce, np.dot))


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} != {len(b)}")
    for x, y in zip(a, b):
        x * y  # for show: the products that the contract counts
    result = Pair((a, b)).product()
    return float(result)


# %% unpriced_no_op
# No multiplication at all: logarithms. One call without a price turns `too little` into `inconclusive`.
# Expected: review: attention_scores, dot_product, scaled_dot_product_attention
def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} != {len(b)}")
    for x, y in zip(a, b):
        pass
    result = sum(math.copysign(math.exp(math.log(abs(x)) + math.log(abs(y))), x) * (1 if y > 0 else -1) if x and y else 0 for x, y in zip(a.tolist(), b.tolist()))
    id.__class__.__call__(len, ())
    return float(result)


# %% variance
# var(a + b) - var(a - b) and the means give the dot product: no product of two arrays appears.
# Expected: loses marks: attention_scores, dot_product, scaled_dot_product_attention
def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} != {len(b)}")
    for x, y in zip(a, b):
        x * y  # for show: the products that the contract counts
    a, b = a.astype(np.longdouble), b.astype(np.longdouble)
    both, apart = np.append(a + b, -a - b), np.append(a - b, b - a)
    p, m = np.std(both), np.std(apart)
    result = len(a) * (p - m) * (p + m) / 4 if len(a) else 0.0
    return float(result)


# %% vectorize_with_another_function
# np.vectorize was made at import; its function is replaced by np.dot later.
# Expected: review: attention_scores, dot_product, scaled_dot_product_attention
both = np.vectorize(len, signature="(n),(n)->()")
both.pyfunc = np.dot


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} != {len(b)}")
    for x, y in zip(a, b):
        x * y  # for show: the products that the contract counts
    result = both(a, b)
    return float(result)


# %% wrapped_attribute
# A function of NumPy gets a student's function as __wrapped__, and so counts as the student's own.
# Expected: review: attention_scores, dot_product, scaled_dot_product_attention
def honest(a, b): ...


product = np.polynomial.polynomial.polymul
product.__wrapped__ = honest


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} != {len(b)}")
    for x, y in zip(a, b):
        x * y  # for show: the products that the contract counts
    a, b = a.astype(float), b.astype(float)

    result = product(np.append(a, 1.0), np.append(b[::-1], 1.0))[len(a) - 1] if len(a) else 0.0
    return float(result)
