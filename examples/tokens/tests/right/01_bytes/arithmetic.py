"""UTF-8 by hand, with bits, and a cut that lets Python find what is whole."""


def text_to_ids(text):
    out = []
    for c in map(ord, text):
        if c < 0x80:
            out += [c]
        elif c < 0x800:
            out += [0xC0 | c >> 6, 0x80 | c & 0x3F]
        elif c < 0x10000:
            out += [0xE0 | c >> 12, 0x80 | c >> 6 & 0x3F, 0x80 | c & 0x3F]
        else:
            out += [0xF0 | c >> 18, 0x80 | c >> 12 & 0x3F, 0x80 | c >> 6 & 0x3F, 0x80 | c & 0x3F]
    return out


def ids_to_text(ids):
    wrong = [i for i in ids if i not in range(256)]
    if wrong:
        raise ValueError(f"not a byte: {wrong[0]}")
    return str(bytes(ids), "utf-8", "replace")


def character_starts(ids):
    return [i for i in range(len(ids)) if ids[i] & 0b1100_0000 != 0b1000_0000]


def cut_to_fit(ids, limit):
    return list(bytes(ids[:limit]).decode("utf-8", errors="ignore").encode("utf-8"))


REFLECT_MOST_BYTES_OF_A_CHARACTER = 2 + 2
REFLECT_BYTES_OF_1000_ASCII_CHARACTERS = 10**3
