"""Everything in one line."""

is_start = lambda one: one // 64 != 2  # noqa: E731
text_to_ids = lambda text: [*bytes(text, "utf-8")]  # noqa: E731


def ids_to_text(ids):
    assert_bytes(ids)
    return bytes(ids).decode(errors="replace")


def assert_bytes(ids):
    bad = next((i for i in ids if i < 0 or 255 < i), None)
    if bad is not None:
        raise ValueError(bad)


def character_starts(ids):
    return [at for at, _ in filter(lambda pair: is_start(pair[1]), enumerate(ids))]


def cut_to_fit(ids, limit):
    return ids if len(ids) <= limit else ids[: max(at for at in range(limit + 1) if is_start(ids[at]))]


REFLECT_MOST_BYTES_OF_A_CHARACTER, REFLECT_BYTES_OF_1000_ASCII_CHARACTERS = 4, 1000
