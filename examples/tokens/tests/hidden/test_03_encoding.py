"""Hidden checks of 03_encoding. Their oracle merges by replacing characters in a string, one for each id."""

from collections import Counter

from grader.testing import arguments, assert_equal, assert_raises, worth

WORDS = ("that", "thing", "they", "think", "then", "naïve", "the\nend", "tea")


def oracle_chunks(text):
    return [chunk for chunk in text.replace(" ", "\0 ").split("\0") if chunk]


def oracle_encode(text, merges):
    ids = []
    for chunk in oracle_chunks(text):
        row = "".join(map(chr, chunk.encode("utf-8")))
        for number, (first, second) in enumerate(merges, start=256):
            row = row.replace(chr(first) + chr(second), chr(number))
        ids += map(ord, row)
    return ids


def learned(text, count):
    """Return up to `count` merges that the text has, the most frequent pair first."""
    merges = []
    while len(merges) < count:
        rows = [oracle_encode(chunk, merges) for chunk in oracle_chunks(text)]
        pairs = Counter(pair for row in rows for pair in zip(row, row[1:], strict=False))
        if not pairs:
            break
        merges.append(min(pairs, key=lambda pair: (-pairs[pair], pair)))
    return merges


def made_up(pairs):
    """Return a table of as many merges, whose parts exist before them."""
    return [((7 * abs(a) + 97) % 256, (50 * abs(b) + number) % (256 + number)) for number, (a, b) in enumerate(pairs)]


def with_made_up_merges(call):
    return arguments(made_up(*call.args))


def with_learned_merges(call):
    text, merges = call.args
    return arguments(text, learned(text, len(merges)))


def with_known_ids(call):
    ids, merges = call.args
    table = made_up(merges)
    return arguments([number % (256 + len(table)) for number in ids], table)


def list_of(kind, value):
    """Return the student's list of texts or bytes, or fail."""
    assert type(value) is list, f"the result is a {type(value).__name__}, and not a list"
    assert all(type(item) is kind for item in value), f"an item of the list is not {kind.__name__}"
    return value


def letters(rng, count):
    """Return the numbers of different letters."""
    return rng.permutation(range(97, 123))[:count].tolist()


def text_of(*numbers):
    return "".join(map(chr, numbers))


# vocabulary ---------------------------------------------------------------------------------------------


@worth(2.5, "the vocabulary is right for any table of merges", target="vocabulary")
def test_vocabulary_of_other_merges(student, shown):
    shown(student, "vocabulary", fit=with_made_up_merges)


@worth(1.5, "the first 256 entries are the single bytes, with and without merges", target="vocabulary")
def test_vocabulary_begins_with_single_bytes(student, rng):
    a, b = letters(rng, 2)
    singles = [bytes([number]) for number in range(256)]
    for merges in ([], [(a, b)]):
        assert_equal(list_of(bytes, student.vocabulary(merges))[:256], singles, of="the first 256 entries")


@worth(1.5, "the bytes of a merged id are those of its two parts, in their order", target="vocabulary")
def test_vocabulary_joins_two_parts(student, rng):
    a, b, c = letters(rng, 3)
    tokens = list_of(bytes, student.vocabulary([(a, b), (256, c), (257, 256), (200, 258)]))
    expected = [bytes([a, b]), bytes([a, b, c]), bytes([a, b, c, a, b]), bytes([200, a, b, c, a, b])]
    assert_equal(tokens[-4:], expected, of="the last four entries")


# chunks -------------------------------------------------------------------------------------------------


@worth(1, "the chunks of other texts are right", target="chunks")
def test_chunks_of_other_texts(student, shown):
    shown(student, "chunks")


@worth(1.5, "the chunks, joined, are the text", target="chunks")
def test_chunks_lose_nothing(student, rng):
    for text in ("  ".join(rng.permutation(WORDS).tolist()), " a ", "a\tb\nc", "   "):
        assert_equal("".join(list_of(str, student.chunks(text))), text, of="the chunks, joined")


@worth(
    1.5, "a chunk has a space only at its beginning, and only the first chunk may begin without one", target="chunks"
)
def test_chunks_begin_at_spaces(student, rng):
    text = " ".join(rng.permutation(WORDS).tolist())
    found = list_of(str, student.chunks(text))
    assert_equal(len(found), len(WORDS), of="the number of chunks")
    assert_equal([chunk.rfind(" ") for chunk in found], [-1] + [0] * (len(WORDS) - 1), of="where the last spaces are")


@worth(0.5, "every space begins a chunk of its own, also where several follow each other", target="chunks")
def test_chunks_of_many_spaces(student):
    assert_equal(student.chunks("a   b  "), ["a", " ", " ", " b", " ", " "])


@worth(0.5, "no chunk is empty, and the empty text has none", target="chunks")
def test_chunks_are_not_empty(student):
    assert_equal(student.chunks.call_many([arguments(""), arguments(" a")]), [[], [" a"]])


# encode -------------------------------------------------------------------------------------------------


@worth(4, "the ids of random texts are those of an independent encoder", target="encode")
def test_encode_agrees_with_the_oracle(student, rng, shown):
    text = " ".join(rng.permutation(WORDS * 3).tolist())
    for count in (1, 5, 30):
        merges = learned(text, count)
        assert_equal(student.encode(text, merges), oracle_encode(text, merges), of=f"with {count} merges")
    shown(student, "encode", fit=with_learned_merges)


@worth(2.5, "of two pairs that overlap, the one that was learned first is merged", target="encode")
def test_encode_takes_the_earliest_merge(student, rng):
    a, b, c = letters(rng, 3)
    merges = [(b, c), (a, b), (257, c)]
    calls = [arguments(text_of(a, b, c), merges), arguments(text_of(a, b, c), merges[1:2] + merges[:1])]
    assert_equal(student.encode.call_many(calls), [[a, 256], [256, c]])


