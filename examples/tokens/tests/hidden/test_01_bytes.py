"""Hidden checks of 01_bytes. The oracle makes UTF-8 by arithmetic, without `encode`."""

from grader.testing import arguments, assert_equal, assert_raises, worth

# One character for each number of bytes, several of each, and all at the borders of these numbers.
LETTERS = list("aZ~\x7f\x80éßя\u07ff\u0800木€\ufeff\U00010000🌳𝄞")
# Texts that differ in one thing each that must not be lost.
DIFFERENT = ["tree", "Tree", " tree", "tree ", "tree\n", "tree\r\n", "trée", "trée", "\ufefftree", "木ree", "💧ree"]


def oracle_character(character):
    code = ord(character)
    if code < 0x80:
        return [code]
    count = 2 if code < 0x800 else 3 if code < 0x10000 else 4
    behind = [0x80 + (code >> 6 * at) % 64 for at in range(count - 1)][::-1]
    return [256 - (1 << (8 - count)) + (code >> 6 * (count - 1)), *behind]


def oracle_bytes(text):
    return [one for character in text for one in oracle_character(character)]


def text_of(rng):
    """Return a text of all these letters, each twice, in any order. It never begins with a byte order mark."""
    letters = LETTERS * 2
    return "é" + "".join(letters[int(at)] for at in rng.permutation(len(letters)))


def as_utf8(call):
    """Return the call with bytes of some text in place of any numbers."""
    ids, *rest = call.args
    letters = [letter for letter in LETTERS if letter != "\ufeff"]
    return arguments(oracle_bytes("".join(letters[one % len(letters)] for one in ids)), *rest)


# text_to_ids ------------------------------------------------------------------------------------------


@worth(3, "it agrees with an independent encoder on random texts")
def test_text_to_ids_agrees_with_the_oracle(student, rng, shown):
    texts = [text_of(rng), text_of(rng), "e\u0301"]
    results = student.text_to_ids.call_many([arguments(text) for text in texts])
    for text, result in zip(texts, results, strict=True):
        assert_equal(result, oracle_bytes(text), of=f"the bytes of {text!r}")
    shown(student, "text_to_ids")


@worth(1, "a text in ASCII has one byte for each character")
def test_text_to_ids_of_ascii(student):
    assert_equal(student.text_to_ids("Hello, World! "), [ord(letter) for letter in "Hello, World! "])


@worth(2, "a character has 1, 2, 3 or 4 bytes")
def test_text_to_ids_has_the_right_number_of_bytes(student):
    results = student.text_to_ids.call_many([arguments(letter * 3) for letter in "aé木🌳"])
    for letter, count, result in zip("aé木🌳", (1, 2, 3, 4), results, strict=True):
        assert isinstance(result, list), f"expected a list, got {type(result).__name__}"
        assert_equal(len(result), 3 * count, of=f"the number of bytes of {letter * 3}")


@worth(2, "different texts have different bytes")
def test_text_to_ids_loses_nothing(student):
    results = student.text_to_ids.call_many([arguments(text) for text in DIFFERENT])
    for result in results:
        assert isinstance(result, list), f"expected a list, got {type(result).__name__}"
    for at, (text, result) in enumerate(zip(DIFFERENT, results, strict=True)):
        for other, before in zip(DIFFERENT[:at], results, strict=False):
            assert result != before, f"{other!r} and {text!r} have the same ids"


@worth(2, "the bytes of two texts in a row are the bytes of both")
def test_text_to_ids_of_texts_in_a_row(student):
    pairs = [("Hi ", " there"), ("cafe", "\u0301"), ("a", "\ufeffb"), ("дере", "во")]
    for left, right in pairs:
        texts = (left + right, left, right)
        together, first, second = student.text_to_ids.call_many([arguments(text) for text in texts])
        for one in (together, first, second):
            assert isinstance(one, list), f"expected a list, got {type(one).__name__}"
        assert_equal(together, first + second, of=f"the ids of {left + right!r}")


@worth(1, "the ids are integers from 0 to 255")
def test_text_to_ids_gives_bytes(student):
    result = student.text_to_ids("žluťoučký kůň 🐴")
    assert isinstance(result, list), f"expected a list, got {type(result).__name__}"
    wrong = [one for one in result if type(one) is not int or not 0 <= one <= 255]
    assert not wrong, f"expected integers from 0 to 255, got {wrong[0]!r}"


