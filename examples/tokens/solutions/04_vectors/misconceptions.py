"""Misconceptions of 04_vectors: one cell each. Added to the solution, a cell makes a wrong submission."""

import numpy as np

# %% columns_instead_of_rows
LIKELY = "columns of the table are taken, and not rows"
HINT = "The table has the shape (V, d). Which axis is for the ids? Print the shape of your result."
REPLACE = {"return table[ids]": "return table[:, ids % table.shape[1]]"}

# %% ids_from_1
LIKELY = "the first row of the table is taken for the id 1; it belongs to the id 0"
HINT = "Look up the id 0. Which row do you get?"
REPLACE = {"return table[ids]": "return table[ids - 1]"}

# %% ids_not_checked
LIKELY = "ids are not checked: a negative id counts from the end of the table, and a large one is an IndexError"
HINT = "What is table[-1]? Look up the id -1: it should raise a ValueError."
REPLACE = {"for number in ids[(ids < 0) | (ids >= len(table))]:": "for number in []:"}

# %% negative_ids_are_taken
LIKELY = "only ids that are too large are refused: a negative id counts from the end of the table"
HINT = "What is table[-1]? Look up the id -1: it should raise a ValueError."
REPLACE = {"for number in ids[(ids < 0) | (ids >= len(table))]:": "for number in ids[ids >= len(table)]:"}

# %% one_id_too_many
LIKELY = "the first id behind the table is not refused: the largest id is one less than the number of rows"
HINT = "A table with six rows has the ids 0 to 5. Look up the id 6."
REPLACE = {"for number in ids[(ids < 0) | (ids >= len(table))]:": "for number in ids[(ids < 0) | (ids > len(table))]:"}

# %% checked_against_the_width
LIKELY = "ids are compared with the width of the table, and not with its number of rows"
HINT = "A table of shape (6, 4) has six ids. Look up the id 5."
REPLACE = {
    "for number in ids[(ids < 0) | (ids >= len(table))]:": "for number in ids[(ids < 0) | (ids >= table.shape[1])]:"
}

# %% ids_cut_to_the_table
LIKELY = "ids that the table does not have get the nearest row, without a word"
HINT = "Look up the id 9999. Should the caller not hear of it?"


def look_up(ids, table):
    return table[np.clip(np.asarray(ids, dtype=np.int64), 0, len(table) - 1)]


# %% each_id_once
LIKELY = "an id that comes twice gets only one row"
HINT = "A text of three ids needs three rows, also if two ids are equal."
REPLACE = {"return table[ids]": "return table[list(dict.fromkeys(ids.tolist()))]"}

# %% one_vector_for_the_text
LIKELY = "the vectors of all ids are added up; here each id keeps a row of its own"
HINT = "Print the shape of your result. It should be (T, d)."
REPLACE = {"return table[ids]": "return table[ids].sum(axis=0)"}

# %% scaled_by_the_root
LIKELY = "the vectors are multiplied by the square root of d, as some models do; here they are taken as they are"
HINT = "Compare one row of your result with the table."
REPLACE = {"return table[ids]": "return table[ids] * np.sqrt(table.shape[1])"}

# %% always_float64
LIKELY = "the result is always float64; it should have the dtype of the table"
HINT = "Look up ids in a table of float32. What is the dtype of your result?"
VALUES_RIGHT = True
REPLACE = {"return table[ids]": "return table[ids].astype(np.float64)"}

# %% product_with_one_hot
LIKELY = "the look-up is a product with the complete table, which multiplies almost everything by 0"
HINT = "How many rows of the table do you need for T ids? What does `table[ids]` do?"
COSTLY = True
REPLACE = {"return table[ids]": "return (np.eye(len(table))[ids] @ table).astype(table.dtype)"}

# %% one_hot_transposed
LIKELY = "rows and columns are exchanged: there is one row for each id of the text"
HINT = "Print the shape of one_hot([4, 0, 4], 6). It should be (3, 6)."
REPLACE = {"return rows": "return rows.T"}

# %% one_hot_of_the_largest_id
LIKELY = "there are only as many columns as the largest id of this text needs; `size` is not used"
HINT = "Call it with one small id and a large size. How many columns are there?"


