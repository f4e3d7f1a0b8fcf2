"""NumPy, because it is there."""

import numpy as np


def text_to_ids(text):
    return np.array(list(text.encode("utf-8")), dtype=int).tolist()


def ids_to_text(ids):
    for one in ids:
        if one not in range(0, 256):
            raise ValueError(f"ids must be bytes, not {one!r}")
    return np.array(ids, dtype=np.uint8).tobytes().decode("utf-8", "replace")


def character_starts(ids):
    ids = np.array(ids, dtype=int)
    return np.flatnonzero((ids < 128) | (ids >= 192)).tolist()


def cut_to_fit(ids, limit):
    starts = np.array(character_starts(ids) + [len(ids)])
    return ids[: int(starts[starts <= limit].max())]


REFLECT_MOST_BYTES_OF_A_CHARACTER = 4
REFLECT_BYTES_OF_1000_ASCII_CHARACTERS = 1000.0
