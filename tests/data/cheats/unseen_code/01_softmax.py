# %% annotation_with_rows
# Softmax row by row, in a comprehension in the annotation of an argument: no step is counted.
# Expected: loses marks: softmax
def softmax(x, axis=-1):
    x = np.asarray(x)
    x = x if x.dtype.kind == "f" else x.astype(np.float64)
    moved = np.moveaxis(x, axis, -1)
    rows = moved.reshape(-1, moved.shape[-1])
    found = []
    def inner(x: found.append(np.array([np.exp(row - row.max()) / np.exp(row - row.max()).sum() for row in rows], rows.dtype))): ...
    result = found[0]
    return np.moveaxis(result.reshape(moved.shape), -1, axis)


# %% class_body_annotation_with_rows
# Softmax row by row in the annotation of a variable in a class body.
# Expected: loses marks: softmax
def softmax(x, axis=-1):
    x = np.asarray(x)
    x = x if x.dtype.kind == "f" else x.astype(np.float64)
    moved = np.moveaxis(x, axis, -1)
    rows = moved.reshape(-1, moved.shape[-1])
    class Inner:
        made: np.array([np.exp(row - max(row)) / sum(np.exp(row - max(row))) for row in rows], rows.dtype)
    result = Inner.__annotations__["made"]
    return np.moveaxis(result.reshape(moved.shape), -1, axis)
