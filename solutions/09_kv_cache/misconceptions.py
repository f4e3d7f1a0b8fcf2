"""Misconceptions of 09_kv_cache. Each cell replaces part of the solution to make a wrong submission."""

import torch
from kv_cache import GroupedQueryAttention, KVCache  # the solution: each cell replaces a part
from torch import nn

# %% length_is_max_len
LIKELY = "length is the room in the cache, not the number of tokens in it"
HINT = "How many tokens are in a cache that was made for 4 and has had no update?"
REPLACE = {"return self.used": "return self.keys.shape[2]"}

# %% length_counts_from_one
LIKELY = "length is one too large: it counts from 1"
HINT = "What should KVCache(1, 1, 4, 2).length be?"
REPLACE = {"return self.used": "return self.used + 1"}

# %% length_counts_numbers
LIKELY = "length counts the tokens of all sentences and heads together"
HINT = "A batch of two sentences gets one more token each. By how much does the length grow?"
REPLACE = {"return self.used": "return self.used * self.keys.shape[0] * self.keys.shape[1]"}

# %% counts_updates
LIKELY = "length counts the updates, not the tokens"
HINT = "After one update with three tokens, the next free slot is slot 3."
REPLACE = {"self.used = end": "self.used += 1"}

# %% forgets_to_count
LIKELY = "the number of tokens is never changed by update"
HINT = "Print cache.length before and after an update. Where does the next update write?"
REPLACE = {"self.used = end": ""}

# %% writes_at_slot_zero
LIKELY = "every update writes at slot 0 again, over the first tokens"
HINT = "Update with two tokens, then with one. Which slot should the third token get?"
REPLACE = {
    "self.keys[:, :, self.used : end] = k": "self.keys[:, :, : k.shape[2]] = k",
    "self.values[:, :, self.used : end] = v": "self.values[:, :, : v.shape[2]] = v",
}

# %% writes_one_slot_too_late
LIKELY = "new tokens are written one slot behind the free one"
HINT = "The first token belongs into slot 0. Where does it go in a new cache?"
REPLACE = {
    "self.keys[:, :, self.used : end] = k": (
        "free = self.keys.shape[2] - self.used - 1\nself.keys[:, :, self.used + 1 : end + 1] = k[:, :, :free]"
    ),
    "self.values[:, :, self.used : end] = v": "self.values[:, :, self.used + 1 : end + 1] = v[:, :, :free]",
}

# %% newest_first
LIKELY = "new tokens are put in front of the older ones"
HINT = "The oldest token comes first. Which key is at place 0 after a second update?"


class KVCache(KVCache):
    def update(self, k, v):
        keys, values = super().update(k, v)
        before = self.length - k.shape[2]
        return keys.roll(-before, dims=2), values.roll(-before, dims=2)


# %% values_not_kept
LIKELY = "only the keys are kept: the values returned are those of the new tokens"
HINT = "A new token mixes the values of all tokens. How many values does your update return?"
REPLACE = {"return self.keys[:, :, :end], self.values[:, :, :end]": "return self.keys[:, :, :end], v"}

# %% keys_not_kept
LIKELY = "only the values are kept: the keys returned are those of the new tokens"
HINT = "A new query is compared with the keys of all tokens. How many keys does your update return?"
REPLACE = {"return self.keys[:, :, :end], self.values[:, :, :end]": "return k, self.values[:, :, :end]"}

# %% returns_only_the_new
LIKELY = "update returns the new keys and values, not all that are in the cache"
HINT = "After two tokens and one more, how many keys should update return?"
REPLACE = {"return self.keys[:, :, :end], self.values[:, :, :end]": "return k, v"}

# %% returns_only_the_old
LIKELY = "update returns what was there before, without the new tokens"
HINT = "A token also looks at itself. Is its key among those that update returns?"
REPLACE = {
    "return self.keys[:, :, :end], self.values[:, :, :end]": (
        "return self.keys[:, :, : end - k.shape[2]], self.values[:, :, : end - k.shape[2]]"
    )
}

# %% returns_every_slot
LIKELY = "update returns all max_len slots, with the empty ones"
HINT = "An empty slot has a key of zeros, so a score of 0. What weight does the softmax give it?"
REPLACE = {"return self.keys[:, :, :end], self.values[:, :, :end]": "return self.keys, self.values"}

# %% returns_values_first
LIKELY = "update returns (values, keys)"
HINT = "Which of the two results should come first?"
REPLACE = {
    "return self.keys[:, :, :end], self.values[:, :, :end]": "return self.values[:, :, :end], self.keys[:, :, :end]"
}

# %% tokens_before_heads
LIKELY = "update returns (batch, tokens, heads, width): heads and tokens are swapped"
HINT = "Print the shape of what update returns for two heads and three tokens. Which axis comes second?"
REPLACE = {
    "return self.keys[:, :, :end], self.values[:, :, :end]": (
        "return self.keys[:, :, :end].transpose(1, 2), self.values[:, :, :end].transpose(1, 2)"
    )
}

# %% returns_nothing
LIKELY = "update writes, but returns nothing"
HINT = "What does print(cache.update(k, v)) show? Is there a return?"
REPLACE = {"return self.keys[:, :, :end], self.values[:, :, :end]": ""}

# %% returns_one_tensor
LIKELY = "keys and values are returned as one tensor, not as a pair"
HINT = "What is type(cache.update(k, v))? A tuple of two tensors is expected."
REPLACE = {
    "return self.keys[:, :, :end], self.values[:, :, :end]": (
        "return torch.stack([self.keys[:, :, :end], self.values[:, :, :end]])"
    )
}

# %% keys_for_values
LIKELY = "the keys are written into the memory of the values"
HINT = "Update with keys of 1 and values of 2. What are the values that come back?"
REPLACE = {"self.values[:, :, self.used : end] = v": "self.values[:, :, self.used : end] = k"}

# %% one_memory_for_both
LIKELY = "keys and values share one tensor, so the values overwrite the keys"
HINT = "`self.keys = self.values = torch.zeros(...)` makes one tensor with two names."
REPLACE = {"self.values = torch.zeros(batch, num_kv_heads, max_len, head_dim, dtype=dtype)": "self.values = self.keys"}

# %% one_memory_for_all_caches
LIKELY = "all caches of the same size share one memory"
HINT = "Make two caches and update both. Does the first one still have its own tokens? See where the tensors are made."


class KVCache(KVCache):
    memory = {}  # noqa: RUF012 - this is the mistake

    def __init__(self, batch, num_kv_heads, max_len, head_dim, dtype=torch.float32):
        super().__init__(batch, num_kv_heads, max_len, head_dim, dtype)
        made = (self.keys, self.values)
        self.keys, self.values = self.memory.setdefault((batch, num_kv_heads, max_len, head_dim, dtype), made)


# %% one_length_for_all_caches
LIKELY = "the number of tokens belongs to the class: an update of one cache makes all caches longer"
HINT = "Make two caches and update one of them. What is the length of the other?"


class KVCache(KVCache):
    counted = [0]  # noqa: RUF012 - this is the mistake

    def update(self, k, v):
        self.used = self.counted[0]
        result = super().update(k, v)
        self.counted[0] = self.used
        return result

    def reset(self):
        self.counted[0] = 0

    @property
    def length(self):
        return self.counted[0]


