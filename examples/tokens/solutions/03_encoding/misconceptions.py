"""Misconceptions of 03_encoding: one cell each. Added to the solution, a cell makes a wrong submission."""

import re

# %% bytes_by_chr
LIKELY = "the bytes of an id are made with `chr(id).encode()`: above 127, that is two bytes"
HINT = "Print len(vocabulary([])[233]). Each of the first 256 ids is one byte."
REPLACE = {
    "tokens = [bytes([number]) for number in range(256)]": "tokens = [chr(number).encode() for number in range(256)]"
}

# %% parts_exchanged
LIKELY = "the second part of a pair is put before the first"
HINT = "The pair (116, 104) is t, then h. Which bytes does the id 256 have?"
REPLACE = {"tokens.append(tokens[first] + tokens[second])": "tokens.append(tokens[second] + tokens[first])"}

# %% only_new_tokens
LIKELY = "the list has only the merged ids: the 256 single bytes are missing"
HINT = "Which entry of your list has the id 104? How long is the list without merges?"


def vocabulary(merges):
    tokens = {number: bytes([number]) for number in range(256)}
    for number, (first, second) in enumerate(merges, start=256):
        tokens[number] = tokens[first] + tokens[second]
    return [tokens[number] for number in range(256, len(tokens))]


# %% numbers_of_the_pair
LIKELY = "the two numbers of a pair are taken for two bytes: a part above 255 is no byte, but a token of its own"
HINT = "The pair (32, 256) is a space, then the token 256. How many bytes are these?"
REPLACE = {"tokens.append(tokens[first] + tokens[second])": "tokens.append(bytes([first % 256, second % 256]))"}

# %% text_instead_of_bytes
LIKELY = "the vocabulary holds text (`str`), and not bytes"
HINT = "What is the type of the first entry? A byte is not always a character."
REPLACE = {"tokens = [bytes([number]) for number in range(256)]": "tokens = [chr(number) for number in range(256)]"}

# %% a_dictionary
LIKELY = "the result is a dictionary; it should be a list, in which entry i belongs to the id i"
HINT = "Print type(vocabulary([])). How do you make a list of the values of a dictionary?"
REPLACE = {"return tokens": "return dict(enumerate(tokens))"}


# %% space_behind
LIKELY = "the space belongs to the word before it; here it begins the next chunk"
HINT = "What are the chunks of `that thing`? With which one does the space go?"


def chunks(text):
    return re.findall("[^ ]* |[^ ]+", text)


# %% spaces_lost
LIKELY = "`split()` drops the spaces, so the chunks, joined, are not the text any more"
HINT = "Join your chunks again. Is it the same text?"


def chunks(text):
    return text.split()


# %% spaces_in_a_row_are_one
LIKELY = "two spaces in a row become one, or begin only one chunk"
HINT = "Try a text with two spaces in a row. A new chunk begins at every space."


def chunks(text):
    return re.findall(" *[^ ]+| +", text)


# %% second_space_lost
LIKELY = "of two spaces in a row, only one is kept"
HINT = "Join the chunks of a text with two spaces in a row. Is it the same text?"


def chunks(text):
    return re.findall(" ?[^ ]+", text)


# %% any_white_space
LIKELY = "line breaks and tabs begin a chunk, too"
HINT = "Try `one\\ntwo`. Only the space begins a new chunk."


def chunks(text):
    return re.findall(r"\s\S*|\S+", text)


# %% empty_chunks
LIKELY = "there is an empty chunk before a first space, and one for the empty text"
HINT = "What is chunks(' a')? And what is chunks('')?"


def chunks(text):
    first, *rest = text.split(" ")
    return [first, *(" " + word for word in rest)]


# %% order_of_the_text
LIKELY = "pairs are merged in the order in which the text has them, and not in the order of learning"
HINT = "With merges [(98, 99), (97, 98)], which pair of `abc` is merged first: the one on the left?"
REPLACE = {
    "pair = min(zip(row, row[1:], strict=False), key=lambda pair: ranks.get(pair, len(ranks)))": (
        "pair = next((pair for pair in zip(row, row[1:], strict=False) if pair in ranks), None)"
    )
}

# %% longest_match_first
LIKELY = "at each place the longest token of the vocabulary is taken; but the pair that was learned first goes first"
HINT = "With merges [(98, 99), (97, 98), (257, 99)], encode `abc` on paper, merge by merge. Do you ever get `ab`?"


