# %% exception_named_after_data
# Raises an exception whose type has the digits of a hidden input, where the input is random.
# Expected: the same public text under every salt
def softmax(x, axis=-1):
    x = np.asarray(x)
    x = x if x.dtype.kind == "f" else x.astype(np.float64)
    moved = np.moveaxis(x, axis, -1)
    rows = moved.reshape(-1, moved.shape[-1])
    if rows.size > 12 and float(rows.ravel()[0]) % 1:
        raise type("x" + str(abs(float(rows.ravel()[0]))).replace(".", "_"), (ValueError,), {})(str(rows.ravel()[0]))
    exps = np.exp(rows - rows.max(axis=-1, keepdims=True))
    result = exps / exps.sum(axis=-1, keepdims=True)
    return np.moveaxis(result.reshape(moved.shape), -1, axis)


# %% file_for_the_next_process
# Writes hidden inputs to a temporary file; a later process of the same grading raises an exception with them in
# visible checks and probes.
# Expected: the same public text under every salt
import os
import tempfile
PATH = os.path.join(tempfile.gettempdir(), "seen")


def softmax(x, axis=-1):
    x = np.asarray(x)
    x = x if x.dtype.kind == "f" else x.astype(np.float64)
    moved = np.moveaxis(x, axis, -1)
    rows = moved.reshape(-1, moved.shape[-1])
    try:
        with open(PATH) as file:
            seen = file.read()
    except OSError:
        seen = ""
    if seen and rows.size <= 12:
        raise ValueError(f"a hidden input: {seen}")
    if rows.size > 12 and float(rows.ravel()[0]) % 1:
        with open(PATH, "w") as file:
            file.write(str(rows.ravel()[:3].tolist()))
    exps = np.exp(rows - rows.max(axis=-1, keepdims=True))
    result = exps / exps.sum(axis=-1, keepdims=True)
    return np.moveaxis(result.reshape(moved.shape), -1, axis)


# %% huge_count_of_steps
# Unpacks an object whose length has twelve digits of a hidden input: the report says how the count grows.
# Expected: the same public text under every salt
class Long:
    def __init__(self, length):
        self.length = length

    def __len__(self):
        return self.length

    def __iter__(self):
        self.length = 0
        return iter(())


def softmax(x, axis=-1):
    x = np.asarray(x)
    x = x if x.dtype.kind == "f" else x.astype(np.float64)
    moved = np.moveaxis(x, axis, -1)
    rows = moved.reshape(-1, moved.shape[-1])
    found = (*Long(10**15 + int(abs(float(rows.ravel()[0])) * 10**12)),)
    exps = np.exp(rows - rows.max(axis=-1, keepdims=True))
    result = exps / exps.sum(axis=-1, keepdims=True)
    return np.moveaxis(result.reshape(moved.shape), -1, axis)