# %% only_the_first_sentence
LIKELY = "only the first sentence of the batch is kept"
HINT = "Try a batch of two sentences. Are the keys of the second one there?"
REPLACE = {
    "self.keys[:, :, self.used : end] = k": "self.keys[0, :, self.used : end] = k[0]",
    "self.values[:, :, self.used : end] = v": "self.values[0, :, self.used : end] = v[0]",
}

# %% first_sentence_for_all
LIKELY = "all sentences of the batch get the keys and values of the first one"
HINT = "Try a batch of two different sentences. Are their keys different in the cache?"
REPLACE = {
    "self.keys[:, :, self.used : end] = k": "self.keys[:, :, self.used : end] = k[:1]",
    "self.values[:, :, self.used : end] = v": "self.values[:, :, self.used : end] = v[:1]",
}

# %% only_the_last_new_token
LIKELY = "of several new tokens, only the last one is written, into all their slots"
HINT = "Update with three different tokens at once. Are all of them there?"
REPLACE = {
    "self.keys[:, :, self.used : end] = k": "self.keys[:, :, self.used : end] = k[:, :, -1:]",
    "self.values[:, :, self.used : end] = v": "self.values[:, :, self.used : end] = v[:, :, -1:]",
}

# %% cache_in_float32
LIKELY = "the argument `dtype` is not used: the cache is always float32"
HINT = "Print the dtype of what update returns for KVCache(1, 1, 4, 2, dtype=torch.float64)."
REPLACE = {
    "self.keys = torch.zeros(batch, num_kv_heads, max_len, head_dim, dtype=dtype)": (
        "self.keys = torch.zeros(batch, num_kv_heads, max_len, head_dim)"
    ),
    "self.values = torch.zeros(batch, num_kv_heads, max_len, head_dim, dtype=dtype)": (
        "self.values = torch.zeros(batch, num_kv_heads, max_len, head_dim)"
    ),
}

# %% empties_the_arguments
LIKELY = "the caller's keys and values are set to 0 after they are stored"
HINT = "Print k before and after the call. The caller may still need it."
VALUES_RIGHT = True
REPLACE = {"self.used = end": "k.zero_()\nv.zero_()\nself.used = end"}

# %% one_slot_is_never_used
LIKELY = "a cache that is filled exactly is refused: the last slot is never used"
HINT = "4 tokens fit into a cache for 4. Compare `>` with `>=`."
REPLACE = {"if end > self.keys.shape[2]:": "if end >= self.keys.shape[2]:"}

# %% full_cache_not_checked
LIKELY = "a full cache is not checked, and PyTorch complains about shapes"
HINT = "Which exception does a full cache raise? The docstring says which one it should be, and what it names."
VALUES_RIGHT = True
REPLACE = {"if end > self.keys.shape[2]:": "if end < 0:"}

# %% full_cache_drops_the_rest
LIKELY = "tokens that do not fit are dropped without an error"
HINT = "Update a cache for 4 with 5 tokens. How would the caller learn that one is missing?"
VALUES_RIGHT = True
REPLACE = {
    'raise ValueError(f"{end} tokens do not fit into a cache for {self.keys.shape[2]}")': (
        "end = self.keys.shape[2]\nk, v = k[:, :, : end - self.used], v[:, :, : end - self.used]"
    )
}

# %% full_cache_grows
LIKELY = "max_len is not used: a full cache grows in place of an error"
HINT = "Update a cache for 4 with 5 tokens. What should happen, and where is max_len in your code?"


class KVCache:
    def __init__(self, batch, num_kv_heads, max_len, head_dim, dtype=torch.float32):  # noqa: ARG002 - this is the mistake
        self.keys = torch.zeros(batch, num_kv_heads, 0, head_dim, dtype=dtype)
        self.values = torch.zeros(batch, num_kv_heads, 0, head_dim, dtype=dtype)

    @property
    def length(self):
        return self.keys.shape[2]

    def update(self, k, v):
        if k.shape[2] != v.shape[2]:
            raise ValueError(f"{k.shape[2]} keys and {v.shape[2]} values")
        self.keys = torch.cat([self.keys, k], dim=2)
        self.values = torch.cat([self.values, v], dim=2)
        return self.keys, self.values

    def reset(self):
        self.keys, self.values = self.keys[:, :, :0], self.values[:, :, :0]


# %% full_cache_starts_again
LIKELY = "a full cache forgets everything and starts again at slot 0"
HINT = "Fill a cache for 4, then add a token. Should the first four disappear without an error?"
VALUES_RIGHT = True
REPLACE = {
    'raise ValueError(f"{end} tokens do not fit into a cache for {self.keys.shape[2]}")': (
        "self.used, end = 0, min(k.shape[2], self.keys.shape[2])\nk, v = k[:, :, :end], v[:, :, :end]"
    )
}

# %% full_cache_asserts
LIKELY = "a full cache raises an AssertionError; it should be a ValueError"
HINT = "An assert is for your own mistakes, and python -O removes it. Which exception is for mistakes of the caller?"
VALUES_RIGHT = True
REPLACE = {
    'raise ValueError(f"{end} tokens do not fit into a cache for {self.keys.shape[2]}")': (
        'raise AssertionError(f"{end} tokens do not fit into a cache for {self.keys.shape[2]}")'
    )
}

# %% full_cache_without_numbers
LIKELY = "the ValueError of a full cache does not say how many tokens were needed and how many fit"
HINT = "Imagine reading your message in a long log. Which two numbers would you want to see?"
VALUES_RIGHT = True
REPLACE = {
    'raise ValueError(f"{end} tokens do not fit into a cache for {self.keys.shape[2]}")': (
        'raise ValueError("the cache is full")'
    )
}

# %% full_cache_names_the_free_slots
LIKELY = "the ValueError names the new tokens and the free slots, not the length that would be needed and max_len"
HINT = (
    "3 tokens are in a cache for 4, and 2 more come: the message should say that 5 are needed, and that max_len is 4."
)
VALUES_RIGHT = True
REPLACE = {
    'raise ValueError(f"{end} tokens do not fit into a cache for {self.keys.shape[2]}")': (
        'raise ValueError(f"{k.shape[2]} new tokens, but {self.keys.shape[2] - self.used} free slots")'
    )
}

# %% full_cache_names_the_new_tokens
LIKELY = "the ValueError names the number of new tokens, not the length that would be needed"
HINT = "3 tokens are there and 2 more come: the message should say that 5 are needed."
VALUES_RIGHT = True
REPLACE = {
    'raise ValueError(f"{end} tokens do not fit into a cache for {self.keys.shape[2]}")': (
        'raise ValueError(f"no room for {k.shape[2]} more tokens: there is room for {self.keys.shape[2]}")'
    )
}

# %% refused_update_counts
LIKELY = "a refused update has changed the length already"
HINT = "Fill a cache, catch the ValueError, and print the length. Check before you change anything."
REPLACE = {
    "end = self.used + k.shape[2]": "end = self.used = self.used + k.shape[2]",
    "self.keys[:, :, self.used : end] = k": "self.keys[:, :, end - k.shape[2] : end] = k",
    "self.values[:, :, self.used : end] = v": "self.values[:, :, end - k.shape[2] : end] = v",
}

