"""Loops and math, as a beginner writes them; NumPy only at the end."""
import math

import numpy as np


def look_up(ids, table):
    rows = []
    for i in ids:
        if i < 0 or i >= table.shape[0]:
            raise ValueError("no such id: " + str(i))
        rows.append(table[i])
    if len(rows) == 0:
        return np.zeros((0, table.shape[1]), dtype=table.dtype)
    return np.array(rows)


def one_hot(ids, size):
    result = []
    for i in ids:
        if i < 0:
            raise ValueError(f"negative id {i}")
        if i >= size:
            raise ValueError(f"id {i} is too large for {size}")
        row = [0.0] * size
        row[i] = 1.0
        result.append(row)
    return np.array(result).reshape(len(ids), size)


def sinusoidal(length, width):
    if width % 2 == 1:
        raise ValueError(f"width {width} is odd")
    result = np.zeros((length, width))
    for p in range(length):
        for i in range(width // 2):
            angle = p / 10000 ** (2 * i / width)
            result[p, 2 * i] = math.sin(angle)
            result[p, 2 * i + 1] = math.cos(angle)
    return result


def embed(ids, token_table, position_table):
    length, width = position_table.shape
    if token_table.shape[1] != width:
        raise ValueError(f"{token_table.shape[1]} is not {width}")
    if len(ids) > length:
        raise ValueError(f"the text has {len(ids)} ids, the limit is {length}")
    result = look_up(ids, token_table)
    for t in range(len(ids)):
        result[t] = result[t] + position_table[t]
    return result


REFLECT_BYTES_OF_GPT2_TABLE = 154389504
REFLECT_MULTIPLICATIONS_OF_ONE_HOT = 39523713024
