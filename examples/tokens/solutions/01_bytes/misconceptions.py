"""Misconceptions of 01_bytes: one cell each. Added to the solution, a cell makes a wrong submission."""

# %% code_points
LIKELY = "the numbers are code points, from `ord`, and not bytes: those of other alphabets are above 255"
HINT = 'Call `text_to_ids("é")`. How many numbers do you get, and how many bytes does é have in the lesson?'


def text_to_ids(text):
    return [ord(character) for character in text]


# %% latin_1
LIKELY = "the text is encoded in Latin-1, which has one byte for each character and no other characters"
HINT = "Which encoding does your `encode` name? Try é, and then 木."


def text_to_ids(text):
    return list(text.encode("latin-1"))


# %% code_points_modulo_256
LIKELY = "code points above 255 are brought below 256, so that different characters get the same number"
HINT = 'Compare `text_to_ids("木")` with the three bytes of 木 in the lesson.'


def text_to_ids(text):
    return [ord(character) % 256 for character in text]


# %% ascii_only
LIKELY = "characters outside ASCII are left out"
HINT = "What is left of `naïve café` after your `text_to_ids`?"


def text_to_ids(text):
    return list(text.encode("ascii", errors="ignore"))


# %% question_marks
LIKELY = "characters outside ASCII become question marks"
HINT = "Which character has the byte 63? Does it stand in your text?"


def text_to_ids(text):
    return list(text.encode("ascii", errors="replace"))


# %% with_a_byte_order_mark
LIKELY = "three bytes are added in front, a byte order mark: the encoding is utf-8-sig"
HINT = "How many bytes does your function give for the empty text?"


def text_to_ids(text):
    return list(text.encode("utf-8-sig"))


# %% without_a_byte_order_mark
LIKELY = "a byte order mark at the beginning of the text is removed, but nothing may be removed"
HINT = 'Call `text_to_ids("\\ufeffa")`: this text has two characters.'


def text_to_ids(text):
    return list(text.removeprefix("\ufeff").encode("utf-8"))


# %% utf_16
LIKELY = "the text is encoded in UTF-16, which has two bytes even for a plain letter"
HINT = "How many bytes does your function give for `Hi`?"


def text_to_ids(text):
    return list(text.encode("utf-16-le"))


# %% utf_16_with_a_mark
LIKELY = (
    "the text is encoded in UTF-16, which puts a byte order mark in front and has two bytes even for a plain letter"
)
HINT = "How many bytes does your function give for the empty text, and for `Hi`?"


def text_to_ids(text):
    return [255, 254, *text.encode("utf-16-le")]


# %% lower_case
LIKELY = "the text is brought to lower case first"
HINT = "Do `Hi` and `hi` have the same bytes?"


def text_to_ids(text):
    return list(text.lower().encode("utf-8"))


# %% strips_white_space
LIKELY = "white space at the ends of the text is removed"
HINT = "How many bytes does a text of two spaces have?"


def text_to_ids(text):
    return list(text.strip().encode("utf-8"))


# %% composes_letters
LIKELY = "a letter and an accent behind it are made one character, so that another text is encoded"
HINT = '`"e\\u0301"` looks like é, but has two characters. How many bytes do you get for it?'


def text_to_ids(text):
    import unicodedata

    return list(unicodedata.normalize("NFC", text).encode("utf-8"))


# %% a_list_for_each_character
LIKELY = "each character has a list of its own, so that the result is a list of lists"
HINT = "Print the result for `Hi`. How many brackets does it have?"


def text_to_ids(text):
    return [list(character.encode("utf-8")) for character in text]


# %% bytes_not_a_list
LIKELY = "the result is a `bytes` object, not a list of integers"
HINT = "What does `list(...)` make of the bytes?"


def text_to_ids(text):
    return text.encode("utf-8")


# %% copies_the_list_for_each_character
LIKELY = "the list is made again for every character, and copied each time"
HINT = "What does `ids = ids + new` copy? And `ids.extend(new)`?"
COSTLY = True


