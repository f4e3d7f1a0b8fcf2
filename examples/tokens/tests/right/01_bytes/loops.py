"""As a beginner writes it: loops, flags and lists."""


def text_to_ids(text):
    result = []
    for letter in text:
        encoded = letter.encode("UTF-8")
        for i in range(len(encoded)):
            result.append(encoded[i])
    return result


def ids_to_text(ids):
    for number in ids:
        if number < 0 or number > 255:
            raise ValueError("this is not a byte: " + str(number))
    data = bytearray()
    for number in ids:
        data.append(number)
    return data.decode("utf8", "replace")


def character_starts(ids):
    positions = []
    i = 0
    while i < len(ids):
        if ids[i] < 128 or ids[i] > 191:
            positions.append(i)
        i = i + 1
    return positions


def cut_to_fit(ids, limit):
    kept = []
    character = []
    for number in ids:
        if number < 128 or number >= 192:
            kept.extend(character)
            character = []
        character.append(number)
        if len(kept) + len(character) > limit:
            return kept
    kept.extend(character)
    return kept


REFLECT_MOST_BYTES_OF_A_CHARACTER = 4
REFLECT_BYTES_OF_1000_ASCII_CHARACTERS = 1000
