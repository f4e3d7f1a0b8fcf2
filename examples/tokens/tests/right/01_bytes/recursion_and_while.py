"""Joined pieces, a while loop from the end, and a generator."""


def text_to_ids(text):
    ids = []
    ids.extend(b"".join([character.encode("utf-8") for character in text]))
    return ids


def ids_to_text(ids):
    def checked():
        for one in ids:
            if not -1 < one < 256:
                raise ValueError(f"id {one} is out of range")
            yield one

    return bytes(checked()).decode("utf-8", errors="replace")


def _starts(ids):
    for position, one in enumerate(ids):
        binary = format(one, "08b")
        if not binary.startswith("10"):
            yield position


def character_starts(ids):
    return list(_starts(ids))


def cut_to_fit(ids, limit):
    result = list(ids)
    while len(result) > limit:
        last = result.pop()
        while last // 64 == 2:  # the rest of this character goes, too
            last = result.pop()
    return result


REFLECT_MOST_BYTES_OF_A_CHARACTER = 4
REFLECT_BYTES_OF_1000_ASCII_CHARACTERS = 1000
