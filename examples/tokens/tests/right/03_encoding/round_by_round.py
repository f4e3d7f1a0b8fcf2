"""All chunks together: in each round the best pair of the complete text is merged in every chunk."""

from itertools import pairwise


def vocabulary(merges):
    def bytes_of(number):
        if number < 256:
            return bytes([number])
        left, right = merges[number - 256]
        return bytes_of(left) + bytes_of(right)

    return [bytes_of(number) for number in range(256 + len(merges))]


def chunks(text):
    starts = [at for at, sign in enumerate(text) if sign == " " or at == 0]
    ends = starts[1:] + [len(text)]
    return [text[start:end] for start, end in zip(starts, ends)]


def encode(text, merges):
    order = {pair: k for k, pair in enumerate(merges)}
    rows = [[*chunk.encode("utf-8")] for chunk in chunks(text)]
    while True:
        present = {order[pair] for row in rows for pair in pairwise(row) if pair in order}
        if not present:
            return sum_of(rows)
        k = min(present)
        rows = [replaced(row, *merges[k], 256 + k) for row in rows]


def replaced(row, left, right, new):
    out = []
    for number in row:
        if out and out[-1] == left and number == right:
            out[-1] = new
        else:
            out.append(number)
    return out


def sum_of(rows):
    flat = []
    for row in rows:
        flat.extend(row)
    return flat


def decode(ids, merges):
    tokens = vocabulary(merges)
    data = []
    for number in ids:
        if number < 0:
            raise ValueError(f"{number} is negative")
        try:
            data.append(tokens[number])
        except IndexError:
            raise ValueError(f"{number} is too large")
    return b"".join(data).decode("utf-8", errors="replace")


REFLECT_MERGES_OF_GPT2 = 50000
REFLECT_LONGEST_TOKEN_OF_10_MERGES = 1024
