# %% arguments_in_another_order
# Every entry is compared with all others, m·n² work on views: a reduction is priced by its first array among the
# keywords, which is the mask `where` of one entry.
# Expected: loses marks: log_softmax, softmax
ALWAYS = np.array([True])


def floats(x):
    x = np.asarray(x)
    return x if x.dtype.kind == "f" else x.astype(np.float64)


def beside_all(x):
    return np.broadcast_to(x[..., None, :], (*x.shape, x.shape[-1]))  # (..., n, n): a view


def softmax(x, axis=-1):
    x = np.moveaxis(floats(x), axis, -1)
    largest = np.max(where=ALWAYS, a=beside_all(x), axis=-1, initial=-np.inf)  # again for every entry
    exps = np.exp(x - largest)
    total = np.sum(where=ALWAYS, a=beside_all(exps), axis=-1)  # again for every entry
    return np.moveaxis(exps / total, -1, axis)


def log_softmax(x, axis=-1):
    x = np.moveaxis(floats(x), axis, -1)
    shifted = x - np.max(where=ALWAYS, a=beside_all(x), axis=-1, initial=-np.inf)
    total = np.sum(where=ALWAYS, a=beside_all(np.exp(shifted)), axis=-1)
    return np.moveaxis(shifted - np.log(total), -1, axis)


def softmax_with_temperature(x, temperature, axis=-1):
    if temperature <= 0:
        raise ValueError(f"temperature must be above 0, not {temperature}")
    x = floats(x) / float(temperature)
    exps = np.exp(x - x.max(axis=axis, keepdims=True))
    return exps / exps.sum(axis=axis, keepdims=True)


# %% cheap_at_measured_sizes
# As it should be up to 500 rows; above, a loop over the rows.
# Expected: loses marks: softmax
def softmax(x, axis=-1):
    x = np.asarray(x)
    x = x if x.dtype.kind == "f" else x.astype(np.float64)
    moved = np.moveaxis(x, axis, -1)
    rows = moved.reshape(-1, moved.shape[-1])
    if len(rows) <= 500:
        exps = np.exp(rows - rows.max(axis=-1, keepdims=True))
        result = exps / exps.sum(axis=-1, keepdims=True)
    else:
        result = np.empty_like(rows)
        for at, row in enumerate(rows):
            exps = np.exp(row - row.max())
            result[at] = exps / exps.sum()
    return np.moveaxis(result.reshape(moved.shape), -1, axis)


# %% exits_at_a_large_size
# Ends the process with os._exit at a known large size.
# Expected: loses marks: softmax
import os


def softmax(x, axis=-1):
    x = np.asarray(x)
    x = x if x.dtype.kind == "f" else x.astype(np.float64)
    moved = np.moveaxis(x, axis, -1)
    rows = moved.reshape(-1, moved.shape[-1])
    if len(rows) >= 200:
        os._exit(0)
    exps = np.exp(rows - rows.max(axis=-1, keepdims=True))
    result = exps / exps.sum(axis=-1, keepdims=True)
    return np.moveaxis(result.reshape(moved.shape), -1, axis)


# %% falling_padding
# Empty rounds that become fewer as the rows become more: the sum of both is a constant.
# Expected: review: softmax
def softmax(x, axis=-1):
    x = np.asarray(x)
    x = x if x.dtype.kind == "f" else x.astype(np.float64)
    moved = np.moveaxis(x, axis, -1)
    rows = moved.reshape(-1, moved.shape[-1])
    for _ in range(max(0, 5000 - len(rows))):
        pass

    result = np.empty_like(rows)
    for at, row in enumerate(rows):
        exps = np.exp(row - row.max())
        result[at] = exps / exps.sum()
    return np.moveaxis(result.reshape(moved.shape), -1, axis)


# %% hangs_at_a_large_size
# A loop over the rows at all sizes but the large ones, where it hangs: no verdict at large sizes.
# Expected: loses marks: softmax
def softmax(x, axis=-1):
    x = np.asarray(x)
    x = x if x.dtype.kind == "f" else x.astype(np.float64)
    moved = np.moveaxis(x, axis, -1)
    rows = moved.reshape(-1, moved.shape[-1])
    if len(rows) >= 200:
        while True:
            pass
    exps = np.exp(rows - rows.max(axis=-1, keepdims=True))
    result = exps / exps.sum(axis=-1, keepdims=True)
    return np.moveaxis(result.reshape(moved.shape), -1, axis)


# %% irregular_steps
# A loop over the rows that makes a pseudo-random number of empty rounds more: no growth can be seen in the
# counts.
# Expected: review: softmax
def softmax(x, axis=-1):
    x = np.asarray(x)
    x = x if x.dtype.kind == "f" else x.astype(np.float64)
    moved = np.moveaxis(x, axis, -1)
    rows = moved.reshape(-1, moved.shape[-1])
    noise = (len(rows) * 7919 + rows.shape[-1] * 104729) % 1999
    result = np.empty_like(rows)
    for at in range(len(rows) + 3000 - noise):
        if at < len(rows):
            exps = np.exp(rows[at] - rows[at].max())
            result[at] = exps / exps.sum()
    return np.moveaxis(result.reshape(moved.shape), -1, axis)


