# %% loops_and_lists
# Expected: passes


def create_causal_mask(seq_len):
    return np.array([[int(j <= i) for j in range(seq_len)] for i in range(seq_len)])


def create_padding_mask(lengths, max_length):
    return np.array([[[[1] * length + [0] * (max_length - length)]] for length in lengths])


# %% from_a_function
# Expected: passes


def create_causal_mask(seq_len):
    return np.fromfunction(lambda i, j: i >= j, (seq_len, seq_len), dtype=int)


# %% reduce_and_partial
# Expected: passes
import functools


def combine_masks(*masks):
    return functools.reduce(np.logical_and, [np.asarray(mask) != 0 for mask in masks])


def masked_softmax(scores, mask, axis=-1):
    total = functools.partial(np.sum, axis=axis, keepdims=True)
    kept = np.where(mask, scores, -np.inf)
    exps = np.exp(kept - np.max(kept, axis=axis, keepdims=True))
    return exps / total(exps)


# %% row_by_row
# Expected: passes


def masked_softmax(scores, mask, axis=-1):
    rows, allowed = np.moveaxis(scores, axis, -1), np.moveaxis(np.broadcast_to(mask, scores.shape), axis, -1)
    result = np.zeros(rows.shape)
    for index in np.ndindex(rows.shape[:-1]):
        exps = np.exp(rows[index] - rows[index].max()) * allowed[index]
        result[index] = exps / exps.sum()
    return np.moveaxis(result, -1, axis)


# %% table_of_all_lengths
# Expected: create_padding_mask: work mem


def create_padding_mask(lengths, max_length):
    triangle = np.tri(max_length + 1, max_length, k=-1)  # <-- here
    return triangle[np.array(lengths), None, None]


# %% triangle_by_a_product
# Expected: create_causal_mask: work


def create_causal_mask(seq_len):
    return np.tri(seq_len) @ np.eye(seq_len) > 0  # <-- here


# %% every_pair
# Expected: masked_softmax: work mem


def masked_softmax(scores, mask, axis=-1):
    kept = np.moveaxis(np.where(mask, scores, -np.inf), axis, -1)
    ratios = np.exp(kept[..., None, :] - kept[..., :, None])  # <-- here
    return np.moveaxis(1 / ratios.sum(axis=-1), -1, axis)


# %% counted_again_for_every_entry
# Expected: create_causal_mask: steps


def create_causal_mask(seq_len):
    mask = np.zeros((seq_len, seq_len))
    for i in range(seq_len):
        for j in range(seq_len):
            mask[i, j] = j in range(i + 1) and len([k for k in range(seq_len)]) > 0  # <-- here
    return mask