# %% refused_update_clears
LIKELY = "a refused update empties the cache"
HINT = "Fill a cache, catch the ValueError, and go on. Are the tokens that were there still there?"
REPLACE = {"if end > self.keys.shape[2]:": "if end > self.keys.shape[2]:\n    self.used = 0"}

# %% other_lengths_not_checked
LIKELY = "keys and values of different lengths are not refused"
HINT = "Try two keys and three values. The docstring names the exception and what its message contains."
VALUES_RIGHT = True
REPLACE = {"if k.shape[2] != v.shape[2]:": "if k.shape[2] < 0:"}

# %% other_lengths_assert
LIKELY = "different lengths of k and v raise an AssertionError; it should be a ValueError"
HINT = "An assert is for your own mistakes, and python -O removes it. Which exception is for mistakes of the caller?"
VALUES_RIGHT = True
REPLACE = {
    'raise ValueError(f"there are {k.shape[2]} new keys but {v.shape[2]} new values")': (
        'raise AssertionError(f"there are {k.shape[2]} new keys but {v.shape[2]} new values")'
    )
}

# %% other_lengths_without_numbers
LIKELY = "the ValueError about k and v does not name both lengths"
HINT = "Imagine reading your message in a long log. Which two numbers would you want to see?"
VALUES_RIGHT = True
REPLACE = {
    'raise ValueError(f"there are {k.shape[2]} new keys but {v.shape[2]} new values")': (
        'raise ValueError("keys and values have different lengths")'
    )
}

# %% concatenates
LIKELY = "every update copies the complete cache (torch.cat does, and so does a clone of what is returned)"
HINT = "How many numbers does torch.cat move to add one token to 1000? Reserve the room once, and return a slice."
COSTLY = True


class KVCache:
    def __init__(self, batch, num_kv_heads, max_len, head_dim, dtype=torch.float32):
        self.max_len = max_len
        self.keys = torch.zeros(batch, num_kv_heads, 0, head_dim, dtype=dtype)
        self.values = torch.zeros(batch, num_kv_heads, 0, head_dim, dtype=dtype)

    @property
    def length(self):
        return self.keys.shape[2]

    def update(self, k, v):
        if k.shape[2] != v.shape[2]:
            raise ValueError(f"{k.shape[2]} keys and {v.shape[2]} values")
        if self.length + k.shape[2] > self.max_len:
            raise ValueError(f"{self.length + k.shape[2]} tokens in a cache for {self.max_len}")
        self.keys = torch.cat([self.keys, k], dim=2)
        self.values = torch.cat([self.values, v], dim=2)
        return self.keys, self.values

    def reset(self):
        self.keys, self.values = self.keys[:, :, :0], self.values[:, :, :0]


# %% doubles_its_memory
LIKELY = "the memory grows by doubling: most updates are cheap, but some copy the complete cache"
HINT = "max_len is known from the beginning. Reserve all of it in the constructor."
COSTLY = True


class KVCache:
    def __init__(self, batch, num_kv_heads, max_len, head_dim, dtype=torch.float32):
        self.max_len, self.used = max_len, 0
        self.keys = torch.zeros(batch, num_kv_heads, 1, head_dim, dtype=dtype)
        self.values = torch.zeros(batch, num_kv_heads, 1, head_dim, dtype=dtype)

    @property
    def length(self):
        return self.used

    def update(self, k, v):
        if k.shape[2] != v.shape[2]:
            raise ValueError(f"{k.shape[2]} keys and {v.shape[2]} values")
        end = self.used + k.shape[2]
        if end > self.max_len:
            raise ValueError(f"{end} tokens in a cache for {self.max_len}")
        while self.keys.shape[2] < end:
            self.keys = torch.cat([self.keys, torch.zeros_like(self.keys)], dim=2)
            self.values = torch.cat([self.values, torch.zeros_like(self.values)], dim=2)
        self.keys[:, :, self.used : end] = k
        self.values[:, :, self.used : end] = v
        self.used = end
        return self.keys[:, :, :end], self.values[:, :, :end]

    def reset(self):
        self.used = 0


# %% looks_for_the_free_slot
LIKELY = "each update goes through all tokens in a loop to find the first free slot"
HINT = "Can the cache remember how many tokens there are?"
COSTLY = True
REPLACE = {"end = self.used + k.shape[2]": "end = k.shape[2]\nfor _ in range(self.used):\n    end += 1"}

# %% reset_does_nothing
LIKELY = "reset keeps the length, so the next token stands behind the old ones"
HINT = "Print cache.length before and after reset."
REPLACE = {"self.used = 0": "return"}
IN = "KVCache.reset"

# %% reset_to_one
LIKELY = "reset goes back to slot 1, not to slot 0"
HINT = "What is the length of an empty cache?"
REPLACE = {"self.used = 0": "self.used = 1"}
IN = "KVCache.reset"

# %% repeats_in_turn
LIKELY = "the heads take turns, 0 1 0 1, but the copies of one head should stand side by side, 0 0 1 1"
HINT = "Repeat the heads 0 and 1 twice. What is the difference between repeat and repeat_interleave?"
REPLACE = {"return x.repeat_interleave(n_rep, dim=1)": "return x.repeat(1, n_rep, 1, 1)"}

# %% repeats_the_tokens
LIKELY = "the tokens are repeated, not the heads"
HINT = "Print the shape for x of (1, 2, 3, 4) and n_rep = 2. Which axis should be twice as long?"
REPLACE = {"return x.repeat_interleave(n_rep, dim=1)": "return x.repeat_interleave(n_rep, dim=2)"}

# %% repeats_the_features
LIKELY = "the features are repeated, not the heads"
HINT = "Print the shape for x of (1, 2, 3, 4) and n_rep = 2. Which axis should be twice as long?"
REPLACE = {"return x.repeat_interleave(n_rep, dim=1)": "return x.repeat_interleave(n_rep, dim=-1)"}

# %% repeats_the_batch
LIKELY = "the sentences are repeated, not the heads"
HINT = "Print the shape for x of (1, 2, 3, 4) and n_rep = 2. Which axis should be twice as long?"
REPLACE = {"return x.repeat_interleave(n_rep, dim=1)": "return x.repeat_interleave(n_rep, dim=0)"}

# %% repeats_every_number
LIKELY = "without `dim`, repeat_interleave repeats every number, and the result has one axis"
HINT = "Print the shape for x of (1, 2, 3, 4) and n_rep = 2. Which axis are the heads?"
REPLACE = {"return x.repeat_interleave(n_rep, dim=1)": "return x.repeat_interleave(n_rep)"}

# %% repeats_once_too_often
LIKELY = "each head is there n_rep + 1 times: itself and n_rep copies"
HINT = "With n_rep = 1, repeat_kv changes nothing."
REPLACE = {"return x.repeat_interleave(n_rep, dim=1)": "return x.repeat_interleave(n_rep + 1, dim=1)"}

# %% repeats_nothing
LIKELY = "the heads are not repeated"
HINT = "Print the shape for x of (1, 2, 3, 4) and n_rep = 2."
REPLACE = {"return x.repeat_interleave(n_rep, dim=1)": "return x[:, :]"}

