"""Loops only, as a beginner writes them: characters one by one, places deleted from a list."""


def vocabulary(merges):
    result = []
    for i in range(256):
        result.append(bytes([i]))
    for i in range(len(merges)):
        pair = merges[i]
        result.append(result[pair[0]] + result[pair[1]])
    return result


def chunks(text):
    result = []
    current = ""
    for c in text:
        if c == " " and current != "":
            result.append(current)
            current = ""
        current += c
    if current != "":
        result.append(current)
    return result


def encode(text, merges):
    numbers = {}
    for i in range(len(merges)):
        numbers[merges[i]] = 256 + i
    result = []
    for word in chunks(text):
        ids = []
        for b in word.encode():
            ids.append(b)
        while True:
            best = None
            for i in range(len(ids) - 1):
                new = numbers.get((ids[i], ids[i + 1]))
                if new is not None and (best is None or new < best):
                    best = new
            if best is None:
                break
            left, right = merges[best - 256]
            i = 0
            while i < len(ids) - 1:
                if ids[i] == left and ids[i + 1] == right:
                    ids[i] = best
                    del ids[i + 1]
                i += 1
        result += ids
    return result


def decode(ids, merges):
    table = vocabulary(merges)
    data = bytearray()
    for i in ids:
        if i < 0 or i >= len(table):
            raise ValueError("unknown id " + str(i))
        data += table[i]
    return data.decode("utf-8", "replace")


REFLECT_MERGES_OF_GPT2 = 50257 - 256 - 1
REFLECT_LONGEST_TOKEN_OF_10_MERGES = 2**10