def text_to_ids(text):
    ids = []
    for character in text:
        ids = ids + list(character.encode("utf-8"))
    return ids


# %% a_character_for_each_byte
LIKELY = "each byte becomes a character of its own, with `chr` or Latin-1"
HINT = "What does your function give for [195, 169]? Together they are é."


def ids_to_text(ids):
    for one in ids:
        if not 0 <= one <= 255:
            raise ValueError(f"an id must be from 0 to 255, not {one}")
    return "".join(map(chr, ids))


# %% raises_for_broken_bytes
LIKELY = "bytes that are no UTF-8 raise an error"
HINT = "Which `errors=` can `decode` have? The usual one is strict."
REPLACE = {
    'return bytes(ids).decode("utf-8", errors="replace")': 'return bytes(ids).decode("utf-8")',
}

# %% leaves_broken_bytes_out
LIKELY = "bytes that are no UTF-8 are left out, so that nobody sees that something is missing"
HINT = "What should stand in place of the 195 in [72, 195]?"
REPLACE = {
    'return bytes(ids).decode("utf-8", errors="replace")': 'return bytes(ids).decode("utf-8", errors="ignore")',
}

# %% question_marks_for_broken_bytes
LIKELY = "bytes that are no UTF-8 become ordinary question marks, which may also stand in a text"
HINT = 'The character for this is `\\ufffd`. What does errors="replace" write?'
REPLACE = {
    'return bytes(ids).decode("utf-8", errors="replace")': 'text = bytes(ids).decode("utf-8", errors="replace")\nreturn text.replace("\\ufffd", "?")',
}

# %% drops_a_byte_order_mark
LIKELY = "a byte order mark at the beginning is removed: the encoding is utf-8-sig"
HINT = 'Go there and back with `"\\ufeffa"`. How many characters are left?'
REPLACE = {
    'return bytes(ids).decode("utf-8", errors="replace")': 'return bytes(ids).decode("utf-8-sig", errors="replace")',
}

# %% wraps_ids_around
LIKELY = "an id that is no byte is brought into 0 to 255, and not refused"
HINT = "What does your function give for [72, 300]?"


def ids_to_text(ids):
    return bytes(one % 256 for one in ids).decode("utf-8", errors="replace")


# %% refuses_without_the_id
LIKELY = "the error message does not say which id is wrong: `bytes` raises it, or it has no number"
HINT = "Read the message for [72, 300]. Would it help to find the wrong id?"


def ids_to_text(ids):
    return bytes(ids).decode("utf-8", errors="replace")


# %% ids_below_128
LIKELY = "only ids below 128 are taken for bytes, but bytes go up to 255"
HINT = "Which bytes does é have?"
REPLACE = {"if not 0 <= one <= 255:": "if not 0 <= one <= 127:"}

# %% empties_the_callers_list
LIKELY = "the caller's list is empty after the call"
HINT = "Print ids before and after the call. What does `ids.pop()` change?"
VALUES_RIGHT = True


def ids_to_text(ids):
    for one in ids:
        if not 0 <= one <= 255:
            raise ValueError(f"an id must be from 0 to 255, not {one}")
    read = []
    while ids:
        read.append(ids.pop())
    return bytes(read[::-1]).decode("utf-8", errors="replace")


# %% text_made_longer_byte_by_byte
LIKELY = "the text is made longer in a loop, and copied each time"
HINT = "Collect the bytes first, and decode them once."
COSTLY = True


def ids_to_text(ids):
    read = b""
    for one in ids:
        if not 0 <= one <= 255:
            raise ValueError(f"an id must be from 0 to 255, not {one}")
        read = read + bytes([one])
    return read.decode("utf-8", errors="replace")


# %% only_ascii_begins
LIKELY = "only bytes below 128 are taken for the beginning of a character, but é begins with 195"
HINT = "Where does é begin in [110, 195, 169, 33]?"
REPLACE = {
    "return [at for at, one in enumerate(ids) if not 128 <= one < 192]": "return [at for at, one in enumerate(ids) if one < 128]"
}

