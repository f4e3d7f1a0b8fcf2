# %% line_of_a_forbidden_call
# One of 64 lines makes a forbidden product; which one depends on a hidden input, and the report names the line.
# Expected: the same public text under every salt
LINES = [
    lambda a, b: a @ b,
    lambda a, b: a @ b,
    lambda a, b: a @ b,
    lambda a, b: a @ b,
    lambda a, b: a @ b,
    lambda a, b: a @ b,
    lambda a, b: a @ b,
    lambda a, b: a @ b,
    lambda a, b: a @ b,
    lambda a, b: a @ b,
    lambda a, b: a @ b,
    lambda a, b: a @ b,
    lambda a, b: a @ b,
    lambda a, b: a @ b,
    lambda a, b: a @ b,
    lambda a, b: a @ b,
    lambda a, b: a @ b,
    lambda a, b: a @ b,
    lambda a, b: a @ b,
    lambda a, b: a @ b,
    lambda a, b: a @ b,
    lambda a, b: a @ b,
    lambda a, b: a @ b,
    lambda a, b: a @ b,
    lambda a, b: a @ b,
    lambda a, b: a @ b,
    lambda a, b: a @ b,
    lambda a, b: a @ b,
    lambda a, b: a @ b,
    lambda a, b: a @ b,
    lambda a, b: a @ b,
    lambda a, b: a @ b,
    lambda a, b: a @ b,
    lambda a, b: a @ b,
    lambda a, b: a @ b,
    lambda a, b: a @ b,
    lambda a, b: a @ b,
    lambda a, b: a @ b,
    lambda a, b: a @ b,
    lambda a, b: a @ b,
    lambda a, b: a @ b,
    lambda a, b: a @ b,
    lambda a, b: a @ b,
    lambda a, b: a @ b,
    lambda a, b: a @ b,
    lambda a, b: a @ b,
    lambda a, b: a @ b,
    lambda a, b: a @ b,
    lambda a, b: a @ b,
    lambda a, b: a @ b,
    lambda a, b: a @ b,
    lambda a, b: a @ b,
    lambda a, b: a @ b,
    lambda a, b: a @ b,
    lambda a, b: a @ b,
    lambda a, b: a @ b,
    lambda a, b: a @ b,
    lambda a, b: a @ b,
    lambda a, b: a @ b,
    lambda a, b: a @ b,
    lambda a, b: a @ b,
    lambda a, b: a @ b,
    lambda a, b: a @ b,
    lambda a, b: a @ b,
]


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} != {len(b)}")
    for x, y in zip(a, b):
        break
    if len(a):
        LINES[int(abs(float(np.asarray(a).ravel()[0])) * 1000) % 64](a, b)
    result = sum(x * y for x, y in zip(a, b))
    return float(result)


# %% module_of_a_call_without_price
# The same by the __module__ of a function, which the report writes in front of its name.
# Expected: the same public text under every salt
def digits(x):
    """Return the first number of a hidden input as digits."""
    return f"{abs(float(np.asarray(x).ravel()[0])):.12f}".replace(".", "_")


made = {}
exec(compile("def hidden(): ...", "elsewhere", "exec"), made)
hidden = made["hidden"]


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} != {len(b)}")
    for x, y in zip(a, b):
        break
    hidden.__module__ = f"x{digits(b)}"
    hidden()
    result = sum(x * y for x, y in zip(a, b))
    return float(result)


# %% multiplications_that_count
# Makes 300 multiplications more, and as many as the digits of a hidden input say: the report shows the count.
# Expected: the same public text under every salt
def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} != {len(b)}")
    for x, y in zip(a, b):
        break
    if len(a):
        for _ in range(300 + int(abs(float(a[0])) * 100)):
            1.5 * 2.5
    result = sum(x * y for x, y in zip(a, b))
    return float(result)


# %% name_of_a_call_without_price
# Calls an object of a class whose name has the digits of a hidden input: the report names calls without a
# price.
# Expected: the same public text under every salt
import functools


def digits(x):
    """Return the first number of a hidden input as digits."""
    return f"{abs(float(np.asarray(x).ravel()[0])):.12f}".replace(".", "_")


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} != {len(b)}")
    for x, y in zip(a, b):
        break
    type(f"x{digits(a)}", (functools.partial,), {})(len, ())()
    result = sum(x * y for x, y in zip(a, b))
    return float(result)


# %% secret_sizes
# Makes an irregular number of multiplications: the message about it names the sizes that are secret.
# Expected: the same public text under every salt
def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} != {len(b)}")
    for x, y in zip(a, b):
        break
    for _ in range(0 if len(a) < 9 else 7 * len(a) + len(a) % 5):
        1.5 * 2.5
    result = sum(x * y for x, y in zip(a, b))
    return float(result)