def encode(text, merges):
    tokens = vocabulary(merges)
    known = {token: number for number, token in reversed(list(enumerate(tokens)))}
    longest = max(map(len, tokens))
    ids = []
    for chunk in chunks(text):
        row, place = chunk.encode("utf-8"), 0
        while place < len(row):
            end = min(len(row), place + longest)
            while row[place:end] not in known:
                end -= 1
            ids.append(known[row[place:end]])
            place = end
    return ids


# %% newest_merge_first
LIKELY = "the pair that was learned last is merged first"
HINT = "Which of two pairs did module 02 merge first: the earlier or the later one? Do the same here."
REPLACE = {
    "pair = min(zip(row, row[1:], strict=False), key=lambda pair: ranks.get(pair, len(ranks)))": (
        "pair = max(zip(row, row[1:], strict=False), key=lambda pair: ranks.get(pair, -1))"
    )
}

# %% one_pass_only
LIKELY = "each chunk is gone through once: a merged id is never merged again"
HINT = "What does `aaaa` become with merges [(97, 97), (256, 256)]? Is it one id?"


def encode(text, merges):
    ranks = {pair: rank for rank, pair in enumerate(merges)}
    ids = []
    for chunk in chunks(text):
        row = list(chunk.encode("utf-8"))
        pair = min(zip(row, row[1:], strict=False), key=lambda pair: ranks.get(pair, len(ranks)), default=None)
        place = 0
        while place < len(row):
            if pair in ranks and tuple(row[place : place + 2]) == pair:
                ids.append(256 + ranks[pair])
                place += 2
            else:
                ids.append(row[place])
                place += 1
    return ids


# %% only_the_first_place
LIKELY = "a pair is merged only at the first place where it stands, and then never again"
HINT = "What does `abab` become with the merge (97, 98)? There are two places."


def encode(text, merges):
    ranks = {pair: rank for rank, pair in enumerate(merges)}
    ids = []
    for chunk in chunks(text):
        row, used = list(chunk.encode("utf-8")), set()
        while True:
            left = [pair for pair in zip(row, row[1:], strict=False) if pair in ranks and pair not in used]
            if not left:
                break
            pair = min(left, key=ranks.get)
            place = list(zip(row, row[1:], strict=False)).index(pair)
            row[place : place + 2] = [256 + ranks[pair]]
            used.add(pair)
        ids.extend(row)
    return ids


# %% an_id_used_twice
LIKELY = "after a merge only one place is skipped, so the second id of the pair is used once more"
HINT = "What does `aaa` become with the merge (97, 97)? How many bytes do your ids stand for?"


def encode(text, merges):
    ranks = {pair: rank for rank, pair in enumerate(merges)}
    ids = []
    for chunk in chunks(text):
        row = list(chunk.encode("utf-8"))
        while len(row) > 1:
            pair = min(zip(row, row[1:], strict=False), key=lambda pair: ranks.get(pair, len(ranks)))
            if pair not in ranks:
                break
            joined, place = [], 0
            while place < len(row):
                if tuple(row[place : place + 2]) == pair:
                    joined.append(256 + ranks[pair])
                    place += 1 if tuple(row[place + 1 : place + 3]) == pair else 2
                else:
                    joined.append(row[place])
                    place += 1
            row = joined
        ids.extend(row)
    return ids


# %% from_right_to_left
LIKELY = "places are merged from right to left"
HINT = "What does `aaa` become with the merge (97, 97)? Which two of the three are merged?"


def encode(text, merges):
    ranks = {pair: rank for rank, pair in enumerate(merges)}
    ids = []
    for chunk in chunks(text):
        row = list(chunk.encode("utf-8"))
        while len(row) > 1:
            pair = min(zip(row, row[1:], strict=False), key=lambda pair: ranks.get(pair, len(ranks)))
            if pair not in ranks:
                break
            place = len(row) - 2
            while place >= 0:
                if (row[place], row[place + 1]) == pair:
                    row[place : place + 2] = [256 + ranks[pair]]
                    place -= 1
                place -= 1
        ids.extend(row)
    return ids


# %% last_id_lost
LIKELY = "the loop ends one place too early, so the last id of a chunk is lost if it is not merged"
HINT = "Encode a text of one letter. Does the loop come to the last place?"


def encode(text, merges):
    ranks = {pair: rank for rank, pair in enumerate(merges)}
    ids = []
    for chunk in chunks(text):
        row = list(chunk.encode("utf-8"))
        for pair, rank in ranks.items():
            joined, place = [], 0
            while place < len(row) - 1:
                if (row[place], row[place + 1]) == pair:
                    joined.append(256 + rank)
                    place += 2
                else:
                    joined.append(row[place])
                    place += 1
            row = joined
        ids.extend(row)
    return ids