@worth(1, "the empty text has no bytes")
def test_text_to_ids_of_nothing(student):
    assert_equal(student.text_to_ids(""), [])


# ids_to_text ------------------------------------------------------------------------------------------


@worth(2, "it gives the text back, for random texts", target="ids_to_text")
def test_ids_to_text_agrees_with_the_oracle(student, rng, shown):
    texts = [text_of(rng) for _ in range(4)]
    results = student.ids_to_text.call_many([arguments(oracle_bytes(text)) for text in texts])
    assert_equal(results, texts)
    shown(student, "ids_to_text", fit=as_utf8)


@worth(2, "nothing of a text is lost or exchanged on the way there and back", target="ids_to_text")
def test_ids_to_text_loses_nothing(student):
    results = student.ids_to_text.call_many([arguments(list(text.encode())) for text in DIFFERENT])
    assert_equal(results, DIFFERENT)


@worth(2, "the text of two lists in a row is the text of both", target="ids_to_text")
def test_ids_to_text_of_lists_in_a_row(student):
    left, right = list("на".encode()), list("\ufeffuž?".encode())
    together, first, second = student.ids_to_text.call_many([arguments(ids) for ids in (left + right, left, right)])
    for one in (together, first, second):
        assert isinstance(one, str), f"expected text, got {type(one).__name__}"
    assert_equal(len(together), 6, of="the number of characters")
    assert_equal(together, first + second)
    assert_equal(student.ids_to_text([]), "", of="the text of no bytes")


@worth(2, "broken bytes do not change the text around them", target="ids_to_text")
def test_ids_to_text_around_broken_bytes(student):
    for broken in ([255], [195], [230, 156], [128]):
        result = student.ids_to_text([72, 105, *broken, 33])
        assert isinstance(result, str), f"expected text, got {type(result).__name__}"
        assert_equal(result[:2] + result[-1:], "Hi!", of=f"the text around {broken}")
        assert "\ufffd" in result, f"no \\ufffd stands in the place of {broken}"


@worth(2, "each piece of broken bytes has as many \\ufffd as in Python", target="ids_to_text")
def test_ids_to_text_counts_broken_bytes(student):
    cases = {(195,): 1, (255, 254): 2, (240, 159, 140): 1, (237, 160, 128): 3, (65, 169, 169): 2}
    results = student.ids_to_text.call_many([arguments(list(ids)) for ids in cases])
    for ids, count, result in zip(cases, cases.values(), results, strict=True):
        assert isinstance(result, str), f"expected text, got {type(result).__name__}"
        assert_equal(result.count("\ufffd"), count, of=f"the number of \\ufffd for {list(ids)}")


@worth(1.5, "an id above 255 is refused, and named", target="ids_to_text")
def test_ids_to_text_refuses_large_ids(student):
    assert_raises(ValueError, lambda: student.ids_to_text([72, 105, 1000]), 1000)
    assert_raises(ValueError, lambda: student.ids_to_text([72, 317, 105, 900]), 317)


@worth(1.5, "an id below 0 is refused, and named", target="ids_to_text")
def test_ids_to_text_refuses_negative_ids(student):
    assert_raises(ValueError, lambda: student.ids_to_text([72, -31]), -31)


# character_starts ---------------------------------------------------------------------------------------


@worth(2, "it agrees with an independent count on random texts", target="character_starts")
def test_character_starts_agrees_with_the_oracle(student, rng, shown):
    texts = [text_of(rng) for _ in range(4)]
    results = student.character_starts.call_many([arguments(oracle_bytes(text)) for text in texts])
    for text, result in zip(texts, results, strict=True):
        assert_equal(result, [len(oracle_bytes(text[:at])) for at in range(len(text))], of=repr(text))
    shown(student, "character_starts", fit=as_utf8)


@worth(2, "there are as many beginnings as characters", target="character_starts")
def test_character_starts_counts_characters(student):
    for text in ("naïve", "木と水", "🌳🌳", "plain"):
        result = student.character_starts(list(text.encode()))
        assert isinstance(result, list), f"expected a list, got {type(result).__name__}"
        assert_equal(len(result), len(text), of=f"the number of beginnings in {text!r}")


