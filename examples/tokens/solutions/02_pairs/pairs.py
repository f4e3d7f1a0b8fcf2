# %% [markdown]
# # 02 · Pairs of bytes
#
# Bytes are small numbers, but there are many of them: a page has thousands. *Byte-pair encoding* makes texts
# shorter. It looks for the pair of neighbours that comes most often, gives it a new id, and does so again and again.
#
# Work through the four functions in order. After each one, run the cell that tries it (or the whole file), then run
# `attn test pairs`. The lesson is in `README.md`, next to this file.

# %% [markdown]
# ## Build 1: count pairs
#
# Which two ids stand side by side most often? One thing needs care: in `aaa`, the middle `a` can be part of only one
# pair.


# %%
def count_pairs(ids):
    """Count how often each pair of neighbours can be merged.

    ids: a list of integers. Returns a dictionary: each pair that is in ids, as a tuple (left, right), and its count.

    - A pair counts from left to right, and two of the same pair never share an id: [7, 7, 7] has (7, 7) once, and
      [7, 7, 7, 7] has it twice. Different pairs may share an id.
    - Lists of no id or one id have no pairs: the dictionary is empty. ids is not modified.
    - The number of steps grows no faster than the length of ids.
    """
    ### BEGIN SOLUTION
    counts = {}
    before = None  # the pair one place to the left, if it was counted
    for pair in zip(ids, ids[1:], strict=False):
        if pair == before:  # it shares an id with the same pair, as in a a a
            before = None
        else:
            counts[pair] = counts.get(pair, 0) + 1
            before = pair
    return counts
    ### END SOLUTION


# %%
# Try count_pairs on the lesson's text and on a run of equal ids.
if __name__ == "__main__":
    counts = count_pairs(list(b"banana bandana"))
    print("count_pairs:", counts)
    assert counts[97, 110] == 4, "an stands in banana bandana 4 times"
    assert count_pairs([7, 7, 7]) == {(7, 7): 1}, "the middle 7 can be part of one pair only"

# %% [markdown]
# ## Build 2: the best pair
#
# The pair with the largest count wins. Two pairs often have the same count, so a rule must say which of them wins.
# Otherwise two programs learn different things from the same text.


# %%
def best_pair(counts):
    """Return the pair with the largest count; None if there are no pairs.

    counts: a dictionary from pairs to their counts, as from count_pairs.

    - If several pairs have the largest count, the smallest of them wins, as Python compares tuples: the one with the
      smaller left id; if the left ids are equal, the one with the smaller right id.
    - counts is not modified.
    """
    ### BEGIN SOLUTION
    return min(counts, key=lambda pair: (-counts[pair], pair), default=None)
    ### END SOLUTION


# %%
# Try best_pair on a clear case and on a tie.
if __name__ == "__main__":
    print("best_pair:", best_pair({(98, 97): 2, (97, 110): 4}), best_pair({(98, 256): 2, (256, 97): 2}))
    assert best_pair({(98, 97): 2, (97, 110): 4}) == (97, 110), "the largest count wins"
    assert best_pair({(256, 97): 2, (98, 256): 2}) == (98, 256), "at a tie, the smallest pair wins"

# %% [markdown]
# ## Build 3: merge
#
# Now replace the pair by its new id, everywhere.


# %%
def merge(ids, pair, new):
    """Return a new list in which each occurrence of a pair of neighbours is replaced by one new id.

    ids: a list of integers; pair: a tuple (left, right); new: an integer.

    - Goes from left to right, and an id that was merged is not used again: merging (7, 7) to 9 in [7, 7, 7] gives
      [9, 7].
    - Goes through ids once: a new id is not merged again in the same call, even if it is part of the pair.
    - ids is not modified.
    - The number of steps grows no faster than the length of ids.
    """
    ### BEGIN SOLUTION
    merged = []
    at = 0
    while at < len(ids):
        if at + 1 < len(ids) and (ids[at], ids[at + 1]) == pair:
            merged.append(new)
            at += 2
        else:
            merged.append(ids[at])
            at += 1
    return merged
    ### END SOLUTION


# %%
# Try merge on a run, and on the lesson's text.
if __name__ == "__main__":
    print("merge:", merge(list(b"banana bandana"), (97, 110), 256))
    assert merge([7, 7, 7], (7, 7), 9) == [9, 7], "from left to right"

# %% [markdown]
# ## Build 4: train
#
# Count, choose, merge, and again. What is learned is the list of merges. Nothing else is needed to encode other texts,
# which is what you build in module 03.


# %%
def train(text, count):
    """Learn at most `count` merges from a text. Return them as a list of pairs, in the order of learning.

    text: a string; it begins as its bytes in UTF-8, with ids from 0 to 255. count: an integer, 0 or more.

    - Each step takes the best pair of the ids that the steps before have left, and merges it everywhere. The first
      merge makes the id 256, the second 257, and so on: merges[i] makes the id 256 + i.
    - Stops before `count` merges if no pair has a count of 2 or more: a pair that comes once is not worth an id.
    - Returns pairs as tuples of two integers.
    """
    ### BEGIN SOLUTION
    ids = list(text.encode("utf-8"))
    merges = []
    while len(merges) < count:
        counts = count_pairs(ids)
        pair = best_pair(counts)
        if pair is None or counts[pair] < 2:
            break
        ids = merge(ids, pair, 256 + len(merges))
        merges.append(pair)
    return merges
    ### END SOLUTION


# %%
# Try train on the lesson's text: three merges, then no pair is left that comes twice.
if __name__ == "__main__":
    print("train:", train("banana bandana", 10))
    assert train("banana bandana", 10) == [(97, 110), (98, 256), (256, 97)], "see the lesson's table"

# %% [markdown]
# ## Use
#
# What does a text teach? Put a text of your own here: a poem, a song, a page of a book in any language.

# %%
if __name__ == "__main__":
    text = "she sells sea shells on the sea shore. the shells that she sells are sea shells, she is sure."
    merges = train(text, 20)
    spelled = {one: bytes([one]) for one in range(256)}
    for new, (left, right) in enumerate(merges, 256):
        spelled[new] = spelled[left] + spelled[right]
        print(new, repr(spelled[new].decode("utf-8", errors="replace")))

# %% [markdown]
# ## Reflect
#
# Replace each `None` (or assign the answers below). A text has 500 bytes. The first merge replaces its pair in 20
# places. How many ids are left? Nine more merges replace their pairs in 20 places each. How many are left then?

# %%
REFLECT_LENGTH_AFTER_1_MERGE = None
REFLECT_LENGTH_AFTER_10_MERGES = None
### BEGIN SOLUTION
REFLECT_LENGTH_AFTER_1_MERGE = 480
REFLECT_LENGTH_AFTER_10_MERGES = 300
### END SOLUTION
