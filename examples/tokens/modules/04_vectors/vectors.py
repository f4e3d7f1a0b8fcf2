# %% [markdown]
# # 04 · Vectors
#
# A text is a row of ids now. But an id is only a name: the id 260 is not ten times the id 26. So each id gets a vector,
# and each place in the text gets one, too. Their sum is what attention reads.
#
# Work through the four functions in order. After each one, run the cell that tries it (or the whole file,
# `python vectors.py`), then run `attn test vectors`. The lesson is in `README.md`, next to this file.

# %%
import numpy as np

# The example of the lesson: a table for six ids with vectors of width 4, and a text of three ids.
TABLE = np.array(
    [[0.1, 0.2, 0.3, 0.4], [1, 0, 0, 0], [0, 1, 0, 0], [0.5, 0.5, -0.5, -0.5], [2, -1, 0, 1], [0, 0, 0, 1]]
)
IDS = [4, 0, 4]

# %% [markdown]
# ## Build 1: look up


# %%
def look_up(ids, table):
    """Return the vectors of some ids: row t of the result is the row of the table for the id t of the text.

    ids: T integers, as a list or an array. table: an array of shape (V, d), one row for each id of the vocabulary.
    Returns an array of shape (T, d), also for T = 0, with the dtype of the table.

    - The first row of the table belongs to the id 0. An id that comes twice gets the same vector twice.
    - An id that the table does not have raises a ValueError that contains the id. This holds for negative ids, too.
    - Does not change ids or the table.
    - Work grows like T·d, and not like the size of the table: do not copy the table, or multiply with it.
    """
    raise NotImplementedError


# %%
if __name__ == "__main__":
    print("look_up:")
    print(look_up(IDS, TABLE))
    assert np.array_equal(look_up(IDS, TABLE)[0], [2, -1, 0, 1]), "the id 4 has the fifth row"

# %% [markdown]
# ## Build 2: one-hot
#
# The same look-up can be written as a product. It is far slower, but it shows why the table is a layer like any other.


# %%
def one_hot(ids, size):
    """Return an array of shape (T, size) in which row t has a 1 in the column of the id t, and 0 elsewhere.

    ids: T integers, as a list or an array. size: how many ids the vocabulary has. Returns float64.

    - one_hot(ids, V) @ table is look_up(ids, table), for every table with V rows.
    - An id below 0, or not below size, raises a ValueError that contains the id.
    - Does not change ids.
    """
    raise NotImplementedError


# %%
if __name__ == "__main__":
    print("one_hot:")
    print(one_hot(IDS, 6))
    assert np.array_equal(one_hot(IDS, 6) @ TABLE, look_up(IDS, TABLE)), "the product should be the look-up"

# %% [markdown]
# ## Build 3: positions
#
# Column 2i of position p is $\sin(p / 10000^{2i/d})$, and column 2i + 1 is the cosine of the same angle.


# %%
def sinusoidal(length, width):
    """Return one vector for each position: an array of shape (length, width), float64.

    Row p is for position p, and positions count from 0. The columns 2i and 2i + 1 are a pair: the sine and the cosine
    of the angle p / 10000^(2i / width).

    - Sines and cosines alternate: row 0 is 0, 1, 0, 1 and so on.
    - An odd width raises a ValueError that contains it.
    """
    raise NotImplementedError


# %%
if __name__ == "__main__":
    print("sinusoidal:")
    print(sinusoidal(3, 4).round(4))
    assert np.allclose(sinusoidal(3, 4)[2], [0.9093, -0.4161, 0.0200, 0.9998], atol=1e-4), "see the lesson's table"

# %% [markdown]
# ## Build 4: embed


# %%
def embed(ids, token_table, position_table):
    """Return what attention reads: for each place of the text, the vector of its id plus the vector of its position.

    ids: T integers. token_table: shape (V, d). position_table: shape (L, d), for the positions 0 to L - 1. It may come
    from `sinusoidal`, or be learned. Returns an array of shape (T, d).

    - Row t is row ids[t] of the token table plus row t of the position table.
    - A text of exactly L ids is right. A longer one raises a ValueError that contains T and L.
    - Tables of different widths raise a ValueError that contains both widths.
    - Ids are refused as in look_up. Does not change ids or a table.
    - Work grows like T·d, and not like the size of a table.
    """
    raise NotImplementedError


# %%
if __name__ == "__main__":
    print("embed:")
    print(embed(IDS, TABLE, sinusoidal(8, 4)).round(4))
    assert embed(IDS, TABLE, sinusoidal(8, 4)).shape == (3, 4), "one row for each id, not for each position"

# %% [markdown]
# ## Use
#
# The id 4 stands at two places. How different are its two vectors, and what makes them different?

# %%
if __name__ == "__main__":
    vectors = embed(IDS, TABLE, sinusoidal(8, 4))
    print("before:", look_up(IDS, TABLE)[0], look_up(IDS, TABLE)[2])
    print("after: ", vectors[0].round(4), vectors[2].round(4))

# %% [markdown]
# ## Reflect
#
# GPT-2 has 50257 ids and vectors of width 768. Compute both, then replace each `None` (or assign the answers below).
#
# - How many bytes does its token table take in float32?
# - You write the look-up of 1024 ids as a product with one-hot rows. How many multiplications does the product need?

# %%
REFLECT_BYTES_OF_GPT2_TABLE = None
REFLECT_MULTIPLICATIONS_OF_ONE_HOT = None
# Your answer goes here.
