"""Library functions wherever there is one."""

from bisect import bisect_right
from itertools import accumulate, chain


def text_to_ids(text):
    return [*chain.from_iterable(map(str.encode, text))]


def ids_to_text(ids):
    try:
        data = bytes(ids)
    except ValueError:
        first = next(one for one in ids if not 0 <= one < 256)
        raise ValueError(f"{first} is no byte") from None
    return data.decode("utf-8", "replace")


def character_starts(ids):
    sizes = [len(letter.encode()) for letter in bytes(ids).decode()]
    return [end - size for end, size in zip(accumulate(sizes), sizes, strict=True)]


def cut_to_fit(ids, limit):
    ends = character_starts(ids) + [len(ids)]
    return ids[: ends[bisect_right(ends, limit) - 1]]


REFLECT_MOST_BYTES_OF_A_CHARACTER = 4
REFLECT_BYTES_OF_1000_ASCII_CHARACTERS = 1000