def one_hot(ids, size):
    for number in ids:
        if not 0 <= number < size:
            raise ValueError(f"{number} is not an id")
    return np.eye(max(ids, default=0) + 1)[np.asarray(ids, dtype=np.int64)]


# %% one_hot_counts
LIKELY = "the ids are counted in one row for the complete text; here each id has a row of its own"
HINT = "Print the shape of one_hot([4, 0, 4], 6). It should be (3, 6)."
REPLACE = {"return rows": "return rows.sum(axis=0)"}

# %% one_hot_from_1
LIKELY = "the 1 is one column too far to the left: the id 0 belongs to the first column"
HINT = "Where is the 1 of one_hot([0], 3)?"
REPLACE = {"rows[place, number] = 1": "rows[place, number - 1] = 1"}

# %% one_hot_not_checked
LIKELY = "ids are not checked: a negative id sets a column from the end"
HINT = "Try one_hot([-1], 3). It should raise a ValueError."
IN = "one_hot"
REPLACE = {"if not 0 <= number < size:": "if False:"}

# %% one_hot_negative_ids_are_taken
LIKELY = "only ids that are too large are refused: a negative id sets a column from the end"
HINT = "Try one_hot([-1], 3). It should raise a ValueError."
REPLACE = {"if not 0 <= number < size:": "if number >= size:"}

# %% positions_from_1
LIKELY = "positions are counted from 1; the first row belongs to position 0"
HINT = "What is the first row of sinusoidal(3, 4)? It should be 0, 1, 0, 1."
REPLACE = {"angles = np.arange(length)[:, None] * speeds": "angles = np.arange(1, length + 1)[:, None] * speeds"}

# %% halves
LIKELY = "all sines come first, and then all cosines; here they alternate"
HINT = "What is the first row of sinusoidal(3, 4)? It should be 0, 1, 0, 1."
REPLACE = {
    "return np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(length, width)": (
        "return np.concatenate([np.sin(angles), np.cos(angles)], axis=-1)"
    )
}

# %% cosine_first
LIKELY = "the cosine comes before the sine"
HINT = "What is the first row of sinusoidal(3, 4)? It should be 0, 1, 0, 1."
REPLACE = {
    "return np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(length, width)": (
        "return np.stack([np.cos(angles), np.sin(angles)], axis=-1).reshape(length, width)"
    )
}

# %% an_angle_for_each_column
LIKELY = "each column has an angle of its own; here the two columns of a pair share one"
HINT = "For columns 2 and 3, sine² + cosine² of the same angle is 1. Is it in your table?"


def sinusoidal(length, width):
    if width % 2:
        raise ValueError(f"the width must be even, not {width}")
    column = np.arange(width)
    angles = np.arange(length)[:, None] / 10000.0 ** (column / width)
    return np.where(column % 2 == 0, np.sin(angles), np.cos(angles))


# %% exponent_without_the_2
LIKELY = "the exponent is i / width; for pair i it is 2i / width"
HINT = "With width 4, how far does pair 1 turn for each position? It should be 0.01."
REPLACE = {
    "speeds = 10000.0 ** -(np.arange(0, width, 2) / width)": "speeds = 10000.0 ** -(np.arange(width // 2) / width)"
}

# %% exponent_with_a_2_too_many
LIKELY = "the exponent has the factor 2 twice: once in the formula, and once because columns are counted, not pairs"
HINT = "With width 4, how far does pair 1 turn for each position? It should be 0.01."
REPLACE = {
    "speeds = 10000.0 ** -(np.arange(0, width, 2) / width)": "speeds = 10000.0 ** -(2 * np.arange(0, width, 2) / width)"
}

# %% slow_pairs_first
LIKELY = "the angles are multiplied by 10000^(2i / width), and not divided by it"
HINT = "With width 4, how far does pair 1 turn for each position? It should be 0.01."
REPLACE = {
    "speeds = 10000.0 ** -(np.arange(0, width, 2) / width)": "speeds = 10000.0 ** (np.arange(0, width, 2) / width)"
}