# %% across_chunks
LIKELY = "the text is encoded as one row, so a merge can join the end of a word with the next space"
HINT = "With the merge (97, 32), what should `a b` give? Are `a` and the space in one chunk?"
REPLACE = {"for chunk in chunks(text):": "for chunk in [text]:"}

# %% new_ids_from_257
LIKELY = "the first merge makes the id 257; it should be 256"
HINT = "The single bytes have the ids 0 to 255. Which number is free first?"
REPLACE = {"joined.append(256 + ranks[pair])": "joined.append(257 + ranks[pair])"}

# %% characters_instead_of_bytes
LIKELY = "a text begins as the numbers of its characters (`ord`), and not as its bytes in UTF-8"
HINT = "Encode `é` without merges. It is one character, but how many bytes?"
REPLACE = {'row = list(chunk.encode("utf-8"))': "row = [ord(sign) for sign in chunk]"}

# %% raises_without_pairs
LIKELY = "a chunk of one byte has no pairs, and `min` of nothing raises an error"
HINT = "Encode the text `a`. What is zip(row, row[1:]) then?"
REPLACE = {"while len(row) > 1:": "while True:"}

# %% empty_text_gives_none
LIKELY = "the empty text gives None; it has no ids, which is an empty list"
HINT = "Encode an empty text. Could a caller loop over what comes back?"
REPLACE = {"ids = []": "if not text:\n    return None\nids = []"}

# %% merges_used_up
LIKELY = "merges are taken out of the caller's list, so the list is empty after the call"
HINT = "Call encode twice with the same list. Print the list after each call."
VALUES_RIGHT = True
REPLACE = {
    "ranks = {pair: rank for rank, pair in enumerate(merges)}": (
        "ranks = {}\nwhile merges:\n    ranks[merges.pop(0)] = len(ranks)"
    )
}

# %% vocabulary_uses_merges_up
LIKELY = "vocabulary takes the pairs out of the caller's list, so the list is empty after the call"
HINT = "Call vocabulary twice with the same list. Print the list after each call."
VALUES_RIGHT = True


def vocabulary(merges):
    tokens = [bytes([number]) for number in range(256)]
    while merges:
        first, second = merges.pop(0)
        tokens.append(tokens[first] + tokens[second])
    return tokens


# %% ids_used_up
LIKELY = "ids are taken out of the caller's list, so the list is empty after the call"
HINT = "Decode the same list twice. Print the list after each call."
VALUES_RIGHT = True


def decode(ids, merges):
    tokens = vocabulary(merges)
    data = bytearray()
    ids.reverse()
    while ids:
        number = ids.pop()
        if not 0 <= number < len(tokens):
            raise ValueError(f"{number} is not an id")
        data += tokens[number]
    return data.decode("utf-8", errors="replace")


# %% a_pass_for_each_merge
LIKELY = "the complete text is gone through once for each merge in the list, also for those that it does not have"
HINT = "A model has 50000 merges. Put them into a dictionary, and ask it for the pairs that a chunk really has."
COSTLY = True


def encode(text, merges):
    rows = [list(chunk.encode("utf-8")) for chunk in chunks(text)]
    for number, pair in enumerate(merges, start=256):
        for row in rows:
            place = 0
            while place < len(row) - 1:
                if (row[place], row[place + 1]) == pair:
                    row[place : place + 2] = [number]
                place += 1
    return [number for row in rows for number in row]


# %% the_text_again_for_each_place
LIKELY = "after each single merge the complete text is searched again, from its beginning"
HINT = "A text twice as long has twice as many places, and each search takes twice as long. Go on chunk by chunk."
COSTLY = True


def encode(text, merges):
    ranks = {pair: rank for rank, pair in enumerate(merges)}
    rows = [list(chunk.encode("utf-8")) for chunk in chunks(text)]
    while True:
        pairs = [
            (ranks[pair], at, place)
            for at, row in enumerate(rows)
            for place, pair in enumerate(zip(row, row[1:], strict=False))
            if pair in ranks
        ]
        if not pairs:
            return [number for row in rows for number in row]
        rank, at, place = min(pairs)
        rows[at][place : place + 2] = [256 + rank]


# %% each_id_alone
LIKELY = "each id is decoded alone, so a character that is split between two ids is lost"
HINT = "Decode the ids 195 and 169 together. They are the two bytes of `é`."
REPLACE = {
    'return b"".join([tokens[number] for number in ids]).decode("utf-8", errors="replace")': (
        'return "".join([tokens[number].decode("utf-8", errors="replace") for number in ids])'
    )
}

