"""Answers that lie: objects with hostile methods, values that compare strangely, sizes that are false."""

# %% equal to everything [objects]
class Yes:
    def __eq__(self, other):
        return True

    def __ne__(self, other):
        return False

    def __bool__(self):
        return True

    __hash__ = None


def evil(x):
    return Yes()


# %% an array of them [objects]
class Zero:
    def __sub__(self, other):
        return 0.0

    __rsub__ = __sub__

    def __eq__(self, other):
        return True


def evil(x):
    return np.array([Zero() for _ in x], dtype=object)


# %% an array subclass that is always close [objects]
class Close(np.ndarray):
    def __array_ufunc__(self, *a, **k):
        return np.zeros(self.shape)

    def __sub__(self, other):
        return np.zeros(self.shape)

    __rsub__ = __sub__


def evil(x):
    return np.zeros_like(x).view(Close)


# %% an array on demand [objects]
class Demand:
    def __array__(self, *a, **k):
        frame = sys._getframe()
        while frame:
            if "expected" in frame.f_locals:
                return np.array(frame.f_locals["expected"])
            frame = frame.f_back
        return np.zeros(5)


def evil(x):
    return Demand()


# %% a class that says it is another [objects]
class Claims:
    @property
    def __class__(self):
        return np.ndarray

    shape, dtype, ndim = (5,), np.dtype(float), 1

    def __sub__(self, other):
        return np.zeros(5)

    __rsub__ = __sub__


def evil(x):
    return Claims()


# %% code to run on arrival [objects]
class Shell:
    def __reduce__(self):
        return (exec, (f"open({LOOT + '/marker-' + NONCE!r}, 'w').close()",))


def evil(x):
    return Shell()


# %% a float with its own arithmetic [objects]
class Lying(float):
    def __sub__(self, other):
        return np.zeros(5)

    __rsub__ = __sub__
    __abs__ = lambda self: 0.0


def evil(x):
    return Lying(3)


# %% a tuple with its own length [objects]
class Many(tuple):
    def __len__(self):
        return 1 << 60

    def __iter__(self):
        while True:
            yield 0


def evil(x):
    return Many((1, 2))


# %% not a number [values]
def evil(x):
    return np.full_like(x, np.nan)


# %% nothing [values]
def evil(x):
    return np.zeros((0, 1, 1))


# %% everything masked [values]
def evil(x):
    return np.ma.masked_all(x.shape)


# %% a mask in a mask [values]
def evil(x):
    return np.ma.array(np.zeros_like(x), mask=True)


# %% one number for all [values]
def evil(x):
    return np.float64(np.nan)


# %% bytes that wrap [values]
def evil(x):
    return (-2 * x).astype(np.int8).view(np.uint8)


# %% true [values]
def evil(x):
    return True


# %% nothing at all [values]
def evil(x):
    return None


# %% complex [values]
def evil(x):
    return x * 2 + 1e-3j


# %% a date [values]
def evil(x):
    return np.array(["NaT"] * len(x), dtype="datetime64[s]")


# %% a record [values]
def evil(x):
    return np.zeros(len(x), dtype=[("a", "f8")])


# %% infinity [values]
def evil(x):
    return np.full_like(x, np.inf)


# %% four terabytes [sizes]
def evil(x):
    return np.broadcast_to(np.float64(0), (1 << 20, 1 << 19))


# %% thirty gigabytes [sizes]
def evil(x):
    return np.broadcast_to(np.float64(0), (1 << 30, 4, 1))


# %% a list that holds itself [sizes]
def evil(x):
    loop = []
    loop.append(loop)
    return loop


# %% a dictionary that holds itself [sizes]
def evil(x):
    loop = {}
    loop["loop"] = loop
    return loop


# %% a very long number [sizes]
def evil(x):
    return 10**200_000


# %% a very deep list [sizes]
def evil(x):
    deep = []
    for _ in range(100_000):
        deep = [deep]
    return deep


# %% a list that doubles [sizes]
def evil(x):
    doubled = [0]
    for _ in range(60):
        doubled = [doubled, doubled]
    return doubled


# %% a very long text [sizes]
def evil(x):
    return "x" * (400 << 20)


# %% a million keys [sizes]
def evil(x):
    return dict.fromkeys(range(1_000_000))


# %% the same array a thousand times [sizes]
def evil(x):
    big = np.zeros(1 << 20)
    return [big] * 1000