# %% positions_transposed
LIKELY = "rows and columns are exchanged: a position is a row"
HINT = "Print the shape of sinusoidal(3, 4)."
REPLACE = {
    "return np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(length, width)": (
        "return np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(length, width).T"
    )
}

# %% odd_width_is_taken
LIKELY = "an odd width is not refused: the last pair loses its cosine"
HINT = "Call sinusoidal(3, 5). It should raise a ValueError that names 5."


def sinusoidal(length, width):
    table = np.zeros((length, width))
    angles = np.arange(length)[:, None] / 10000.0 ** (np.arange(0, width, 2) / width)
    table[:, 0::2] = np.sin(angles)
    table[:, 1::2] = np.cos(angles)[:, : width // 2]
    return table


# %% position_of_the_id
LIKELY = "the position table is asked for the ids; it should be asked for the places 0, 1, 2 …"
HINT = "Give it a text of two equal ids. Are its two rows different?"
REPLACE = {
    "return look_up(ids, token_table) + position_table[: len(ids)]": (
        "return look_up(ids, token_table) + position_table[np.asarray(ids, dtype=np.int64) % len(position_table)]"
    )
}

# %% positions_added_twice
LIKELY = "the positions are added twice"
HINT = "Use a token table of zeros. What should come out?"
REPLACE = {
    "return look_up(ids, token_table) + position_table[: len(ids)]": (
        "return look_up(ids, token_table) + 2 * position_table[: len(ids)]"
    )
}

# %% positions_forgotten
LIKELY = "the positions are not added"
HINT = "Use a token table of zeros. What should come out?"
REPLACE = {
    "return look_up(ids, token_table) + position_table[: len(ids)]": "return look_up(ids, token_table)",
}

# %% side_by_side
LIKELY = "the two vectors are put side by side; they are added"
HINT = "Print the shape of your result. It should be (T, d)."
REPLACE = {
    "return look_up(ids, token_table) + position_table[: len(ids)]": (
        "return np.concatenate([look_up(ids, token_table), position_table[: len(ids)]], axis=1)"
    )
}

# %% multiplied
LIKELY = "the two vectors are multiplied; they are added"
HINT = "Use a token table of zeros. What should come out?"
REPLACE = {
    "return look_up(ids, token_table) + position_table[: len(ids)]": (
        "return look_up(ids, token_table) * position_table[: len(ids)]"
    )
}

# %% second_position_first
LIKELY = "the first id gets position 1; positions count from 0"
HINT = "Which row of the position table does the first id get?"


def embed(ids, token_table, position_table):
    if token_table.shape[1] != position_table.shape[1]:
        raise ValueError(f"the tables have the widths {token_table.shape[1]} and {position_table.shape[1]}")
    if len(ids) > len(position_table):
        raise ValueError(f"{len(ids)} ids, but only {len(position_table)} positions")
    places = np.arange(1, len(ids) + 1) % len(position_table)
    return look_up(ids, token_table) + position_table[places]


# %% last_positions
LIKELY = "the last rows of the position table are taken; the text begins at position 0"
HINT = "Which row of the position table does the first id get?"
REPLACE = {
    "return look_up(ids, token_table) + position_table[: len(ids)]": (
        "return look_up(ids, token_table) + position_table[len(position_table) - len(ids) :]"
    )
}

# %% full_length_refused
LIKELY = "a text of exactly L ids is refused; L positions are enough for it"
HINT = "Which positions do three ids need? Are they in a table of three rows?"
REPLACE = {"if len(ids) > len(position_table):": "if len(ids) >= len(position_table):"}

# %% lengths_not_named
LIKELY = "the message about a text that is too long does not say how long it is, and how many positions there are"
HINT = "Put both numbers into the message: the caller has to know by how much the text is too long."
VALUES_RIGHT = True
REPLACE = {
    'raise ValueError(f"{len(ids)} ids, but only {len(position_table)} positions")': 'raise ValueError("too long")'
}

# %% too_long_is_cut
LIKELY = "a text that is too long is cut, without a word"
HINT = "Give it one id more than there are positions. It should raise a ValueError."


def embed(ids, token_table, position_table):
    if token_table.shape[1] != position_table.shape[1]:
        raise ValueError(f"the tables have the widths {token_table.shape[1]} and {position_table.shape[1]}")
    ids = ids[: len(position_table)]
    return look_up(ids, token_table) + position_table[: len(ids)]


# %% positions_begin_again
LIKELY = "behind the last position, the positions begin again from 0"
HINT = "Give it one id more than there are positions. It should raise a ValueError."


def embed(ids, token_table, position_table):
    if token_table.shape[1] != position_table.shape[1]:
        raise ValueError(f"the tables have the widths {token_table.shape[1]} and {position_table.shape[1]}")
    return look_up(ids, token_table) + position_table[np.arange(len(ids)) % len(position_table)]


# %% length_left_to_numpy
LIKELY = "the length is not checked: NumPy repeats the only row of a position table of length 1"
HINT = "Give it two ids and a position table with one row. It should raise a ValueError."
REPLACE = {"if len(ids) > len(position_table):": "if False:"}

# %% widths_left_to_numpy
LIKELY = "the widths are not checked: NumPy repeats the only column of a table of width 1"
HINT = "Give it tables of the widths 4 and 1. It should raise a ValueError."
REPLACE = {"if token_table.shape[1] != position_table.shape[1]:": "if False:"}

# %% added_into_the_positions
LIKELY = "the vectors are added into the caller's table of positions: a slice of an array is no copy"
HINT = "Call it twice with the same tables. Is the second result the same?"
VALUES_RIGHT = True
REPLACE = {
    "return look_up(ids, token_table) + position_table[: len(ids)]": (
        "vectors = position_table[: len(ids)]\nvectors += look_up(ids, token_table)\nreturn vectors"
    )
}

# %% added_into_the_tokens
LIKELY = "the positions are added into the caller's table of tokens"
HINT = "Call it twice with the same tables. Is the second result the same?"
REPLACE = {
    "return look_up(ids, token_table) + position_table[: len(ids)]": (
        "for place, number in enumerate(ids):\n"
        "    token_table[number] += position_table[place]\n"
        "return look_up(ids, token_table)"
    )
}

# %% all_positions_copied
LIKELY = "the complete table of positions is copied, also for a text of one id"
HINT = "Which rows of the table do you need? Take only these, and add to them."
COSTLY = True
REPLACE = {
    "return look_up(ids, token_table) + position_table[: len(ids)]": (
        "vectors = position_table.copy()\nvectors[: len(ids)] += look_up(ids, token_table)\nreturn vectors[: len(ids)]"
    )
}

# %% sorted_ids
LIKELY = "the caller's list of ids is sorted in place, which changes the order of the text"
HINT = "Print ids before and after the call."


def look_up(ids, table):
    if isinstance(ids, list):
        ids.sort()
    ids = np.asarray(ids, dtype=np.int64)
    for number in ids[(ids < 0) | (ids >= len(table))]:
        raise ValueError(f"{number} is not an id")
    return table[ids]


# %% ids_taken_out_of_the_list
LIKELY = "ids are taken out of the caller's list, so the list is empty after the call"
HINT = "Print ids before and after the call."
VALUES_RIGHT = True


def one_hot(ids, size):
    rows = np.zeros((len(ids), size))
    for place in range(len(ids)):
        number = ids.pop(0) if isinstance(ids, list) else ids[place]
        if not 0 <= number < size:
            raise ValueError(f"{number} is not an id")
        rows[place, number] = 1
    return rows


# %% reflect_counts_entries
LIKELY = "the entries of the table are counted, and not their bytes or products"
HINT = "How many bytes has a float32? How many multiplications does one row of ones and zeros need?"
REFLECT_BYTES_OF_GPT2_TABLE = 50257 * 768
REFLECT_MULTIPLICATIONS_OF_ONE_HOT = 50257 * 768

# %% reflect_only_the_ones
LIKELY = "these are float64 bytes; and a product multiplies by the zeros, too"
HINT = "float32 has 4 bytes. How many entries has a row of one_hot, and how many columns has the table?"
REFLECT_BYTES_OF_GPT2_TABLE = 50257 * 768 * 8
REFLECT_MULTIPLICATIONS_OF_ONE_HOT = 1024 * 768