# %% repeats_in_a_new_axis
LIKELY = "the copies are in an axis of their own: the result has five axes"
HINT = "expand gives (B, H_kv, n_rep, N, D). Which two axes have to be joined?"
REPLACE = {
    "return x.repeat_interleave(n_rep, dim=1)": "return x[:, :, None].expand(-1, -1, n_rep, -1, -1)",
}

# %% repeats_the_average
LIKELY = "the key-value heads are averaged, and every query head gets the same"
HINT = "Sharing is not mixing: with two key-value heads, the first half of the query heads uses head 0 as it is."
REPLACE = {
    "return x.repeat_interleave(n_rep, dim=1)": (
        "return x.mean(dim=1, keepdim=True).repeat(1, x.shape[1] * n_rep, 1, 1)"
    )
}

# %% repeats_the_first_head
LIKELY = "every query head gets key-value head 0"
HINT = "Which key-value head does the last query head use?"
REPLACE = {"return x.repeat_interleave(n_rep, dim=1)": "return x[:, :1].repeat(1, x.shape[1] * n_rep, 1, 1)"}

# %% repeats_up_to_n_rep_heads
LIKELY = "n_rep is taken for the number of heads in the result"
HINT = "Two heads and n_rep = 4: the result has 8 heads, 4 copies of each."
REPLACE = {"return x.repeat_interleave(n_rep, dim=1)": "return x.repeat_interleave(max(1, n_rep // x.shape[1]), dim=1)"}

# %% repeat_detached
LIKELY = "repeat_kv cuts the graph, so no gradient flows back through it"
HINT = "Look for .detach() and .data. Without them the values are the same, and gradients can flow."
REPLACE = {"return x.repeat_interleave(n_rep, dim=1)": "return x.detach().repeat_interleave(n_rep, dim=1)"}

# %% repeat_into_float32
LIKELY = "the heads are copied into torch.zeros, which is float32 for every x"
HINT = "Print repeat_kv(x, 2).dtype for a float64 x. What does dtype=x.dtype change?"


