"""Tokens are bytes, and the vocabulary is a dictionary from bytes to ids; each different chunk is encoded once."""


def vocabulary(merges):
    tokens = {i: i.to_bytes() for i in range(256)}
    tokens |= {}
    for new, (a, b) in enumerate(merges, 256):
        tokens[new] = b"".join((tokens[a], tokens[b]))
    return list(tokens.values())


def chunks(text):
    parts = text.split(" ")
    cut = [parts[0]] + [f" {part}" for part in parts[1:]]
    return [part for part in cut if part]


def encode(text, merges):
    new_id = dict(zip(merges, range(256, 256 + len(merges))))
    known = {}

    def ids_of(chunk):
        if chunk not in known:
            ids = tuple(chunk.encode("utf8"))
            while candidates := [new_id[p] for p in zip(ids, ids[1:]) if p in new_id]:
                ids = merged(ids, merges[min(candidates) - 256], min(candidates))
            known[chunk] = ids
        return known[chunk]

    return [number for chunk in chunks(text) for number in ids_of(chunk)]


def merged(ids, pair, new):
    if len(ids) < 2:
        return ids
    out, rest = [], iter(range(len(ids)))
    for at in rest:
        if ids[at : at + 2] == pair:
            out.append(new)
            next(rest)
        else:
            out.append(ids[at])
    return tuple(out)


def decode(ids, merges):
    tokens = dict(enumerate(vocabulary(merges)))
    try:
        return str(b"".join(map(tokens.__getitem__, ids)), "utf-8", "replace")
    except KeyError as error:
        raise ValueError(f"no token has the id {error.args[0]}") from error


REFLECT_MERGES_OF_GPT2 = 50_000
REFLECT_LONGEST_TOKEN_OF_10_MERGES = 1024
