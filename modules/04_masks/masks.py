# %% [markdown]
# # 04 · Masks
#
# A mask says which token may look at which. It is an array of ones and zeros, with one entry for each score:
# **1 or True: the query may look at this key. 0 or False: the key is blocked.** Every function of this course reads
# masks this way, and takes them as bool, int or float.
#
# Every language model has two kinds of masks. The *causal* mask stops a token from seeing the tokens after it. The
# *padding* mask stops all tokens from seeing the padding after a short sentence. You will build both, combine them,
# and write the softmax that obeys them.
# Work through the four functions in order. After each one, run its *Try it* cell and `attn test masks`.
# The lesson is in `README.md`, next to this file.

# %%
import numpy as np

# %% [markdown]
# ## Build 1: the causal mask
#
# Token i may look at token j if j is not after i. A token may look at itself.


# %%
def create_causal_mask(seq_len):
    """Return the causal mask of seq_len tokens, an array (seq_len, seq_len).

    Entry [i, j] is 1 (or True) if token i may look at token j, that is, if j <= i. So each token sees itself and
    all tokens before it. Every other entry is 0 (or False).

    - The array may be of bool, of integers or of floats. It contains only 0 and 1.
    - If seq_len is below 1, raises a ValueError whose message contains it.
    - Loops are allowed. Work and memory grow no faster than the size of the mask.
    """
    raise NotImplementedError


# %%
# Try it
if __name__ == "__main__":
    causal = create_causal_mask(5)
    print("Which of five tokens sees which:")
    print(np.array(causal, dtype=int))
    assert np.array_equal(np.sum(causal, axis=1), [1, 2, 3, 4, 5]), "each token sees itself and all tokens before it"

# %% [markdown]
# ## Build 2: the padding mask
#
# The sentences of a batch are filled up to the same length with padding. Padding is not a word, and no token may look
# at it. The two axes of size 1 are where the scores `(batch, heads, n_q, n_k)` have their heads and their queries.


# %%
def create_padding_mask(lengths, max_length):
    """Return the padding mask of a batch, an array (batch, 1, 1, max_length).

    lengths: the number of tokens of each sentence: a list, a tuple or a one-dimensional array of integers.
    max_length: the number of positions of each sentence.

    Entry [b, 0, 0, j] is 1 (or True) if position j of sentence b has a token, that is, if j < lengths[b]. Every
    other entry is 0 (or False).

    - A length may be 0 (everything is blocked) or max_length (nothing is blocked).
    - The array may be of bool, of integers or of floats. It contains only 0 and 1.
    - If a length is above max_length, raises a ValueError whose message contains that length and max_length. If a
      length is below 0, raises a ValueError whose message contains that length.
    - Does not modify lengths. Work and memory grow no faster than the size of the mask.
    """
    raise NotImplementedError


# %%
# Try it
if __name__ == "__main__":
    padding = create_padding_mask([5, 3], max_length=5)
    print("Shape of the padding mask:", padding.shape)
    for sentence, places in zip(["The cat sat on mat", "The cat sat"], padding, strict=True):
        print(f"{sentence:<20}", np.array(places[0, 0], dtype=int))
    assert padding.shape == (2, 1, 1, 5), "the axes are the batch, the heads, the queries and the keys"
    assert padding[1].sum() == 3, "the second sentence has three tokens"

# %% [markdown]
# ## Build 3: several masks at once
#
# A key is allowed if *every* mask allows it. The masks can have different shapes: the causal mask `(n, n)` and the
# padding mask `(batch, 1, 1, n)` give a mask of shape `(batch, 1, n, n)`.


# %%
def combine_masks(*masks):
    """Return one mask that allows what all the given masks allow.

    masks: one or more arrays of bool, int or float, of shapes that broadcast with each other. Their dtypes and
    shapes may be mixed. Returns an array of the shape they broadcast to.

    - An entry is 1 (or True) where every mask has 1 or True, and 0 (or False) everywhere else.
    - A single mask keeps its values. The order of the masks does not matter.
    - The array may be of bool, of integers or of floats. It contains only 0 and 1.
    - If there is no mask, raises a ValueError.
    - Does not modify any mask. Work and memory grow no faster than the size of the result.
    """
    raise NotImplementedError


# %%
# Try it
if __name__ == "__main__":
    three_words = np.array([[[[1, 1, 1, 0, 0]]]])  # (1, 1, 1, 5)
    both = combine_masks(np.tri(5), three_words)  # (1, 1, 5, 5)
    print("Causal and padded:", both.shape)
    print(np.array(both[0, 0], dtype=int))
    assert both.shape == (1, 1, 5, 5), "(5, 5) and (1, 1, 1, 5) broadcast to (1, 1, 5, 5)"
    assert both.sum() == 12, "15 causal links, minus the three that end in padding"