def repeat_kv(x, n_rep):
    batch, heads, length, width = x.shape
    result = torch.zeros(batch, heads * n_rep, length, width)
    for h in range(heads * n_rep):
        result[:, h] = x[:, h // n_rep]
    return result


# %% repeat_shares_in_place
LIKELY = "the caller's heads are divided by n_rep, as if the copies had to share their numbers"
HINT = "Print x before and after the call. Every copy is the complete head."
REPLACE = {"return x.repeat_interleave(n_rep, dim=1)": "x /= n_rep\nreturn x.repeat_interleave(n_rep, dim=1)"}

# %% features_not_checked
LIKELY = "the constructor accepts an embed_dim that is not a multiple of num_heads"
HINT = "What should GroupedQueryAttention(6, 4, 2) do? The error should come before the first call."
VALUES_RIGHT = True
REPLACE = {"if embed_dim % num_heads != 0:": "if embed_dim < 0:"}

# %% heads_not_checked
LIKELY = "the constructor accepts num_heads that are not a multiple of num_kv_heads"
HINT = "What should GroupedQueryAttention(8, 4, 3) do? The error should come before the first call."
VALUES_RIGHT = True
REPLACE = {"if num_heads % num_kv_heads != 0:": "if num_heads < 0:"}

# %% embed_dim_compared_with_key_value_heads
LIKELY = "embed_dim is compared with num_kv_heads; it is num_heads that must be a multiple of them"
HINT = "12 features can be cut into 3, but can 4 query heads share 3 key-value heads evenly?"
VALUES_RIGHT = True
REPLACE = {"if num_heads % num_kv_heads != 0:": "if embed_dim % num_kv_heads != 0:"}

# %% features_assert
LIKELY = "a wrong embed_dim raises an AssertionError; it should be a ValueError"
HINT = "An assert is for your own mistakes, and python -O removes it. Which exception is for mistakes of the caller?"
VALUES_RIGHT = True
REPLACE = {
    'raise ValueError(f"{embed_dim} features cannot be cut into {num_heads} heads of the same width")': (
        'raise AssertionError(f"{embed_dim} features cannot be cut into {num_heads} heads of the same width")'
    )
}

# %% heads_assert
LIKELY = "a wrong num_kv_heads raises an AssertionError; it should be a ValueError"
HINT = "An assert is for your own mistakes, and python -O removes it. Which exception is for mistakes of the caller?"
VALUES_RIGHT = True
REPLACE = {
    'raise ValueError(f"{num_heads} heads cannot share {num_kv_heads} key-value heads evenly")': (
        'raise AssertionError(f"{num_heads} heads cannot share {num_kv_heads} key-value heads evenly")'
    )
}

# %% features_without_numbers
LIKELY = "the ValueError about embed_dim does not name embed_dim and num_heads"
HINT = "Imagine reading your message in a long log. Which two numbers would you want to see?"
VALUES_RIGHT = True
REPLACE = {
    'raise ValueError(f"{embed_dim} features cannot be cut into {num_heads} heads of the same width")': (
        'raise ValueError("embed_dim must be a multiple of num_heads")'
    )
}

# %% heads_without_numbers
LIKELY = "the ValueError about num_kv_heads does not name num_heads and num_kv_heads"
HINT = "Imagine reading your message in a long log. Which two numbers would you want to see?"
VALUES_RIGHT = True
REPLACE = {
    'raise ValueError(f"{num_heads} heads cannot share {num_kv_heads} key-value heads evenly")': (
        'raise ValueError("num_heads must be a multiple of num_kv_heads")'
    )
}

# %% projections_without_bias
LIKELY = "the projections have no bias"
HINT = "Count the parameters: there should be eight. What does bias=False do?"


class GroupedQueryAttention(GroupedQueryAttention):
    def __init__(self, embed_dim, num_heads, num_kv_heads):
        super().__init__(embed_dim, num_heads, num_kv_heads)
        for name, one in list(self.named_children()):
            setattr(self, name, nn.Linear(one.in_features, one.out_features, bias=False))


# %% keys_for_every_head
LIKELY = "k_proj and v_proj make keys and values for every query head: num_kv_heads is not used"
HINT = "Print the shapes of the parameters of GroupedQueryAttention(8, 4, 2). How wide are two heads of width 2?"
REPLACE = {
    "self.k_proj = nn.Linear(embed_dim, num_kv_heads * self.head_dim)": "self.k_proj = nn.Linear(embed_dim, embed_dim)",
    "self.v_proj = nn.Linear(embed_dim, num_kv_heads * self.head_dim)": "self.v_proj = nn.Linear(embed_dim, embed_dim)",
    "self.n_rep = num_heads // num_kv_heads": "self.n_rep = 1",
}

# %% projections_frozen
LIKELY = "the projections do not learn: their parameters do not require gradients"
HINT = "Print [p.requires_grad for p in layer.parameters()]. Can an optimiser train them?"
REPLACE = {
    "self.out_proj = nn.Linear(embed_dim, embed_dim)": (
        "self.out_proj = nn.Linear(embed_dim, embed_dim)\nself.requires_grad_(False)"
    )
}

# %% mask_from_the_top_left
LIKELY = "the causal mask begins at the top left, as if the cache were empty: a chunk does not see the tokens before it"
HINT = "3 tokens are in the cache and 2 are new. Write down the mask of (2, 5). Where is the first new token itself?"
REPLACE = {
    "allowed = torch.ones(n_new, total, dtype=torch.bool, device=x.device).tril(total - n_new)": (
        "allowed = torch.ones(n_new, total, dtype=torch.bool, device=x.device).tril()"
    )
}

# %% does_not_see_itself
LIKELY = "a token sees the tokens before it, but not itself"
HINT = "What weight does a token give to itself? It stands at its own position, and that position counts."
REPLACE = {
    "allowed = torch.ones(n_new, total, dtype=torch.bool, device=x.device).tril(total - n_new)": (
        "allowed = torch.ones(n_new, total, dtype=torch.bool, device=x.device).tril(total - n_new - 1)\n"
        "allowed[:, 0] |= ~allowed.any(dim=1)"
    )
}

# %% sees_the_next_token
LIKELY = "the mask is one token too wide: every token sees the next one"
HINT = "Change the last token of a text. Which outputs may change?"
REPLACE = {
    "allowed = torch.ones(n_new, total, dtype=torch.bool, device=x.device).tril(total - n_new)": (
        "allowed = torch.ones(n_new, total, dtype=torch.bool, device=x.device).tril(total - n_new + 1)"
    )
}

# %% no_mask
LIKELY = "there is no causal mask: every token sees all tokens, also later ones"
HINT = "Change the last token of a text. Which outputs may change?"
REPLACE = {
    "allowed = torch.ones(n_new, total, dtype=torch.bool, device=x.device).tril(total - n_new)": (
        "allowed = torch.ones(n_new, total, dtype=torch.bool, device=x.device)"
    )
}

# %% no_mask_with_a_cache
LIKELY = "with a cache no later token is hidden: right for one new token, but a token of a chunk sees later ones"
HINT = "Give a layer with a cache two new tokens at once. May the first of them see the second?"
REPLACE = {
    "allowed = torch.ones(n_new, total, dtype=torch.bool, device=x.device).tril(total - n_new)": (
        "allowed = torch.ones(n_new, total, dtype=torch.bool, device=x.device).tril(total if cache else 0)"
    )
}

# %% no_mask_without_a_cache
LIKELY = "the mask is only there with a cache: without one, every token sees all tokens"
HINT = "The layer is always causal. What does it give for a complete text, without a cache?"
REPLACE = {
    "allowed = torch.ones(n_new, total, dtype=torch.bool, device=x.device).tril(total - n_new)": (
        "allowed = torch.ones(n_new, total, dtype=torch.bool, device=x.device).tril(total - n_new if cache else total)"
    )
}

# %% chunk_sees_only_itself
LIKELY = "the mask hides the cache: the tokens of a chunk see only each other"
HINT = "3 tokens are in the cache and 2 are new. How many tokens should the last one see?"
REPLACE = {
    "allowed = torch.ones(n_new, total, dtype=torch.bool, device=x.device).tril(total - n_new)": (
        "allowed = torch.ones(n_new, total, dtype=torch.bool, device=x.device).tril(total - n_new)\n"
        "allowed[:, : total - n_new] = False"
    )
}

# %% looks_ahead
LIKELY = "the mask is turned round: a token sees itself and later tokens"
HINT = "The first token of a text sees only itself. Which triangle is that?"
REPLACE = {
    "allowed = torch.ones(n_new, total, dtype=torch.bool, device=x.device).tril(total - n_new)": (
        "allowed = torch.ones(n_new, total, dtype=torch.bool, device=x.device).triu(total - n_new)"
    )
}

# %% mask_after_the_softmax
LIKELY = "later tokens are set to 0 after the softmax, so the weights do not sum to 1"
HINT = "Add up the weights of the first token. A blocked score must be minus infinity before the softmax."
REPLACE = {
    "weights = torch.softmax(scores.masked_fill(~allowed, -math.inf), dim=-1)": (
        "weights = torch.softmax(scores, dim=-1).masked_fill(~allowed, 0.0)"
    )
}

# %% mask_fills_zero
LIKELY = "later tokens get a score of 0, which is not a weight of 0"
HINT = "What is exp(0)? A blocked score must be minus infinity."
REPLACE = {
    "weights = torch.softmax(scores.masked_fill(~allowed, -math.inf), dim=-1)": (
        "weights = torch.softmax(scores.masked_fill(~allowed, 0.0), dim=-1)"
    )
}

# %% softmax_over_the_queries
LIKELY = "the softmax is over the queries, not over the keys"
HINT = "Along which axis should the weights sum to 1?"
REPLACE = {
    "weights = torch.softmax(scores.masked_fill(~allowed, -math.inf), dim=-1)": (
        "weights = torch.softmax(scores.masked_fill(~allowed, -math.inf), dim=-2).nan_to_num()"
    )
}

# %% softmax_over_the_heads
LIKELY = "the softmax is over the heads, not over the keys"
HINT = "Along which axis should the weights sum to 1?"
REPLACE = {
    "weights = torch.softmax(scores.masked_fill(~allowed, -math.inf), dim=-1)": (
        "weights = torch.softmax(scores, dim=1).masked_fill(~allowed, 0.0)"
    )
}

# %% no_maximum
LIKELY = "the softmax is written with exp alone, which overflows for large scores"
HINT = "What is exp(5000)? Subtract the largest score of each row first, or use torch.softmax."
REPLACE = {
    "weights = torch.softmax(scores.masked_fill(~allowed, -math.inf), dim=-1)": (
        "exps = scores.exp() * allowed\nweights = exps / exps.sum(dim=-1, keepdim=True)"
    )
}

# %% scale_of_the_whole_width
LIKELY = "the scores are divided by the square root of embed_dim; a head is only embed_dim / num_heads wide"
HINT = "How many products are added up in one score of one head? The scale is the square root of that number."
REPLACE = {
    "scores = q @ k.transpose(-1, -2) / math.sqrt(self.head_dim)": (
        "scores = q @ k.transpose(-1, -2) / math.sqrt(x.shape[-1])"
    )
}

# %% scale_of_the_key_width
LIKELY = "the scores are divided by the square root of the width of k_proj, not of one head"
HINT = "How many products are added up in one score of one head? The scale is the square root of that number."
REPLACE = {
    "scores = q @ k.transpose(-1, -2) / math.sqrt(self.head_dim)": (
        "scores = q @ k.transpose(-1, -2) / math.sqrt(self.k_proj.out_features)"
    )
}

# %% scale_of_the_text
LIKELY = "the scores are divided by the square root of the number of tokens"
HINT = "Does the scale change when the text grows? Then earlier rows would change, too."
REPLACE = {
    "scores = q @ k.transpose(-1, -2) / math.sqrt(self.head_dim)": (
        "scores = q @ k.transpose(-1, -2) / math.sqrt(k.shape[2])"
    )
}

# %% no_scaling
LIKELY = "the scores are not divided by anything"
HINT = "With heads of width 4, what should a raw score of 2 become? See module 06."
REPLACE = {"scores = q @ k.transpose(-1, -2) / math.sqrt(self.head_dim)": "scores = q @ k.transpose(-1, -2)"}

# %% divided_by_the_width
LIKELY = "the scores are divided by the width of a head, not by its square root"
HINT = "With heads of width 4, what should a raw score of 2 become? See module 06."
REPLACE = {
    "scores = q @ k.transpose(-1, -2) / math.sqrt(self.head_dim)": "scores = q @ k.transpose(-1, -2) / self.head_dim"
}

# %% cache_not_used
LIKELY = "the cache is not used: the new tokens see only each other"
HINT = "Call the layer twice with one cache. What is cache.length?"
REPLACE = {"k, v = cache.update(k, v)": "pass"}

# %% cache_written_but_not_read
LIKELY = "the cache is updated, but attention goes on with the new keys and values only"
HINT = "What does update return? Keys and values must be what it returns, not what went in."
REPLACE = {"k, v = cache.update(k, v)": "cache.update(k, v)"}

# %% cache_emptied_at_each_call
LIKELY = "each call resets the cache first, so earlier tokens are lost"
HINT = "Who decides when a new text begins, the layer or its caller?"
REPLACE = {"k, v = cache.update(k, v)": "cache.reset()\nk, v = cache.update(k, v)"}

# %% cache_updated_twice
LIKELY = "the new tokens are written into the cache twice"
HINT = "Give the layer one token. What is cache.length afterwards?"
REPLACE = {"k, v = cache.update(k, v)": "cache.update(k, v)\nk, v = cache.update(k, v)"}

# %% cache_gets_values_as_keys
LIKELY = "update gets the values first: k and v are swapped"
HINT = "Compare the order of arguments in update with your call."
REPLACE = {"k, v = cache.update(k, v)": "k, v = cache.update(v, k)"}

# %% last_cache_is_used_again
LIKELY = "a call without a cache uses the cache of the call before, and changes it"
HINT = "Call with a cache, then without, then with it again. Without a cache, nothing may be kept from call to call."
REPLACE = {
    "if cache is not None:": (
        'cache = cache if cache is not None else getattr(self, "last_cache", None)\n'
        "self.last_cache = cache\n"
        "if cache is not None:"
    )
}

# %% tokens_kept_in_the_layer
LIKELY = "keys and values are kept in the layer, so two caches are mixed up"
HINT = "One layer writes two texts in turn, each with its own cache. Where must their keys be?"
REPLACE = {
    "k, v = cache.update(k, v)": (
        "cache.update(k, v)\n"
        'if cache.length > k.shape[2] and getattr(self, "kept", None) is not None and len(self.kept[0]) == len(k):\n'
        "    k, v = torch.cat([self.kept[0], k], dim=2), torch.cat([self.kept[1], v], dim=2)\n"
        "self.kept = k.detach(), v.detach()"
    )
}

# %% values_from_the_keys
LIKELY = "the values are made by k_proj, too"
HINT = "Which projection makes the values? Change v_proj.weight: does the output change?"
REPLACE = {
    "if cache is not None:": "v = k\nif cache is not None:",
}

# %% cut_without_transpose
LIKELY = "the projections are only reshaped, so tokens and heads are mixed up"
HINT = "Cut torch.arange(8).reshape(1, 2, 4) into two heads. Which tokens are in head 0? See module 06."
REPLACE = {
    "projection(x).unflatten(-1, (-1, self.head_dim)).transpose(1, 2)": (
        "projection(x).reshape(batch, -1, n_new, self.head_dim)"
    )
}

# %% heads_never_swapped
LIKELY = "heads and tokens are never swapped: the projections and the result of the heads are only reshaped"
HINT = "Cut torch.arange(8).reshape(1, 2, 4) into two heads. Which tokens are in head 0? See module 06."
REPLACE = {
    "projection(x).unflatten(-1, (-1, self.head_dim)).transpose(1, 2)": (
        "projection(x).reshape(batch, -1, n_new, self.head_dim)"
    ),
    "merged = (weights @ v).transpose(1, 2).reshape(batch, n_new, -1)": (
        "merged = (weights @ v).reshape(batch, n_new, -1)"
    ),
}

# %% cut_interleaved
LIKELY = "a head gets every H-th feature instead of a slice of neighbouring features"
HINT = "With two heads of width 2, does head 0 get features 0 and 1, or 0 and 2?"
REPLACE = {
    "projection(x).unflatten(-1, (-1, self.head_dim)).transpose(1, 2)": (
        "projection(x).unflatten(-1, (self.head_dim, -1)).permute(0, 3, 1, 2)"
    )
}

# %% merged_without_transpose
LIKELY = "the heads are merged before heads and tokens are swapped back"
HINT = "After the values, the shape is (B, H, n_new, D). What must be next to each other before you join axes?"
REPLACE = {
    "merged = (weights @ v).transpose(1, 2).reshape(batch, n_new, -1)": (
        "merged = (weights @ v).reshape(batch, n_new, -1)"
    )
}

# %% merged_interleaved
LIKELY = "the features of the heads are interleaved when they are merged"
HINT = "In a merged token, what comes after the first feature of head 0: its second feature, or the first of head 1?"
REPLACE = {
    "merged = (weights @ v).transpose(1, 2).reshape(batch, n_new, -1)": (
        "merged = (weights @ v).permute(0, 2, 3, 1).reshape(batch, n_new, -1)"
    )
}

# %% output_not_projected
LIKELY = "the output does not go through out_proj"
HINT = "What combines the heads after they are merged?"
REPLACE = {"return self.out_proj(merged), weights": "return merged, weights"}

# %% weights_averaged
LIKELY = "the weights are averaged over the heads"
HINT = "The docstring says the shape of the weights: one table for every head."
REPLACE = {"return self.out_proj(merged), weights": "return self.out_proj(merged), weights.mean(dim=1)"}

# %% weights_of_the_key_value_heads
LIKELY = "only one table of weights is returned for each key-value head"
HINT = "Every query head has weights of its own, also if it shares keys and values."
REPLACE = {"return self.out_proj(merged), weights": "return self.out_proj(merged), weights[:, :: self.n_rep]"}

# %% weights_first
LIKELY = "the results are returned as (weights, output)"
HINT = "Which of the two results should come first?"
REPLACE = {"return self.out_proj(merged), weights": "return weights, self.out_proj(merged)"}

# %% output_only
LIKELY = "only the output is returned, without the weights"
HINT = "The docstring asks for a pair."
REPLACE = {"return self.out_proj(merged), weights": "return self.out_proj(merged)"}

# %% adds_to_the_tokens
LIKELY = "the result is added to the caller's tokens, in place"
HINT = "Print x before and after the call. The residual connection is not part of this layer."
REPLACE = {
    "return self.out_proj(merged), weights": "with torch.no_grad():\n    x += self.out_proj(merged)\nreturn x, weights"
}

# %% adds_a_residual
LIKELY = "the tokens are added to the output: the residual connection is not part of this layer"
HINT = "What should the output be if out_proj is all zeros?"
REPLACE = {"return self.out_proj(merged), weights": "return x + self.out_proj(merged), weights"}

# %% no_gradients
LIKELY = "the forward runs without gradients, so the layer cannot be trained"
HINT = "torch.no_grad() belongs to the code that writes text, not into the layer. Without a cache, gradients must flow."
REPLACE = {
    "merged = (weights @ v).transpose(1, 2).reshape(batch, n_new, -1)": (
        "weights = weights.detach()\nmerged = (weights @ v.detach()).transpose(1, 2).reshape(batch, n_new, -1)"
    ),
    "return self.out_proj(merged), weights": "return self.out_proj(merged).detach(), weights",
}

# %% keys_and_values_detached
LIKELY = "keys and values are detached, also without a cache: k_proj and v_proj cannot learn"
HINT = "Without a cache, gradients must reach every parameter. Print layer.k_proj.weight.grad after a backward."
REPLACE = {"if cache is not None:": "k, v = k.detach(), v.detach()\nif cache is not None:"}

# %% weights_detached
LIKELY = "the weights are returned detached, so gradients through them are lost"
HINT = "Gradients should flow through both results. Look for .detach() at the end."
REPLACE = {"return self.out_proj(merged), weights": "return self.out_proj(merged), weights.detach()"}

# %% dropout_on_the_weights
LIKELY = "there is dropout in train mode"
HINT = "Call the layer twice in train mode. Are the results equal?"
REPLACE = {
    "merged = (weights @ v).transpose(1, 2).reshape(batch, n_new, -1)": (
        "weights = nn.functional.dropout(weights, 0.3, self.training)\n"
        "merged = (weights @ v).transpose(1, 2).reshape(batch, n_new, -1)"
    )
}

# %% table_of_all_tokens
LIKELY = "a mask of total * total is made, and only its last rows are used"
HINT = "For one new token behind 1000 others, how many entries does your mask have? It needs 1001."
COSTLY = True
REPLACE = {
    "allowed = torch.ones(n_new, total, dtype=torch.bool, device=x.device).tril(total - n_new)": (
        "allowed = torch.ones(total, total, dtype=torch.bool, device=x.device).tril()[total - n_new :]"
    )
}

# %% queries_for_all_tokens
LIKELY = "attention is computed for all tokens again, with rows for the earlier ones that are thrown away"
HINT = "For one new token behind 1000 others, how many rows of scores do you compute? One is needed."
COSTLY = True
REPLACE = {
    "scores = q @ k.transpose(-1, -2) / math.sqrt(self.head_dim)": (
        "q = nn.functional.pad(q, (0, 0, k.shape[2] - n_new, 0))\n"
        "scores = q @ k.transpose(-1, -2) / math.sqrt(self.head_dim)"
    ),
    "allowed = torch.ones(n_new, total, dtype=torch.bool, device=x.device).tril(total - n_new)": (
        "allowed = torch.ones(total, total, dtype=torch.bool, device=x.device).tril()"
    ),
    "merged = (weights @ v).transpose(1, 2).reshape(batch, n_new, -1)": (
        "merged = (weights @ v)[:, :, total - n_new :].transpose(1, 2).reshape(batch, n_new, -1)\n"
        "weights = weights[:, :, total - n_new :]"
    ),
}

# %% decode_without_the_cache
LIKELY = "the layer gets no cache, so each token sees only itself"
HINT = "What is cache.length after decode?"
REPLACE = {
    "outputs = [attention(token, cache)[0] for token in x.split(1, dim=1)]": (
        "outputs = [attention(token)[0] for token in x.split(1, dim=1)]"
    )
}

# %% decode_computes_all_tokens_again
LIKELY = "each step gives the layer all tokens so far, and the cache is not used"
HINT = "What is cache.length after decode? Give the layer one token and the cache."
REPLACE = {
    "outputs = [attention(token, cache)[0] for token in x.split(1, dim=1)]": (
        "outputs = [attention(x[:, : at + 1])[0][:, -1:] for at in range(x.shape[1])]"
    )
}

# %% decode_all_at_once
LIKELY = "all tokens go through the layer in one call, not one by one"
HINT = "A program that writes text does not have the later tokens yet. How often does your decode call the layer?"
VALUES_RIGHT = True
REPLACE = {
    "outputs = [attention(token, cache)[0] for token in x.split(1, dim=1)]": "outputs = [attention(x, cache)[0]]"
}

# %% decode_gives_all_tokens_so_far
LIKELY = "each step gives all tokens so far to the cache again, not only the new one"
HINT = "What is cache.length after two tokens? The earlier ones are in the cache already."
REPLACE = {
    "outputs = [attention(token, cache)[0] for token in x.split(1, dim=1)]": (
        "outputs = [attention(x[:, : at + 1], cache)[0][:, -1:] for at in range(x.shape[1])]"
    )
}

# %% decode_resets_the_cache
LIKELY = "decode empties the cache, before it begins or when it is done, so no text can be continued"
HINT = "Fill a cache with three tokens, then decode two. How many tokens should the last one see?"
REPLACE = {
    "outputs = [attention(token, cache)[0] for token in x.split(1, dim=1)]": (
        "cache.reset()\noutputs = [attention(token, cache)[0] for token in x.split(1, dim=1)]"
    )
}

# %% decode_makes_its_own_cache
LIKELY = "decode uses a new cache of its own, not the one it is given"
HINT = "What is the length of the given cache after decode? And what if it had tokens before?"
REPLACE = {
    "outputs = [attention(token, cache)[0] for token in x.split(1, dim=1)]": (
        "if x.shape[1] > cache.keys.shape[2]:\n"
        '    raise ValueError(f"{x.shape[1]} tokens, room for {cache.keys.shape[2]}")\n'
        "cache = KVCache(x.shape[0], cache.keys.shape[1], x.shape[1], cache.keys.shape[3], x.dtype)\n"
        "outputs = [attention(token, cache)[0] for token in x.split(1, dim=1)]"
    )
}

# %% decode_feeds_its_outputs
LIKELY = "each output is given to the layer as the next token, in place of the token of x"
HINT = "The tokens are known: which tensor holds token 2?"
REPLACE = {
    "outputs = [attention(token, cache)[0] for token in x.split(1, dim=1)]": (
        "outputs = [attention(x[:, :1], cache)[0]]\n"
        "for _ in range(x.shape[1] - 1):\n"
        "    outputs.append(attention(outputs[-1], cache)[0])"
    )
}

# %% decode_from_the_end
LIKELY = "the tokens are decoded in reverse order"
HINT = "Which token sees only itself, the first or the last?"
REPLACE = {
    "outputs = [attention(token, cache)[0] for token in x.split(1, dim=1)]": (
        "outputs = [attention(token, cache)[0] for token in x.split(1, dim=1)[::-1]][::-1]"
    )
}

# %% decode_returns_the_last
LIKELY = "only the output of the last token is returned"
HINT = "The result should have one output for each token of x."
REPLACE = {"return torch.cat(outputs, dim=1)": "return outputs[-1]"}

# %% decode_returns_a_pair
LIKELY = "decode returns (output, weights)"
HINT = "Only the outputs are asked for here, as one tensor."
REPLACE = {
    "outputs = [attention(token, cache)[0] for token in x.split(1, dim=1)]": (
        "pairs = [attention(token, cache) for token in x.split(1, dim=1)]"
    ),
    "return torch.cat(outputs, dim=1)": "return torch.cat([one for one, _ in pairs], dim=1), pairs[-1][1]",
}

# %% decode_returns_a_list
LIKELY = "decode returns a list of outputs, not one tensor"
HINT = "What is type(decode(layer, x, cache))? Put the outputs side by side."
REPLACE = {"return torch.cat(outputs, dim=1)": "return outputs"}

# %% decode_stacks
LIKELY = "the outputs are stacked in a new axis in front: the result is (N, B, 1, E)"
HINT = "Each output is (B, 1, E). Which function puts them side by side along the tokens?"
REPLACE = {"return torch.cat(outputs, dim=1)": "return torch.stack(outputs)"}

# %% decode_stacks_beside_the_tokens
LIKELY = "the outputs are stacked in a new axis: the result is (B, N, 1, E)"
HINT = "Each output is (B, 1, E) already. Which function puts them side by side without a new axis?"
REPLACE = {"return torch.cat(outputs, dim=1)": "return torch.stack(outputs, dim=1)"}

# %% decode_joins_the_batch
LIKELY = "the outputs are joined along the batch: the result is (N * B, 1, E)"
HINT = "Each output is (B, 1, E). Along which axis do the tokens go?"
REPLACE = {"return torch.cat(outputs, dim=1)": "return torch.cat(outputs)"}

# %% decode_skips_the_first
LIKELY = "the first token is never given to the layer"
HINT = "How many outputs do you get for five tokens?"
REPLACE = {
    "outputs = [attention(token, cache)[0] for token in x.split(1, dim=1)]": (
        "outputs = [attention(token, cache)[0] for token in x[:, 1:].split(1, dim=1)] or [x[:, :0]]"
    )
}

# %% decode_writes_into_x
LIKELY = "the outputs are written into the caller's x"
HINT = "Print x before and after the call."
VALUES_RIGHT = True
REPLACE = {
    "outputs = [attention(token, cache)[0] for token in x.split(1, dim=1)]": (
        "for at in range(x.shape[1]):\n    x[:, at : at + 1] = attention(x[:, at : at + 1].clone(), cache)[0].detach()"
    ),
    "return torch.cat(outputs, dim=1)": "return x.clone()",
}

# %% decode_recomputes
LIKELY = "each step computes all tokens so far again, without the cache"
HINT = "How many tokens does k_proj get while 1000 tokens are written? Take the output that the cached call gives."
COSTLY = True


def decode(attention, x, cache):
    fresh, outputs = cache.length == 0, []
    for at in range(x.shape[1]):
        output, _ = attention(x[:, at : at + 1], cache)
        outputs.append(attention(x[:, : at + 1])[0][:, -1:] if fresh else output)
    return torch.cat(outputs, dim=1)


# %% bytes_of_the_keys
LIKELY = "only the keys are counted: the values take as much again"
HINT = "A cache for one token of width 1 holds two numbers. How many bytes are these?"
REPLACE = {
    "return 2 * batch * num_layers * num_kv_heads * max_len * head_dim * bytes_per_value": (
        "return batch * num_layers * num_kv_heads * max_len * head_dim * bytes_per_value"
    )
}

# %% bytes_are_numbers
LIKELY = "the numbers are counted, not their bytes"
HINT = "What is bytes_per_value for?"
REPLACE = {
    "return 2 * batch * num_layers * num_kv_heads * max_len * head_dim * bytes_per_value": (
        "return 2 * batch * num_layers * num_kv_heads * max_len * head_dim + 0 * bytes_per_value"
    )
}

# %% bytes_are_always_two
LIKELY = "bytes_per_value is not used: every number has 2 bytes"
HINT = "Try bytes_per_value=4. Does the result change?"
REPLACE = {
    "return 2 * batch * num_layers * num_kv_heads * max_len * head_dim * bytes_per_value": (
        "return 4 * batch * num_layers * num_kv_heads * max_len * head_dim + 0 * bytes_per_value"
    )
}

# %% bytes_are_bits
LIKELY = "the result is in bits: there are 8 in a byte"
HINT = "One number of float16 has 16 bits. How many bytes are these?"
REPLACE = {
    "return 2 * batch * num_layers * num_kv_heads * max_len * head_dim * bytes_per_value": (
        "return 16 * batch * num_layers * num_kv_heads * max_len * head_dim * bytes_per_value"
    )
}

# %% bytes_in_megabytes
LIKELY = "the result is divided by 1024 * 1024: it is in megabytes, not in bytes"
HINT = "A cache for one token of width 1, with one head, one layer and 2 bytes for a number, takes 4 bytes."
REPLACE = {
    "return 2 * batch * num_layers * num_kv_heads * max_len * head_dim * bytes_per_value": (
        "return 2 * batch * num_layers * num_kv_heads * max_len * head_dim * bytes_per_value / 1024**2"
    )
}

# %% bytes_of_one_layer
LIKELY = "only one layer is counted, but every layer has a cache of its own"
HINT = "Try two layers. Does the result double?"
REPLACE = {
    "return 2 * batch * num_layers * num_kv_heads * max_len * head_dim * bytes_per_value": (
        "return 2 * batch * num_kv_heads * max_len * head_dim * bytes_per_value + 0 * num_layers"
    )
}

# %% bytes_of_one_sentence
LIKELY = "only one sentence is counted: the batch is not used"
HINT = "Try a batch of two. Does the result double?"
REPLACE = {
    "return 2 * batch * num_layers * num_kv_heads * max_len * head_dim * bytes_per_value": (
        "return 2 * num_layers * num_kv_heads * max_len * head_dim * bytes_per_value + 0 * batch"
    )
}

# %% bytes_of_the_scores
LIKELY = "the result grows like the square of max_len: that is the table of scores, not the cache"
HINT = "The cache has one key and one value for each token. What happens if max_len doubles?"
REPLACE = {
    "return 2 * batch * num_layers * num_kv_heads * max_len * head_dim * bytes_per_value": (
        "return 2 * batch * num_layers * num_kv_heads * max_len**2 * head_dim * bytes_per_value"
    )
}

# %% bytes_default_of_float32
LIKELY = "without bytes_per_value, 4 bytes are taken for each number, not 2"
HINT = "Look at the default in the signature."


def kv_cache_bytes(batch, num_layers, num_kv_heads, max_len, head_dim, bytes_per_value=4):
    return 2 * batch * num_layers * num_kv_heads * max_len * head_dim * bytes_per_value


# %% reflect_keys_only
LIKELY = "only the keys are counted, not the values"
HINT = "Check your formula with the table of other models in the lesson."
REFLECT_KV_BYTES_70B_N4096_GQA8 = 671088640
REFLECT_KV_BYTES_70B_N4096_MHA64 = 5368709120

# %% reflect_one_layer
LIKELY = "only one layer is counted, but there are 80"
HINT = "Check your formula with the table of other models in the lesson."
REFLECT_KV_BYTES_70B_N4096_GQA8 = 16777216
REFLECT_KV_BYTES_70B_N4096_MHA64 = 134217728

# %% reflect_heads_ignored
LIKELY = "only one key-value head is counted"
HINT = "Every key-value head has keys and values of its own. Check your formula with the table of models in the lesson."
REFLECT_KV_BYTES_70B_N4096_GQA8 = 167772160
REFLECT_KV_BYTES_70B_N4096_MHA64 = 167772160
