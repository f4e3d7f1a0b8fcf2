# %% array_of_an_iterator
# linear_attention_step counts all tokens so far in every step: array.array goes through a range in C, without a step,
# a price or memory.
# Expected: loses marks: linear_attention_step
import array


def linear_attention_step(state, q, k, v):
    if np.shape(q)[-1] != np.shape(k)[-1]:
        raise ValueError(f'q has {np.shape(q)[-1]} numbers, but k has {np.shape(k)[-1]}')
    q, k, v = (feature_map(q), feature_map(k), np.asarray(v))
    summed, total, count = (0, 0, 0) if state is None else state
    summed, total = (summed + k[..., :, None] * v[..., None, :], total + k)
    count = len(array.array('q', range(count + 1)))
    output = (q[..., None, :] @ summed)[..., 0, :] / (q * total).sum(axis=-1, keepdims=True)
    return ((summed, total, count), output)


# %% dataclass_as_dict
# linear_attention_step copies all tokens so far, array by array, in every step: functions of the module dataclasses
# are free, and asdict copies deeply.
# Expected: loses marks: linear_attention_step
import dataclasses


@dataclasses.dataclass
class Tokens:
    keys: list
    values: list
    summed: object = 0
    total: object = 0


def linear_attention_step(state, q, k, v):
    if np.shape(q)[-1] != np.shape(k)[-1]:
        raise ValueError(f'q has {np.shape(q)[-1]} numbers, but k has {np.shape(k)[-1]}')
    q, k, v = (feature_map(q), feature_map(k), np.asarray(v))
    tokens = Tokens(**dataclasses.asdict(Tokens([], []) if state is None else state))
    tokens.keys.append(k)
    tokens.values.append(v)
    tokens.summed = summed = tokens.summed + k[..., :, None] * v[..., None, :]
    tokens.total = total = tokens.total + k
    output = (q[..., None, :] @ summed)[..., 0, :] / (q * total).sum(axis=-1, keepdims=True)
    return (tokens, output)


# %% deep_copy_of_an_object
# linear_attention_step copies all tokens so far, array by array, in every step: copy.deepcopy of an object without a
# length has no cost.
# Expected: loses marks: linear_attention_step
import copy


class Tokens:

    def __init__(self):
        self.keys, self.values, self.summed, self.total = ([], [], 0, 0)


def linear_attention_step(state, q, k, v):
    if np.shape(q)[-1] != np.shape(k)[-1]:
        raise ValueError(f'q has {np.shape(q)[-1]} numbers, but k has {np.shape(k)[-1]}')
    q, k, v = (feature_map(q), feature_map(k), np.asarray(v))
    tokens = Tokens() if state is None else copy.deepcopy(state)
    tokens.keys.append(k)
    tokens.values.append(v)
    tokens.summed = summed = tokens.summed + k[..., :, None] * v[..., None, :]
    tokens.total = total = tokens.total + k
    output = (q[..., None, :] @ summed)[..., 0, :] / (q * total).sum(axis=-1, keepdims=True)
    return (tokens, output)


# %% dict_display
# linear_attention_step copies all tokens so far in every step: `{**state, n: token}` goes through the old dict and
# has no hook.
# Expected: loses marks: linear_attention_step
def linear_attention_step(state, q, k, v):
    if np.shape(q)[-1] != np.shape(k)[-1]:
        raise ValueError(f'q has {np.shape(q)[-1]} numbers, but k has {np.shape(k)[-1]}')
    q, k, v = (feature_map(q), feature_map(k), np.asarray(v))
    state = {} if state is None else state
    summed, total = state.get('sums', (0, 0))
    summed, total = (summed + k[..., :, None] * v[..., None, :], total + k)
    state = {**state, len(state): (k, v), 'sums': (summed, total)}
    output = (q[..., None, :] @ summed)[..., 0, :] / (q * total).sum(axis=-1, keepdims=True)
    return (state, output)


# %% islice_of_accumulate
# linear_attention_step keeps every token and sums all of them up again in each step: next(islice(accumulate(list), n,
# None)) adds arrays in C; no element is a step and no addition has a price.
# Expected: loses marks: linear_attention_step
import itertools


class Tokens:

    def __init__(self):
        self.pairs, self.keys = ([], [])


