"""Code that never returns."""

# %% in the import
while True:
    pass

# %% asleep in the import
time.sleep(10_000)


# %% in a call
def evil(x):
    while True:
        pass


# %% asleep in a call
def evil(x):
    time.sleep(10_000)


# %% in C, holding the lock
def evil(x):
    import itertools

    sum(itertools.repeat(0))


# %% in one multiplication
def evil(x):
    return len(bytes((7 ** (10**8)) >> 100 & 1))


# %% in a regular expression
def evil(x):
    import re

    return re.match("(a+)+$", "a" * 60 + "b")


# %% with every signal handled
def evil(x):
    for number in range(1, 65):
        try:
            signal.signal(number, lambda *_: None)
        except (OSError, ValueError):
            pass
    while True:
        pass


# %% with every signal blocked
def evil(x):
    signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))
    while True:
        try:
            time.sleep(1000)
        except BaseException:
            pass


# %% swallowing every exception
def evil(x):
    while True:
        try:
            while True:
                x = x + 1
        except BaseException:
            pass


# %% in a lock that is never released
def evil(x):
    lock = threading.Lock()
    lock.acquire()
    lock.acquire()


# %% in the text of an exception
class Slow(Exception):
    def __str__(self):
        while True:
            pass


def evil(x):
    raise Slow


# %% in a property of the result
class Array(np.ndarray):
    @property
    def nbytes(self):
        while True:
            pass

    def __array_finalize__(self, other):
        pass

    def tobytes(self, *arguments):
        while True:
            pass


def evil(x):
    while True:
        np.asarray(x).view(Array).tobytes()


# %% with the channel closed
def evil(x):
    os.close(3)
    while True:
        pass
