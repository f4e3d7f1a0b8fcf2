# %% [markdown]
# # 03 · Encoding and decoding
#
# You have merges: pairs of ids, in the order in which module 02 learned them. Now use them. Turn a text into a short
# list of ids, and turn ids into text again.
#
# Work through the four functions in order. After each one, run the cell that tries it (or the whole file,
# `python encoding.py`), then run `attn test encoding`. The lesson is in `README.md`, next to this file.

# %%
import re

# The merges of the lesson. The first one makes the id 256, the next one 257, and so on.
MERGES = [(116, 104), (32, 256), (105, 110), (257, 101), (257, 258)]

# %% [markdown]
# ## Build 1: the bytes of every id


# %%
def vocabulary(merges):
    """Return the bytes of every id, as a list: entry i is the bytes of the id i.

    merges: a list of pairs of ids (tuples), in the order of learning. The first pair makes the id 256, the next one
    257, and so on. A pair joins two ids that exist before it.

    - The ids 0 to 255 are single bytes: entry 104 is b"h", and entry 233 is b"\\xe9".
    - The bytes of a merged id are those of its first part, then those of its second part.
    - Without merges, the list has 256 entries. Does not change merges.
    """
    raise NotImplementedError


# %%
# What did the lesson's merges make?
if __name__ == "__main__":
    print("new tokens:", vocabulary(MERGES)[256:])
    assert vocabulary(MERGES)[260] == b" thin", "257 is ' th', and 258 is 'in'"

# %% [markdown]
# ## Build 2: chunks
#
# One chunk for each word, with the space before it. No merge reaches from one chunk into the next.


# %%
def chunks(text):
    """Cut a text into chunks, and return them as a list of strings. A new chunk begins at every space.

    - Nothing is lost: the chunks, joined, are the text. "that thing" has the chunks "that" and " thing".
    - Only the space " " begins a chunk; a line break and a tab are ordinary characters.
    - Two spaces in a row begin two chunks: "a  b" has the chunks "a", " " and " b".
    - No chunk is empty. The empty text has no chunks.
    """
    raise NotImplementedError


# %%
if __name__ == "__main__":
    print("chunks:", chunks("that thing they think then"))
    assert chunks("that  thing") == ["that", " ", " thing"], "a new chunk begins at every space"

# %% [markdown]
# ## Build 3: encode


# %%
def encode(text, merges):
    """Return the ids of a text, as a list of integers.

    Each chunk of the text (see `chunks`) is encoded alone, and the ids of all chunks are put in a row.

    - A chunk begins as its bytes in UTF-8, one id for each byte.
    - Of all pairs of neighbours that are in merges, the one that was learned first is merged first: everywhere in the
      chunk, from left to right. Then the next one, until no pair is left. `merges` is as in `vocabulary`.
    - With the merge (97, 97), "aaa" becomes 256, 97: an id is part of one merge at a time.
    - The empty text has no ids.
    - Time: the steps grow like the length of the text plus the number of merges, for words of ordinary length. Do not
      go through all merges for each chunk, nor through the complete text for each merge. Does not change merges.
    """
    raise NotImplementedError


# %%
# Try it with the text of the lesson, and with one that needs no merge.
if __name__ == "__main__":
    print("ids:", encode("that thing", MERGES))
    assert encode("that thing", MERGES) == [256, 97, 116, 260, 103], "see the table of the lesson"
    assert encode("", MERGES) == [], "no text, no ids"

# %% [markdown]
# ## Build 4: decode


# %%
def decode(ids, merges):
    """Return the text of a list of ids. `merges` is as in `vocabulary`.

    - The bytes of all ids are joined first, and then read as UTF-8 together: a character may be split between two ids.
    - Bytes that are no UTF-8 become the replacement character "\\ufffd", as with `errors="replace"`. So the ids of half
      a character have a text, too.
    - An id that is not in the vocabulary raises a ValueError that contains the id. This holds for negative ids, too.
    - No ids give the empty text.
    - Time: the steps grow like the number of ids. (Joining bytes with `+` in a loop copies all of them each time.)
    """
    raise NotImplementedError


# %%
if __name__ == "__main__":
    print("text:", decode([256, 97, 116, 260, 103], MERGES))
    assert decode([195, 169], MERGES) == "é", "join the bytes before you decode them"

# %% [markdown]
# ## Use
#
# Which words does this vocabulary know well, and which not at all? Try your own name, and an emoji.

# %%
if __name__ == "__main__":
    for word in ("think", " think", "Think", "naïve", "👋"):
        row = encode(word, MERGES)
        print(f"{word!r:>9}: {len(word.encode())} bytes, {len(row)} ids {row}")

# %% [markdown]
# ## Reflect
#
# Compute both, then replace each `None` (or assign the answers below).
#
# - GPT-2 has 50257 ids: one for each byte, one for each merge, and a special one for the end of a text. How many merges
#   did it learn?
# - You learn 10 merges. How many bytes can the longest token have at most?

# %%
REFLECT_MERGES_OF_GPT2 = None
REFLECT_LONGEST_TOKEN_OF_10_MERGES = None
# Your answer goes here.
