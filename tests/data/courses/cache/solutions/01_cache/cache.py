# %% [markdown]
# # 01 · A cache
#
# A model that writes one token after another needs the keys of all tokens before. It computes each key once.

# %%
import numpy as np


# %%
class KeyCache:
    """The keys of the tokens so far."""

    def __init__(self, weight, max_len):
        """weight: array of shape (m, d). max_len: the most tokens that are ever kept."""
        ### BEGIN SOLUTION
        self.weight = weight
        self.keys = np.zeros((max_len, weight.shape[1]))
        self.length = 0
        ### END SOLUTION

    def update(self, tokens):
        """Add the keys of some tokens behind those that are there, and return all keys so far.

        tokens: array of shape (n, m). The keys of tokens are tokens @ weight. Returns an array with one row for each
        token so far. tokens is not modified.
        """
        ### BEGIN SOLUTION
        end = self.length + len(tokens)
        self.keys[self.length : end] = tokens @ self.weight
        self.length = end
        return self.keys[:end]
        ### END SOLUTION


# %%
def decode(cache, tokens):
    """Give tokens to a cache one by one. Return the sum of all its keys after each: an array of shape (n, d).

    tokens: array of shape (n, m). It is not modified.
    """
    ### BEGIN SOLUTION
    return np.array([cache.update(token[None]).sum(axis=0) for token in tokens])
    ### END SOLUTION