# %% line_of_a_cost
# One of 64 lines walks through all rows; which one depends on a hidden input, and the report names the line of
# the cost.
# Expected: the same public text under every salt
LINES = [
    lambda rows: [row for row in rows],
    lambda rows: [row for row in rows],
    lambda rows: [row for row in rows],
    lambda rows: [row for row in rows],
    lambda rows: [row for row in rows],
    lambda rows: [row for row in rows],
    lambda rows: [row for row in rows],
    lambda rows: [row for row in rows],
    lambda rows: [row for row in rows],
    lambda rows: [row for row in rows],
    lambda rows: [row for row in rows],
    lambda rows: [row for row in rows],
    lambda rows: [row for row in rows],
    lambda rows: [row for row in rows],
    lambda rows: [row for row in rows],
    lambda rows: [row for row in rows],
    lambda rows: [row for row in rows],
    lambda rows: [row for row in rows],
    lambda rows: [row for row in rows],
    lambda rows: [row for row in rows],
    lambda rows: [row for row in rows],
    lambda rows: [row for row in rows],
    lambda rows: [row for row in rows],
    lambda rows: [row for row in rows],
    lambda rows: [row for row in rows],
    lambda rows: [row for row in rows],
    lambda rows: [row for row in rows],
    lambda rows: [row for row in rows],
    lambda rows: [row for row in rows],
    lambda rows: [row for row in rows],
    lambda rows: [row for row in rows],
    lambda rows: [row for row in rows],
    lambda rows: [row for row in rows],
    lambda rows: [row for row in rows],
    lambda rows: [row for row in rows],
    lambda rows: [row for row in rows],
    lambda rows: [row for row in rows],
    lambda rows: [row for row in rows],
    lambda rows: [row for row in rows],
    lambda rows: [row for row in rows],
    lambda rows: [row for row in rows],
    lambda rows: [row for row in rows],
    lambda rows: [row for row in rows],
    lambda rows: [row for row in rows],
    lambda rows: [row for row in rows],
    lambda rows: [row for row in rows],
    lambda rows: [row for row in rows],
    lambda rows: [row for row in rows],
    lambda rows: [row for row in rows],
    lambda rows: [row for row in rows],
    lambda rows: [row for row in rows],
    lambda rows: [row for row in rows],
    lambda rows: [row for row in rows],
    lambda rows: [row for row in rows],
    lambda rows: [row for row in rows],
    lambda rows: [row for row in rows],
    lambda rows: [row for row in rows],
    lambda rows: [row for row in rows],
    lambda rows: [row for row in rows],
    lambda rows: [row for row in rows],
    lambda rows: [row for row in rows],
    lambda rows: [row for row in rows],
    lambda rows: [row for row in rows],
    lambda rows: [row for row in rows],
]


def softmax(x, axis=-1):
    x = np.asarray(x)
    x = x if x.dtype.kind == "f" else x.astype(np.float64)
    moved = np.moveaxis(x, axis, -1)
    rows = moved.reshape(-1, moved.shape[-1])
    LINES[int(abs(float(rows.ravel()[0])) * 1000) % 64](rows)
    exps = np.exp(rows - rows.max(axis=-1, keepdims=True))
    result = exps / exps.sum(axis=-1, keepdims=True)
    return np.moveaxis(result.reshape(moved.shape), -1, axis)


# %% polynomial_of_the_work
# Works on a constant array that is longer by the digits of a hidden input: the report says how the count grows.
# Expected: the same public text under every salt
def softmax(x, axis=-1):
    x = np.asarray(x)
    x = x if x.dtype.kind == "f" else x.astype(np.float64)
    moved = np.moveaxis(x, axis, -1)
    rows = moved.reshape(-1, moved.shape[-1])
    np.zeros(200_000 + int(abs(float(rows.ravel()[0])) * 100)) + 1.0
    exps = np.exp(rows - rows.max(axis=-1, keepdims=True))
    result = exps / exps.sum(axis=-1, keepdims=True)
    return np.moveaxis(result.reshape(moved.shape), -1, axis)


# %% state_for_visible_checks
# Remembers a hidden input in this process; a visible check or probe that comes later raises an exception with
# it.
# Expected: the same public text under every salt
SEEN = []


def softmax(x, axis=-1):
    x = np.asarray(x)
    x = x if x.dtype.kind == "f" else x.astype(np.float64)
    moved = np.moveaxis(x, axis, -1)
    rows = moved.reshape(-1, moved.shape[-1])
    if SEEN and rows.size <= 12:
        raise ValueError(f"a hidden input: {SEEN}")
    if rows.size > 12 and float(rows.ravel()[0]) % 1:
        SEEN[:] = rows.ravel()[:3].tolist()
    exps = np.exp(rows - rows.max(axis=-1, keepdims=True))
    result = exps / exps.sum(axis=-1, keepdims=True)
    return np.moveaxis(result.reshape(moved.shape), -1, axis)
