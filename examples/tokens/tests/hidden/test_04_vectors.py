"""Hidden checks of 04_vectors. Their oracle takes single numbers with loops."""

import math

import numpy as np

from grader.testing import arguments, array_like, assert_close, assert_dtype, assert_raises, worth


def oracle_look_up(ids, table):
    return np.array([[table[number, column] for column in range(table.shape[1])] for number in ids])


def oracle_sinusoidal(length, width):
    wave = (math.sin, math.cos)
    return np.array(
        [
            [wave[column % 2](place / 10000 ** ((column - column % 2) / width)) for column in range(width)]
            for place in range(length)
        ]
    )


def some_ids(rng):
    """Return ids below 7, with a repeat, not sorted, of which one is 6 and one is 0."""
    return [6, 0, *rng.permutation([1, 2, 3, 3]).tolist()]


# look_up ------------------------------------------------------------------------------------------------


@worth(2.5, "the vectors of random ids are those of an independent look-up", target="look_up")
def test_look_up_agrees_with_the_oracle(student, rng, shown):
    ids, wide, narrow = some_ids(rng), rng.normal(size=(7, 9)), rng.normal(size=(7, 2))
    found = student.look_up.call_many([arguments(ids, wide), arguments(np.array(ids), narrow)])
    assert_close(found[0], oracle_look_up(ids, wide))
    assert_close(found[1], oracle_look_up(ids, narrow), of="with ids in an array")
    shown(student, "look_up")


@worth(1.5, "there is one row for each id, and equal ids have equal rows", target="look_up")
def test_look_up_has_a_row_for_each_id(student, rng):
    table = rng.normal(size=(5, 3))
    rows = array_like(student.look_up([4, 1, 4, 4], table), (4, 3))
    assert_close(rows[2:], np.stack([rows[0], rows[0]]))
    assert_close(rows[1], table[1], of="the row of the id 1")


@worth(1, "in another order, the ids have the same vectors in this order", target="look_up")
def test_look_up_follows_the_order(student, rng):
    table, ids = rng.normal(size=(7, 4)), some_ids(rng)
    there, back = student.look_up.call_many([arguments(ids, table), arguments(ids[::-1], table)])
    assert_close(array_like(back, (6, 4)), array_like(there, (6, 4))[::-1])
    assert_close(there[0], table[6], of="the row of the id 6")


@worth(0.5, "the result has the dtype of the table", target="look_up")
def test_look_up_keeps_the_dtype(student, rng):
    assert_dtype(student.look_up([3, 1], rng.normal(size=(5, 3)).astype(np.float32)), np.float32)


@worth(0.5, "no ids have no rows, and these have the width of the table", target="look_up")
def test_look_up_of_no_ids(student, rng):
    empty, one = student.look_up.call_many([arguments([], rng.normal(size=(5, 3))), arguments([4], np.eye(5))])
    array_like(empty, (0, 3))
    assert_close(one, np.eye(5)[4:])


@worth(0.5, "the first id behind the table raises a ValueError with the id, whatever the width", target="look_up")
def test_look_up_refuses_the_first_id_behind_the_table(student, rng):
    for rows, width in ((12, 12), (12, 13), (30, 2)):
        table = rng.normal(size=(rows, width))
        assert_raises(ValueError, lambda given=(rows, table): student.look_up([given[0]], given[1]), rows)


@worth(1, "an id that the table does not have raises a ValueError with the id, at any place", target="look_up")
def test_look_up_refuses_unknown_ids(student, rng):
    table, number = rng.normal(size=(7, 20)), int(rng.integers(21, 9000))
    assert_raises(ValueError, lambda: student.look_up([0, number, 1], table), number)
    assert_raises(ValueError, lambda: student.look_up([7], table), 7)
    assert_raises(ValueError, lambda: student.look_up(np.array([1, -number]), table), -number)


@worth(1, "a negative id raises a ValueError with the id", target="look_up")
def test_look_up_refuses_negative_ids(student, rng):
    for number in (-1, -7):
        assert_raises(ValueError, lambda n=number: student.look_up([n, 2], rng.normal(size=(7, 3))), number)


# one_hot ------------------------------------------------------------------------------------------------