# %% [markdown]
# ## Build 4: the softmax that obeys a mask
#
# Take the softmax over the allowed scores only, as if the blocked ones did not exist. What if all are blocked? Then
# every weight is 0.


# %%
def masked_softmax(scores, mask, axis=-1):
    """Return the softmax of the allowed scores along one axis. Blocked entries get the weight 0.

    scores: array of floats or of integers, of any shape; axis: the axis along which the weights sum to 1.
    mask: array of bool, int or float that broadcasts to the shape of the scores. It may have fewer dimensions than
    the scores, or axes of size 1, but never more dimensions. 1 or True: allowed; 0 or False: blocked.
    Returns an array of the shape of the scores.

    - If every entry of a slice along `axis` is blocked, the slice is all 0, never NaN. All other slices sum to 1.
    - A blocked score has no influence, however large it is.
    - Works for scores of any size, such as 5000, -5000 or -1e15: no overflow, no 0/0, no weight for a blocked
      entry. Treats each slice along `axis` separately.
    - float32 gives float32, float64 gives float64, integers give float64. The dtype of the mask does not matter.
    - Does not modify scores or mask. Work and memory grow no faster than the size of the scores.
    """
    raise NotImplementedError


# %%
# Try it
if __name__ == "__main__":
    scores = np.array([[1.5, 0, 1, 0.5, 0.25], [0.5, 1, 1, 0.5, 0.75]])  # cat and sat, already divided by 2
    weights = masked_softmax(scores, np.array([[1, 1, 0, 0, 0], [0, 0, 0, 0, 0]]))
    print("cat may see The and itself:", weights[0].round(4))
    print("everything is blocked:     ", weights[1].round(4))
    assert np.allclose(weights[0], [0.8176, 0.1824, 0, 0, 0], atol=1e-4), "see the table in the lesson"
    assert np.array_equal(weights[1], np.zeros(5)), "a fully blocked row should have weights of 0"

# %% [markdown]
# ## Use
#
# This cell draws causal attention on the sentence as a map: one line for each token that looks, one column for each
# token it looks at. Then change `seen` to `create_causal_mask(5) * (1 - np.eye(5))`. What if no token sees itself?

# %%
if __name__ == "__main__":
    tokens = ["The", "cat", "sat", "on", "mat"]
    Q = np.array([[1, 0, 1, 0], [0, 2, 0, 1], [1, 1, 1, 0], [0, 0, 1, 1], [1, 0, 0, 1]])
    K = np.array([[0, 1, 0, 1], [1, 0, 1, 0], [1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 0.5, 0.5]])
    seen = create_causal_mask(5)
    weights = masked_softmax(Q @ K.T / 2, seen)
    print("Causal attention:")
    for token, row in zip(tokens, weights, strict=True):
        bars = [f"{other} {'#' * round(10 * w):<10}" for other, w in zip(tokens, row, strict=True)]
        print(f"{token:>4}  " + "  ".join(bars))
    print("links allowed:", int(np.sum(seen)), "of", seen.size)

# %% [markdown]
# Next, a batch of two sentences, *The cat sat on mat* and *The cat sat*. The second has two positions of padding. Both
# have the same scores here, so every difference comes from the mask.

# %%
if __name__ == "__main__":
    batch = np.stack([Q @ K.T / 2, Q @ K.T / 2])[:, None]  # (2, 1, 5, 5): batch, heads, queries, keys
    padding = create_padding_mask([5, 3], max_length=5)  # (2, 1, 1, 5)
    weights = masked_softmax(batch, padding)
    print("What sat looks at in each sentence:")
    for words, row in zip([tokens, ["The", "cat", "sat", "(pad)", "(pad)"]], weights[:, 0, 2], strict=True):
        print("  " + "  ".join(f"{word} {w:.4f}" for word, w in zip(words, row, strict=True)))
    both = combine_masks(padding, create_causal_mask(5))  # (2, 1, 5, 5)
    print("links allowed by both masks:", [int(np.sum(sentence)) for sentence in both])

# %% [markdown]
# ## Reflect
#
# How many pairs of a query and a key does the causal mask block for 2048 tokens? Replace the `None` (or write the
# answer below).

# %%
REFLECT_BLOCKED_LINKS_CAUSAL_N2048 = None
# Your answer goes here.