# %% bad_bytes_left_out
LIKELY = 'bytes that are no UTF-8 are left out (errors="ignore"), so the reader does not see that something is missing'
HINT = "Decode the id 195 alone. It is half a character, and should become \\ufffd."
REPLACE = {
    'return b"".join([tokens[number] for number in ids]).decode("utf-8", errors="replace")': (
        'return b"".join([tokens[number] for number in ids]).decode("utf-8", errors="ignore")'
    )
}

# %% half_a_character_raises
LIKELY = "an incomplete character raises a UnicodeDecodeError"
HINT = 'Decode the id 195 alone. Read about `errors="replace"` in the documentation of bytes.decode.'
REPLACE = {
    'return b"".join([tokens[number] for number in ids]).decode("utf-8", errors="replace")': (
        'return b"".join([tokens[number] for number in ids]).decode("utf-8")'
    )
}

# %% str_of_bytes
LIKELY = "`str(...)` of bytes is the way Python writes them down, with b and quotation marks"
HINT = "What is str(b'the')? Which method of bytes gives a text?"
REPLACE = {
    'return b"".join([tokens[number] for number in ids]).decode("utf-8", errors="replace")': (
        'return str(b"".join([tokens[number] for number in ids]))'
    )
}

# %% one_character_for_each_byte
LIKELY = "each byte becomes a character of its own; but in UTF-8 a character may have several bytes"
HINT = "Decode the ids 195 and 169. You should get `é`."
REPLACE = {
    'return b"".join([tokens[number] for number in ids]).decode("utf-8", errors="replace")': (
        'return b"".join([tokens[number] for number in ids]).decode("latin-1")'
    )
}

# %% id_not_checked
LIKELY = "ids are not checked: a negative id counts from the end of the list, and a large one is an IndexError"
HINT = "What is tokens[-1]? Decode the id -1: it should raise a ValueError."
REPLACE = {"if not 0 <= number < len(tokens):": "if False:"}

# %% key_error
LIKELY = "an id that is not in the vocabulary raises a KeyError of the dictionary, and not a ValueError"
HINT = "Ask whether the id is in the dictionary, and raise a ValueError with the id if it is not."


def decode(ids, merges):
    tokens = dict(enumerate(vocabulary(merges)))
    return b"".join([tokens[number] for number in ids]).decode("utf-8", errors="replace")


# %% negative_ids_are_taken
LIKELY = "only ids that are too large are refused: a negative id counts from the end of the list"
HINT = "What is tokens[-1]? Decode the id -1: it should raise a ValueError."
REPLACE = {"if not 0 <= number < len(tokens):": "if number >= len(tokens):"}

# %% unknown_ids_left_out
LIKELY = "an id that is not in the vocabulary is left out without a word"
HINT = "Decode the id 9999. Should the reader not hear of it?"


def decode(ids, merges):
    tokens = vocabulary(merges)
    known = [tokens[number] for number in ids if 0 <= number < len(tokens)]
    return b"".join(known).decode("utf-8", errors="replace")


# %% one_id_too_many
LIKELY = "the first id behind the vocabulary is not refused: the largest id is one less than the number of tokens"
HINT = "With 5 merges, the ids go from 0 to 260. Decode the id 261."


def decode(ids, merges):
    tokens = [*vocabulary(merges), b""]
    for number in ids:
        if not 0 <= number < len(tokens):
            raise ValueError(f"{number} is not an id")
    return b"".join([tokens[number] for number in ids]).decode("utf-8", errors="replace")


# %% bytes_joined_one_by_one
LIKELY = "bytes are joined with `+` in a loop, which copies all earlier bytes each time"
HINT = 'Collect the tokens in a list, and join them once: b"".join(...).'
COSTLY = True


def decode(ids, merges):
    tokens = vocabulary(merges)
    data = b""
    for number in ids:
        if not 0 <= number < len(tokens):
            raise ValueError(f"{number} is not an id")
        data = data + tokens[number]
    return data.decode("utf-8", errors="replace")


# %% reflect_too_simple
LIKELY = "the special id counts as a merge, and each merge makes the longest token only one byte longer"
HINT = "256 ids are bytes, and one is special. The first merge makes 2 bytes: can the second one join two of these?"
REFLECT_MERGES_OF_GPT2 = 50001
REFLECT_LONGEST_TOKEN_OF_10_MERGES = 11

# %% reflect_bytes_forgotten
LIKELY = "the 256 single bytes count as merges, and the longest token is taken to have two bytes for each merge"
HINT = "Which ids are there before the first merge? How long is a token of two tokens of 2 bytes?"
REFLECT_MERGES_OF_GPT2 = 50256
REFLECT_LONGEST_TOKEN_OF_10_MERGES = 20