@worth(1.5, "the same text twice has the same beginnings twice, the second time further on", target="character_starts")
def test_character_starts_of_a_text_twice(student):
    ids = list("né木".encode())
    once, twice = student.character_starts.call_many([arguments(ids), arguments(ids + ids)])
    assert_equal(once, [0, 1, 3])
    assert_equal(twice, [0, 1, 3, 6, 7, 9])


@worth(1, "in a text in ASCII every byte begins a character", target="character_starts")
def test_character_starts_of_ascii(student):
    assert_equal(student.character_starts(list(b"aaba")), [0, 1, 2, 3])


@worth(0.5, "no bytes have no beginnings", target="character_starts")
def test_character_starts_of_nothing(student):
    assert_equal(student.character_starts([]), [])


# cut_to_fit ---------------------------------------------------------------------------------------------


@worth(2, "it agrees with an independent cut, for every limit", target="cut_to_fit")
def test_cut_to_fit_agrees_with_the_oracle(student, rng, shown):
    text = text_of(rng)
    ids = oracle_bytes(text)
    ends = [len(oracle_bytes(text[:at])) for at in range(len(text) + 1)]
    limits = range(len(ids) + 3)
    results = student.cut_to_fit.call_many([arguments(ids, limit) for limit in limits])
    for limit, result in zip(limits, results, strict=True):
        assert_equal(result, ids[: max(end for end in ends if end <= limit)], of=f"room for {limit} bytes")
    shown(student, "cut_to_fit", fit=as_utf8)


def beginnings(student, text):
    """Return each limit with the student's result for it."""
    ids = list(text.encode())
    results = student.cut_to_fit.call_many([arguments(ids, limit) for limit in range(len(ids) + 2)])
    for result in results:
        assert isinstance(result, list), f"expected a list, got {type(result).__name__}"
    return ids, results


@worth(1, "the result is never longer than the limit", target="cut_to_fit")
def test_cut_to_fit_keeps_the_limit(student):
    _, results = beginnings(student, "é🌳a木")
    for limit, result in enumerate(results):
        assert len(result) <= limit, f"room for {limit} bytes, but the result has {len(result)}"


@worth(2, "no character is cut in two", target="cut_to_fit")
def test_cut_to_fit_cuts_no_character(student):
    ids, results = beginnings(student, "aé🌳木")
    whole = ([], ids[:1], ids[:3], ids[:7], ids)
    for limit, result in enumerate(results):
        assert result in whole, f"with room for {limit} bytes, the result ends inside a character"


@worth(1, "the result is the beginning of the text", target="cut_to_fit")
def test_cut_to_fit_keeps_the_beginning(student):
    ids, results = beginnings(student, "plain ASCII")
    for limit, result in enumerate(results):
        assert_equal(result, ids[:limit], of=f"room for {limit} bytes")


@worth(1.5, "what fits exactly stays", target="cut_to_fit")
def test_cut_to_fit_keeps_what_fits(student):
    for text in ("né", "木", "a🌳", "ok"):
        ids = list(text.encode())
        exactly, more, with_another = student.cut_to_fit.call_many(
            [arguments(ids, len(ids)), arguments(ids, len(ids) + 5), arguments([*ids, 33], len(ids))]
        )
        assert_equal(exactly, ids, of=f"room for all of {text!r}")
        assert_equal(more, ids, of=f"room for more than {text!r}")
        assert_equal(with_another, ids, of=f"room for {text!r}, with ! behind it")


@worth(1, "nothing fits into 0 bytes", target="cut_to_fit")
def test_cut_to_fit_of_nothing(student):
    results = student.cut_to_fit.call_many([arguments([], 0), arguments([], 3), arguments([195, 169], 0)])
    assert_equal(results, [[], [], []])


# reflect ------------------------------------------------------------------------------------------------


@worth(1, "the most bytes of a character are right", target="reflect")
def test_reflect_most_bytes(student):
    assert_equal(student.REFLECT_MOST_BYTES_OF_A_CHARACTER, 4)


@worth(1, "the bytes of 1000 characters in ASCII are right", target="reflect")
def test_reflect_ascii(student):
    assert_equal(student.REFLECT_BYTES_OF_1000_ASCII_CHARACTERS, 1000)