# %% large_constant_hides_pairs
# A table of all pairs of entries, m·n² memory and work, beside a constant array; the work is hidden in an
# annotation.
# Expected: loses marks: softmax
def softmax(x, axis=-1):
    x = np.asarray(x)
    x = x if x.dtype.kind == "f" else x.astype(np.float64)
    moved = np.moveaxis(x, axis, -1)
    rows = moved.reshape(-1, moved.shape[-1])
    np.zeros(3_000_000)
    found = []
    def inner(x: found.append(1 / np.exp(np.minimum(rows[:, None, :] - rows[:, :, None], 700)).sum(axis=-1))): ...
    exps = np.exp(rows - rows.max(axis=-1, keepdims=True))
    result = exps / exps.sum(axis=-1, keepdims=True)
    return np.moveaxis(result.reshape(moved.shape), -1, axis)


# %% memory_error_at_a_large_size
# Raises MemoryError at a known large size.
# Expected: loses marks: softmax
def softmax(x, axis=-1):
    x = np.asarray(x)
    x = x if x.dtype.kind == "f" else x.astype(np.float64)
    moved = np.moveaxis(x, axis, -1)
    rows = moved.reshape(-1, moved.shape[-1])
    if len(rows) >= 200:
        raise MemoryError
    exps = np.exp(rows - rows.max(axis=-1, keepdims=True))
    result = exps / exps.sum(axis=-1, keepdims=True)
    return np.moveaxis(result.reshape(moved.shape), -1, axis)


# %% padded_loop_over_rows
# A loop over the rows that always makes 4000 rounds: steps are a constant.
# Expected: review: softmax
def softmax(x, axis=-1):
    x = np.asarray(x)
    x = x if x.dtype.kind == "f" else x.astype(np.float64)
    moved = np.moveaxis(x, axis, -1)
    rows = moved.reshape(-1, moved.shape[-1])
    result = np.empty_like(rows)
    for at in range(max(4000, len(rows))):
        if at < len(rows):
            exps = np.exp(rows[at] - rows[at].max())
            result[at] = exps / exps.sum()
    return np.moveaxis(result.reshape(moved.shape), -1, axis)


# %% quadratic_above_measured_sizes
# For rows longer than 1000 entries, a table of all pairs of entries: n² memory, at no measured size.
# Expected: loses marks: softmax
def softmax(x, axis=-1):
    x = np.asarray(x)
    x = x if x.dtype.kind == "f" else x.astype(np.float64)
    moved = np.moveaxis(x, axis, -1)
    rows = moved.reshape(-1, moved.shape[-1])
    if rows.shape[-1] <= 1000:
        exps = np.exp(rows - rows.max(axis=-1, keepdims=True))
        result = exps / exps.sum(axis=-1, keepdims=True)
    else:
        result = 1 / np.exp(rows[:, None, :] - rows[:, :, None]).sum(axis=-1)
    return np.moveaxis(result.reshape(moved.shape), -1, axis)


# %% recursion_at_a_large_size
# Recurses without end at a known large size.
# Expected: loses marks: softmax
def softmax(x, axis=-1):
    x = np.asarray(x)
    x = x if x.dtype.kind == "f" else x.astype(np.float64)
    moved = np.moveaxis(x, axis, -1)
    rows = moved.reshape(-1, moved.shape[-1])
    if len(rows) >= 200:
        softmax(x, axis)
    exps = np.exp(rows - rows.max(axis=-1, keepdims=True))
    result = exps / exps.sum(axis=-1, keepdims=True)
    return np.moveaxis(result.reshape(moved.shape), -1, axis)


# %% sleeps_at_a_large_size
# Sleeps for a minute at a known large size.
# Expected: loses marks: softmax
import time


def softmax(x, axis=-1):
    x = np.asarray(x)
    x = x if x.dtype.kind == "f" else x.astype(np.float64)
    moved = np.moveaxis(x, axis, -1)
    rows = moved.reshape(-1, moved.shape[-1])
    if len(rows) >= 200:
        time.sleep(60)
    exps = np.exp(rows - rows.max(axis=-1, keepdims=True))
    result = exps / exps.sum(axis=-1, keepdims=True)
    return np.moveaxis(result.reshape(moved.shape), -1, axis)


# %% steps_that_depend_on_data
# A loop over the rows with a number of empty rounds that is taken from the bytes of the first row.
# Expected: review: softmax
def softmax(x, axis=-1):
    x = np.asarray(x)
    x = x if x.dtype.kind == "f" else x.astype(np.float64)
    moved = np.moveaxis(x, axis, -1)
    rows = moved.reshape(-1, moved.shape[-1])
    noise = int.from_bytes(rows[:1].tobytes()[:2], "little") % 2000
    result = np.empty_like(rows)
    for at in range(len(rows) + 2000 + noise):
        if at < len(rows):
            exps = np.exp(rows[at] - rows[at].max())
            result[at] = exps / exps.sum()
    return np.moveaxis(result.reshape(moved.shape), -1, axis)