@worth(1.5, "one-hot rows, times any table, are the look-up", target="one_hot")
def test_one_hot_times_a_table_is_the_look_up(student, rng):
    ids, table = some_ids(rng), rng.normal(size=(9, 4))
    rows = array_like(student.one_hot(ids, 9), (6, 9))
    assert_close(rows @ table, table[ids])


@worth(1, "every row has the sum 1, and every column counts its id", target="one_hot")
def test_one_hot_sums(student, rng):
    ids = some_ids(rng)
    rows = array_like(student.one_hot(np.array(ids), 8), (6, 8))
    assert_close(rows.sum(axis=1), np.ones(6), of="the sums of the rows")
    assert_close(rows.sum(axis=0), np.bincount(ids, minlength=8).astype(float), of="the sums of the columns")


@worth(0.5, "one-hot rows of other ids are right", target="one_hot")
def test_one_hot_of_other_ids(student, shown):
    shown(student, "one_hot", arguments([2, 5, 1], 30))


@worth(1, "an id without a column raises a ValueError with the id", target="one_hot")
def test_one_hot_refuses_unknown_ids(student, rng):
    number = int(rng.integers(21, 9000))
    assert_raises(ValueError, lambda: student.one_hot([1, number], 20), number)
    assert_raises(ValueError, lambda: student.one_hot([6], 6), 6)
    assert_raises(ValueError, lambda: student.one_hot([0, -5], 6), -5)


@worth(0.5, "a negative id raises a ValueError with the id, also the first one", target="one_hot")
def test_one_hot_refuses_negative_ids(student, rng):
    number = -int(rng.integers(1, 6))
    assert_raises(ValueError, lambda: student.one_hot([number, 0], 6), number)


# sinusoidal ---------------------------------------------------------------------------------------------


@worth(2, "the vectors of positions are those of an independent formula", target="sinusoidal")
def test_sinusoidal_agrees_with_the_oracle(student, rng):
    cases = [(5, 2), (4, 4), (30, 6), (7, 16), (int(rng.integers(40, 60)), 10), (1, 8)]
    for case, found in zip(cases, student.sinusoidal.call_many([arguments(*case) for case in cases]), strict=True):
        assert_close(found, oracle_sinusoidal(*case), of=f"length and width {case}")


@worth(1, "the two columns of a pair are the sine and the cosine of one angle", target="sinusoidal")
def test_sinusoidal_pairs_share_an_angle(student):
    table = array_like(student.sinusoidal(9, 8), (9, 8))
    assert_close(table[:, 0::2] ** 2 + table[:, 1::2] ** 2, np.ones((9, 4)), of="the sum of the squares of each pair")
    assert_close(table[0], np.array([0.0, 1] * 4), of="position 0")


@worth(1, "from one position to the next, pair i turns by 10000^(-2i / width)", target="sinusoidal")
def test_sinusoidal_turns_by_a_fixed_angle(student):
    table = array_like(student.sinusoidal(6, 4), (6, 4))
    turned = table[1:, 0::2] * table[:-1, 1::2] - table[1:, 1::2] * table[:-1, 0::2]
    assert_close(turned, np.tile(np.sin([1, 0.01]), (5, 1)), of="the sines of the turns")


@worth(0.5, "an odd width raises a ValueError that names it", target="sinusoidal")
def test_sinusoidal_refuses_an_odd_width(student, rng):
    width = 2 * int(rng.integers(3, 400)) + 1
    assert_raises(ValueError, lambda: student.sinusoidal(2, width), width)
    assert_raises(ValueError, lambda: student.sinusoidal(50, 5), 5)


@worth(0.5, "a longer table begins like a shorter one", target="sinusoidal")
def test_sinusoidal_does_not_depend_on_the_length(student):
    short, long = student.sinusoidal.call_many([arguments(4, 6), arguments(9, 6)])
    assert_close(array_like(long, (9, 6))[:4], array_like(short, (4, 6)))


# embed --------------------------------------------------------------------------------------------------