# %% only_large_bytes_begin
LIKELY = "only bytes from 192 on are taken for the beginning of a character, and plain letters are forgotten"
HINT = "Where do the characters of `Hi` begin?"
REPLACE = {
    "return [at for at, one in enumerate(ids) if not 128 <= one < 192]": "return [at for at, one in enumerate(ids) if one >= 192]"
}

# %% where_characters_end
LIKELY = "the positions are those of the last bytes, where characters end"
HINT = "Where does é begin in [110, 195, 169, 33], at 1 or at 2?"


def character_starts(ids):
    ends = [at - 1 for at, one in enumerate(ids) if at and not 128 <= one < 192]
    return [*ends, len(ids) - 1] if ids else []


# %% positions_from_1
LIKELY = "positions count from 1, but they count from 0 in Python"
HINT = "Where does the first character of every text begin?"
REPLACE = {
    "return [at for at, one in enumerate(ids) if not 128 <= one < 192]": "return [at for at, one in enumerate(ids, 1) if not 128 <= one < 192]"
}

# %% first_bytes_not_positions
LIKELY = "the result has the bytes that begin a character, not their positions"
HINT = "What does `enumerate` give you beside each byte?"
REPLACE = {
    "return [at for at, one in enumerate(ids) if not 128 <= one < 192]": "return [one for one in ids if not 128 <= one < 192]"
}

# %% positions_among_characters
LIKELY = "the positions count characters, not bytes: they are 0, 1, 2 for every text"
HINT = "Where does ! begin in [110, 195, 169, 33]? Count bytes."


def character_starts(ids):
    return list(range(len(bytes(ids).decode("utf-8"))))


# %% yes_or_no_for_each_byte
LIKELY = "the result says True or False for each byte, not at which positions it is true"
HINT = "How many numbers should `character_starts([195, 169])` return?"
REPLACE = {
    "return [at for at, one in enumerate(ids) if not 128 <= one < 192]": "return [not 128 <= one < 192 for one in ids]"
}

# %% position_of_an_equal_byte
LIKELY = "the position is looked up with `index`, which finds the first byte that is equal"
HINT = "Try `aa`. Which position does `ids.index(97)` find the second time?"
REPLACE = {
    "return [at for at, one in enumerate(ids) if not 128 <= one < 192]": "return [ids.index(one) for one in ids if not 128 <= one < 192]"
}

# %% the_end_is_a_beginning
LIKELY = "the end of the text is listed, too, but no character begins there"
HINT = "How many characters does `Hi` have, and how many positions does your result have?"


def character_starts(ids):
    return [at for at in range(len(ids) + 1) if at == len(ids) or not 128 <= ids[at] < 192]


# %% leaves_a_mark_behind
LIKELY = "the caller's list has one more item after the call"
HINT = "Print ids before and after the call. What does `ids.append(...)` change?"
VALUES_RIGHT = True


def character_starts(ids):
    ids.append(0)  # so that every character has another behind it
    return [at for at, one in enumerate(ids[:-1]) if not 128 <= one < 192]


# %% encodes_every_beginning
LIKELY = "the text before a character is encoded again for each character"
HINT = "You can decide it from the byte at a position alone: is it from 128 to 191?"
COSTLY = True


def character_starts(ids):
    text = bytes(ids).decode("utf-8")
    return [len(text[:at].encode("utf-8")) for at in range(len(text))]


# %% cuts_through_a_character
LIKELY = "the cut goes through a character"
HINT = "Try n and é with room for 2 bytes."


def cut_to_fit(ids, limit):
    return ids[:limit]


# %% half_a_character_becomes_a_mark
LIKELY = "the half of a character at the cut becomes \\ufffd, which has three bytes of its own"
HINT = 'What does errors="replace" write at the end of [110, 195]? What would errors="ignore" write?'


def cut_to_fit(ids, limit):
    return list(bytes(ids[:limit]).decode("utf-8", errors="replace").encode("utf-8"))


