# %% [markdown]
# # 01 · Text as bytes
#
# A model computes with numbers, and a text is made of characters. So the first question of every language model is:
# which numbers stand for this text?
#
# The answer here is the same as in most models: the bytes of the text in UTF-8. There are 256 different bytes, and
# every text in every language can be written with these.
#
# Work through the four functions in order. After each one, run the cell that tries it (or the whole file), then run
# `attn test bytes`. The lesson is in `README.md`, next to this file.

# %% [markdown]
# ## Build 1: from text to ids
#
# An *id* is a number that stands for a piece of text. Here, each byte is an id.


# %%
def text_to_ids(text):
    """Return the bytes of a text in UTF-8, as a list of integers from 0 to 255.

    - Any text works, in any language. The empty text gives an empty list.
    - The text is taken exactly as it is: nothing is added in front, nothing is removed, and no letter is exchanged.
    - The integers are plain Python integers, and their list is a list.
    - The number of steps grows no faster than the length of the text.
    """
    raise NotImplementedError


# %%
# Try text_to_ids on the lesson's word, and on a word with an accent.
if __name__ == "__main__":
    print("text_to_ids:", text_to_ids("Hi"), text_to_ids("é"))
    assert text_to_ids("Hi") == [72, 105], "see the first table"
    assert text_to_ids("é") == [195, 169], "one character, two bytes"

# %% [markdown]
# ## Build 2: and back
#
# A model that writes gives ids, and you want to read its text. It may give any ids, also some that are no text.


# %%
def ids_to_text(ids):
    """Return the text of a list of bytes in UTF-8.

    ids: a list of integers.

    - An integer that is not in 0 to 255 is no byte: raises a ValueError whose message contains it. If there are
      several, it contains the first.
    - Bytes that are no UTF-8 raise nothing. In their place is the character `\\ufffd` (�), as often as Python writes it
      with errors="replace". The text around them is as it should be.
    - Nothing else is added, removed or exchanged. The empty list gives the empty text. ids is not modified.
    - The number of steps grows no faster than the length of ids.
    """
    raise NotImplementedError


# %%
# Try ids_to_text: there and back, and on half a character.
if __name__ == "__main__":
    print("ids_to_text:", ids_to_text([72, 105]), ids_to_text(text_to_ids("naïve café")))
    assert ids_to_text(text_to_ids("naïve café")) == "naïve café", "there and back should change nothing"
    assert ids_to_text([72, 195]) == "H\ufffd", "195 alone is half a character"

# %% [markdown]
# ## Build 3: where characters begin
#
# Look at the bytes of some characters in the lesson's table. The first byte of a character is never from 128 to 191.
# All bytes that follow it are.


# %%
def character_starts(ids):
    """Return the positions at which a character begins, as a list of integers in rising order.

    ids: the bytes of a text in UTF-8, as text_to_ids gives them. Positions count from 0.

    - A byte from 128 to 191 goes on with a character. Every other byte begins one.
    - The empty list gives an empty list. ids is not modified.
    - The number of steps grows no faster than the length of ids.
    """
    raise NotImplementedError


# %%
# Try character_starts on two characters with 1 and 2 bytes.
if __name__ == "__main__":
    print("character_starts:", character_starts(text_to_ids("né!")))
    assert character_starts(text_to_ids("né!")) == [0, 1, 3], "n is at 0, é at 1 and 2, ! at 3"

# %% [markdown]
# ## Build 4: cut, but not through a character
#
# A model reads a fixed number of ids. A text that is too long is cut, and the cut must not go through a character.


# %%
def cut_to_fit(ids, limit):
    """Return the longest beginning of ids that has at most `limit` bytes and cuts no character in two.

    ids: the bytes of a text in UTF-8, as text_to_ids gives them. limit: how many bytes fit; an integer, 0 or more.

    - The result is a new list. If everything fits, it equals ids. ids is not modified.
    - If not even the first character fits, the result is empty.
    """
    raise NotImplementedError


# %%
# Try cut_to_fit: é has the bytes at 1 and 2, so 2 bytes have room for n only.
if __name__ == "__main__":
    ids = text_to_ids("né!")
    print("cut_to_fit:", [cut_to_fit(ids, limit) for limit in range(5)])
    assert cut_to_fit(ids, 2) == cut_to_fit(ids, 1) == [110], "half an é is no character"
    assert cut_to_fit(ids, 3) == [110, 195, 169], "n and é fit into 3 bytes exactly"

# %% [markdown]
# ## Use
#
# How many bytes does a character have? Change the words, add your name, and run it again.

# %%
if __name__ == "__main__":
    for word in ("tree", "Bäume", "дерево", "木", "🌳"):
        ids = text_to_ids(word)
        print(f"{word}: {len(word)} characters, {len(ids)} bytes, {ids}")

# %% [markdown]
# ## Reflect
#
# Replace each `None` (or assign the answers below). The first is the largest number of bytes that one character (one
# element of a Python string) has in UTF-8. The second: a text in ASCII has 1000 characters. How many bytes has it?

# %%
REFLECT_MOST_BYTES_OF_A_CHARACTER = None
REFLECT_BYTES_OF_1000_ASCII_CHARACTERS = None
# Your answer goes here.