@worth(2.5, "the sums are right for random tables", target="embed")
def test_embed_agrees_with_the_oracle(student, rng, shown):
    ids, tokens, positions = some_ids(rng), rng.normal(size=(7, 5)), rng.normal(size=(9, 5))
    expected = oracle_look_up(ids, tokens) + oracle_look_up(range(6), positions)
    assert_close(student.embed(ids, tokens, positions), expected)
    shown(student, "embed")


@worth(1, "with token vectors of 0, the result is the first rows of the position table", target="embed")
def test_embed_of_zero_tokens(student, rng):
    positions = rng.normal(size=(8, 3))
    assert_close(student.embed([2, 0, 2, 1], np.zeros((4, 3)), positions), positions[:4])


@worth(1, "with position vectors of 0, the result is the look-up", target="embed")
def test_embed_of_zero_positions(student, rng):
    tokens = rng.normal(size=(4, 3))
    assert_close(student.embed([2, 0, 2], tokens, np.zeros((8, 3))), tokens[[2, 0, 2]])


@worth(1, "the first id has the same vector, whatever follows it", target="embed")
def test_embed_takes_each_place_alone(student, rng):
    tokens, positions = rng.normal(size=(6, 4)), rng.normal(size=(7, 4))
    calls = [arguments([5, 3, 5, 0][:count], tokens, positions) for count in (1, 2, 4)]
    one, two, four = student.embed.call_many(calls)
    rows = array_like(four, (4, 4))
    assert_close(array_like(one, (1, 4)), rows[:1], of="one id")
    assert_close(array_like(two, (2, 4)), rows[:2], of="two ids")
    assert_close(rows[0] - rows[2], positions[0] - positions[2], of="what the places of equal ids differ by")


@worth(1, "a text that is exactly as long as the position table is right", target="embed")
def test_embed_of_the_full_length(student, rng):
    tokens, positions = rng.normal(size=(6, 4)), rng.normal(size=(3, 4))
    assert_close(student.embed([5, 0, 1], tokens, positions), tokens[[5, 0, 1]] + positions)


@worth(1.5, "a text that is too long raises a ValueError with its length and that of the table", target="embed")
def test_embed_refuses_long_texts(student, rng):
    tokens = rng.normal(size=(6, 4))
    for count, length in ((8, 7), (23, 11), (2, 1)):
        given = [0] * count, tokens, rng.normal(size=(length, 4))
        assert_raises(ValueError, lambda given=given: student.embed(*given), count, length)


@worth(0.5, "a table with one position is not repeated", target="embed")
def test_embed_does_not_repeat_a_position(student, rng):
    given = [1, 2, 3, 4, 5], rng.normal(size=(6, 3)), rng.normal(size=(1, 3))
    assert_raises(ValueError, lambda: student.embed(*given), 5, 1)


@worth(1, "tables of different widths raise a ValueError with both", target="embed")
def test_embed_refuses_different_widths(student, rng):
    for one, other in ((7, 1), (1, 9), (12, 13)):
        given = [0, 1, 2], rng.normal(size=(6, one)), rng.normal(size=(5, other))
        assert_raises(ValueError, lambda given=given: student.embed(*given), one, other)


@worth(0.5, "the width of one table is not repeated", target="embed")
def test_embed_does_not_repeat_a_column(student, rng):
    given = [0], rng.normal(size=(6, 8)), rng.normal(size=(5, 1))
    assert_raises(ValueError, lambda: student.embed(*given), 8, 1)


@worth(0.5, "embed refuses ids that the token table does not have", target="embed")
def test_embed_refuses_unknown_ids(student, rng):
    tokens, positions = rng.normal(size=(6, 4)), rng.normal(size=(9, 4))
    for number in (37, -3):
        assert_raises(ValueError, lambda n=number: student.embed([1, n], tokens, positions), number)


# reflect ------------------------------------------------------------------------------------------------


@worth(0.5, "the bytes of GPT-2's table are right", target="reflect")
def test_reflect_bytes(student):
    assert_close(student.REFLECT_BYTES_OF_GPT2_TABLE, 154389504)


@worth(0.5, "the multiplications of the one-hot product are right", target="reflect")
def test_reflect_multiplications(student):
    assert_close(student.REFLECT_MULTIPLICATIONS_OF_ONE_HOT, 39523713024)
