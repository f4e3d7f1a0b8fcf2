"""np.take, fancy assignment and sines written into strided columns."""
import numpy as np


def _checked(ids, size):
    array = np.array(ids, dtype=int)
    wrong = np.flatnonzero((array < 0) | (array > size - 1))
    if wrong.size:
        raise ValueError("unknown id", int(array[wrong[0]]))
    return array


def look_up(ids, table):
    return np.take(table, _checked(ids, table.shape[0]), axis=0)


def one_hot(ids, size):
    ids = _checked(ids, size)
    hot = np.zeros((ids.size, size))
    hot[np.arange(ids.size), ids] = 1.0
    return hot


def sinusoidal(length, width):
    if width & 1:
        raise ValueError(width)
    out = np.empty((length, width))
    position = np.arange(length, dtype=np.float64).reshape(-1, 1)
    frequency = np.exp(np.arange(0, width, 2) * (-np.log(10000.0) / width))
    out[:, ::2] = np.sin(position * frequency)
    out[:, 1::2] = np.cos(position * frequency)
    return out


def embed(ids, token_table, position_table):
    (_, d), (longest, e) = token_table.shape, position_table.shape
    if d != e:
        raise ValueError(f"widths differ: {d} != {e}")
    if (count := len(ids)) > longest:
        raise ValueError(f"{count} > {longest}")
    vectors = look_up(ids, token_table)
    vectors += position_table[:count]
    return vectors


REFLECT_BYTES_OF_GPT2_TABLE = np.int64(50257) * 768 * 4
REFLECT_MULTIPLICATIONS_OF_ONE_HOT = 1024.0 * 50257 * 768
