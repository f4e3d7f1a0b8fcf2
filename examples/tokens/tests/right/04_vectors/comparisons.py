"""One-hot by comparing, positions by shifting the sine, and np.add at the end."""
import numpy as np


def look_up(ids, table):
    size = len(table)
    if len(ids) and (min(ids) < 0 or max(ids) >= size):
        bad = [number for number in ids if number not in range(size)]
        raise ValueError(f"not in the table: {bad}")
    return table[list(ids)] if len(ids) else table[:0].copy()


def one_hot(ids, size):
    for number in ids:
        if number not in range(size):
            raise ValueError(f"{number} has no column")
    return (np.reshape(ids, (-1, 1)) == np.arange(size)).astype(float)


def sinusoidal(length, width):
    pairs, rest = divmod(width, 2)
    if rest:
        raise ValueError(f"an even width is needed, and {width} is odd")
    speeds = np.repeat([10000 ** (-i / pairs) for i in range(pairs)], 2)
    angles = np.outer(np.arange(length), speeds)
    return np.where(np.arange(width) % 2 == 0, np.sin(angles), np.cos(angles))


def embed(ids, token_table, position_table):
    if np.shape(token_table)[-1] != np.shape(position_table)[-1]:
        raise ValueError(f"{np.shape(token_table)} and {np.shape(position_table)}")
    places = range(len(ids))
    if len(places) > len(position_table):
        raise ValueError(f"{len(places)} places are needed, {len(position_table)} are there")
    return np.add(look_up(ids, token_table), look_up(places, position_table))


REFLECT_BYTES_OF_GPT2_TABLE = 50257 * 768 * 32 // 8
REFLECT_MULTIPLICATIONS_OF_ONE_HOT = 39_523_713_024