@worth(1.5, "a merged id can be merged again", target="encode")
def test_encode_merges_again(student, rng):
    a, b = letters(rng, 2)
    merges = [(a, b), (256, 256), (257, 256)]
    assert_equal(student.encode(text_of(a, b) * 3, merges), [258])


@worth(1.5, "a pair is merged everywhere in a chunk, from left to right", target="encode")
def test_encode_merges_everywhere(student, rng):
    a, b, c = letters(rng, 3)
    texts = [text_of(a, b, c, a, b, c, a, b), text_of(a, a, a, c, a, a), text_of(a, a, a, a, a)]
    found = student.encode.call_many([arguments(text, [(a, b), (a, a)]) for text in texts])
    assert_equal(found, [[256, c, 256, c, 256], [257, a, c, 257], [257, 257, a]])


@worth(1.5, "a merge never reaches from one chunk into the next", target="encode")
def test_encode_keeps_chunks_apart(student, rng):
    a, b = letters(rng, 2)
    merges = [(a, 32), (32, 32), (32, b)]
    found = student.encode.call_many([arguments(text_of(a, 32, b), merges), arguments(text_of(a, 32, 32, a), merges)])
    assert_equal(found, [[a, 258], [a, 32, 32, a]])


@worth(1, "the ids of a text are those of its chunks, in a row", target="encode")
def test_encode_takes_each_chunk_alone(student, rng):
    across = [(word.encode()[-1], 32) for word in dict.fromkeys(WORDS)]
    text = " ".join(rng.permutation(WORDS).tolist())
    calls = [arguments(one, [*across, (116, 104)]) for one in (text, *oracle_chunks(text))]
    together, *alone = student.encode.call_many(calls)
    assert_equal(together, [number for ids in alone for number in list_of(int, ids)])


@worth(1.5, "without merges, the ids are the bytes in UTF-8", target="encode")
def test_encode_without_merges(student):
    for text in ("naïve", "日本 語", "👋🏽 hi", "a\n\tb"):
        assert_equal(student.encode(text, []), list(text.encode("utf-8")), of=f"the ids of {text!r}")


@worth(1, "the parts of a character in UTF-8 can be merged", target="encode")
def test_encode_merges_parts_of_characters(student):
    assert_equal(student.encode("ééa", [(195, 169), (169, 195), (256, 97)]), [256, 258])


@worth(0.5, "the empty text and a single byte have ids", target="encode")
def test_encode_of_almost_nothing(student, rng):
    (a,) = letters(rng, 1)
    calls = [arguments("", []), arguments("", [(a, a)]), arguments(chr(a), [(a, a)]), arguments(" ", [])]
    assert_equal(student.encode.call_many(calls), [[], [], [a], [32]])


# decode -------------------------------------------------------------------------------------------------


@worth(2.5, "other ids have the right text", target="decode")
def test_decode_of_other_ids(student, shown):
    shown(student, "decode", fit=with_known_ids)


@worth(1.5, "the text of a text's ids is the text itself", target="decode")
def test_decode_gives_the_text_back(student, rng):
    text = " ".join(rng.permutation((*WORDS, "日本", "👋🏽")).tolist())
    for merges in ([], learned(text, 20)):
        assert_equal(student.decode(oracle_encode(text, merges), merges), text)


@worth(1, "a character that is split between two ids is whole again", target="decode")
def test_decode_of_a_split_character(student, rng):
    (a,) = letters(rng, 1)
    merges = [(a, 195), (169, a)]
    assert_equal(student.decode([256, 257], merges), text_of(a) + "é" + text_of(a))


@worth(1, "bytes that are no UTF-8 become replacement characters, also at the end", target="decode")
def test_decode_of_half_a_character(student, rng):
    (a,) = letters(rng, 1)
    found = student.decode.call_many([arguments([a, 195], []), arguments([226, 130], []), arguments([169, a], [])])
    assert_equal(found, [chr(a) + "\ufffd", "\ufffd", "\ufffd" + chr(a)])


@worth(1.5, "an id that is not in the vocabulary raises a ValueError with the id, at any place", target="decode")
def test_decode_refuses_unknown_ids(student, rng):
    number = int(rng.integers(300, 9000))
    assert_raises(ValueError, lambda: student.decode([97, number, 97], [(97, 98)]), number)
    assert_raises(ValueError, lambda: student.decode([257], [(97, 98)]), 257)
    assert_raises(ValueError, lambda: student.decode([-number, 97], []), -number)


@worth(1, "a negative id raises a ValueError with the id", target="decode")
def test_decode_refuses_negative_ids(student, rng):
    number = -int(rng.integers(2, 200))
    assert_raises(ValueError, lambda: student.decode([97, number], []), number)
    assert_raises(ValueError, lambda: student.decode([-1], [(97, 98)]), -1)


@worth(0.5, "the largest id is known, and no ids give the empty text", target="decode")
def test_decode_at_the_limits(student, rng):
    a, b = letters(rng, 2)
    calls = [arguments([256, 0], [(a, b)]), arguments([], [(a, b)]), arguments([], [])]
    assert_equal(student.decode.call_many(calls), [text_of(a, b, 0), "", ""])


# reflect ------------------------------------------------------------------------------------------------


@worth(0.5, "the number of merges of GPT-2 is right", target="reflect")
def test_reflect_merges(student):
    assert_equal(student.REFLECT_MERGES_OF_GPT2, 50000)


@worth(0.5, "the longest token of 10 merges is right", target="reflect")
def test_reflect_longest_token(student):
    assert_equal(student.REFLECT_LONGEST_TOKEN_OF_10_MERGES, 1024)