# %% limit_in_characters
LIKELY = "the limit is taken as a number of characters, but it is one of bytes"
HINT = "How many bytes does your result have?"


def cut_to_fit(ids, limit):
    starts = character_starts(ids)
    return ids[: starts[limit]] if limit < len(starts) else list(ids)


# %% one_byte_back
LIKELY = "the cut moves back by one byte only, but a character has up to 4"
HINT = "Try 木 with room for 2 bytes, and 🌳 with room for 3."
REPLACE = {"while 128 <= ids[end] < 192:": "if 128 <= ids[end] < 192:"}

# %% drops_the_last_character
LIKELY = "the last character is dropped even if it fits"
HINT = "Try n and é with room for exactly 3 bytes."


def cut_to_fit(ids, limit):
    if limit >= len(ids):
        return list(ids)
    starts = [at for at in character_starts(ids) if at < limit]
    return ids[: starts[-1]] if starts else []


# %% looks_at_the_last_byte_that_fits
LIKELY = "the last byte that fits is looked at, but the first that is left out decides"
HINT = "In [195, 169, 33], room for 2 bytes: is é cut?"


def cut_to_fit(ids, limit):
    if limit >= len(ids):
        return list(ids)
    end = limit
    while end and ids[end - 1] >= 128:
        end -= 1
    return ids[:end]


# %% keeps_the_end
LIKELY = "bytes at the beginning are dropped: the end of the text is kept"
HINT = "Which part of the text should stay, its beginning or its end?"


def cut_to_fit(ids, limit):
    starts = [at for at in [*character_starts(ids), len(ids)] if len(ids) - at <= limit]
    return ids[starts[0] :]


# %% goes_on_to_the_end_of_the_character
LIKELY = "the character at the cut is kept, so that the result is longer than the limit"
HINT = "How many bytes does your result have with room for 2?"


def cut_to_fit(ids, limit):
    if limit >= len(ids):
        return list(ids)
    end = limit
    while end < len(ids) and 128 <= ids[end] < 192:
        end += 1
    return ids[:end]


# %% at_least_one_character
LIKELY = "the first character is kept even if it does not fit"
HINT = "What should be left if there is room for 0 bytes?"


def cut_to_fit(ids, limit):
    ends = [*character_starts(ids)[1:], len(ids)]
    return ids[: max([end for end in ends if end <= limit], default=ends[0])]


# %% shortens_the_callers_list
LIKELY = "the caller's list is made shorter"
HINT = "Print ids before and after the call. What does `ids.pop()` change?"
VALUES_RIGHT = True


def cut_to_fit(ids, limit):
    starts = [*character_starts(ids), len(ids)]
    end = max(at for at in starts if at <= limit) if ids else 0
    while len(ids) > end:
        ids.pop()
    return list(ids)


# %% reflect_utf_16
LIKELY = "2 bytes for a character are those of UTF-16; UTF-8 has 1 to 4"
HINT = 'Print `len(text_to_ids("🌳"))` and `len(text_to_ids("a" * 1000))`.'
REFLECT_MOST_BYTES_OF_A_CHARACTER = 2
REFLECT_BYTES_OF_1000_ASCII_CHARACTERS = 2000

# %% reflect_three_bytes
LIKELY = "3 bytes for a character are those of 木; UTF-8 has 1 to 4"
HINT = 'Print `len(text_to_ids("🌳"))` and `len(text_to_ids("a" * 1000))`.'
REFLECT_MOST_BYTES_OF_A_CHARACTER = 3
REFLECT_BYTES_OF_1000_ASCII_CHARACTERS = 3000

# %% reflect_bits
LIKELY = "this is a number of bits, but a byte is 8 bits"
HINT = 'Print `len(text_to_ids("🌳"))` and `len(text_to_ids("a" * 1000))`.'
REFLECT_MOST_BYTES_OF_A_CHARACTER = 32
REFLECT_BYTES_OF_1000_ASCII_CHARACTERS = 8000