def linear_attention_step(state, q, k, v):
    if np.shape(q)[-1] != np.shape(k)[-1]:
        raise ValueError(f'q has {np.shape(q)[-1]} numbers, but k has {np.shape(k)[-1]}')
    q, k, v = (feature_map(q), feature_map(k), np.asarray(v))
    tokens, count = (Tokens(), 0) if state is None else state
    if len(tokens.keys) != count:
        other = Tokens()
        other.pairs, other.keys = (tokens.pairs[:count], tokens.keys[:count])
        tokens = other
    tokens.pairs.append(k[..., :, None] * v[..., None, :])
    tokens.keys.append(k)
    summed = next(itertools.islice(itertools.accumulate(tokens.pairs), count, None))
    total = next(itertools.islice(itertools.accumulate(tokens.keys), count, None))
    output = (q[..., None, :] @ summed)[..., 0, :] / (q * total).sum(axis=-1, keepdims=True)
    return ((tokens, count + 1), output)


# %% object_box
# sliding_window_attention computes the scores of every token with all n tokens, then cuts out the window: an array of
# objects that holds one whole matrix has one entry, so operators on it cost 1.
# Expected: review: sliding_window_attention
def sliding_window_attention(Q, K, V, window):
    Q, K, V = (np.asarray(Q), np.asarray(K), np.asarray(V))
    if window < 1:
        raise ValueError(f'window must be at least 1, not {window}')
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f'Q has vectors of {Q.shape[-1]} numbers, but K of {K.shape[-1]}')
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f'K has {K.shape[-2]} tokens, but V has {V.shape[-2]}')
    dtype = np.result_type(Q, K, V, np.float32)
    Q, K, V = (Q.astype(dtype), K.astype(dtype), V.astype(dtype))
    if Q.ndim > 2:
        return np.stack([sliding_window_attention(q, k, v, window) for q, k, v in zip(Q, K, V)])
    n, d_k = Q.shape
    output = np.empty(V.shape, dtype)
    keys, query = (np.empty(1, dtype=object), np.empty(1, dtype=object))
    keys[0] = np.asmatrix(K)
    for i in range(n):
        low = max(0, i - window + 1)
        query[0] = np.asmatrix(Q[i]).T
        for whole in keys * query:
            scores = np.asarray(whole[low:i + 1, 0])[:, 0] / math.sqrt(d_k)
        exps = np.exp(scores - scores.max())
        output[i] = exps / exps.sum() @ V[low:i + 1]
    return output


# %% search_in_an_iterator
# linear_attention_step goes through all tokens so far in every step: `in` of an iterator is a loop in C that is no
# step.
# Expected: loses marks: linear_attention_step
def linear_attention_step(state, q, k, v):
    if np.shape(q)[-1] != np.shape(k)[-1]:
        raise ValueError(f'q has {np.shape(q)[-1]} numbers, but k has {np.shape(k)[-1]}')
    q, k, v = (feature_map(q), feature_map(k), np.asarray(v))
    summed, total, count = (0, 0, 0) if state is None else state
    summed, total = (summed + k[..., :, None] * v[..., None, :], total + k)
    count = count + 1 if None not in zip(range(count)) else 0
    output = (q[..., None, :] @ summed)[..., 0, :] / (q * total).sum(axis=-1, keepdims=True)
    return ((summed, total, count), output)


# %% star_pattern
# linear_attention_step copies all tokens so far in every step: the pattern `[*tokens]` makes a list of them, and
# patterns have no hooks.
# Expected: loses marks: linear_attention_step
def linear_attention_step(state, q, k, v):
    if np.shape(q)[-1] != np.shape(k)[-1]:
        raise ValueError(f'q has {np.shape(q)[-1]} numbers, but k has {np.shape(k)[-1]}')
    q, k, v = (feature_map(q), feature_map(k), np.asarray(v))
    match [] if state is None else state:
        case [*tokens]:
            pass
    summed, total = tokens[-1][2:] if tokens else (0, 0)
    summed, total = (summed + k[..., :, None] * v[..., None, :], total + k)
    tokens.append((k, v, summed, total))
    output = (q[..., None, :] @ summed)[..., 0, :] / (q * total).sum(axis=-1, keepdims=True)
    return (tokens, output)
