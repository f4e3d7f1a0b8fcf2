"""Hidden suite of 08_positions. Its oracles go entry by entry with `math`, or turn pairs as complex numbers."""

import cmath
import itertools
import math

import numpy as np

from grader.testing import (
    Tolerance,
    arguments,
    array_like,
    assert_close,
    assert_dtype,
    assert_raises,
    derangement,
    draw_until,
    worth,
)

SIN, FREQUENCIES, ROPE = "sinusoidal_positions", "rope_frequencies", "apply_rope"
SLOPES, BIAS = "alibi_slopes", "alibi_bias"
# There are many ways to write base^(-2i/d). They differ by a few rounding errors, and a position multiplies them.
NEAR = Tolerance(1e-9, 1e-10)
# For properties: angles of float32 pass, so that only the checks of precision cost points for them.
ROUGH = Tolerance(1e-4, 2e-5)
# The same as NEAR for positions up to 100000. Angles that are rounded to float32 are off by 1e-3 there.
FAR = Tolerance(1e-7, 1e-7)
# Angles of float32 are off by about 1e-4 at position 1000.
SINGLE = Tolerance(1e-3, 2e-3)
PRINTED = Tolerance(0.0, 6e-5)  # published with four decimals
Q = np.array([[1.0, 0, 1, 0], [0, 2, 0, 1], [1, 1, 1, 0], [0, 0, 1, 1], [1, 0, 0, 1]])
K = np.array([[0, 1, 0, 1], [1, 0, 1, 0], [1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 0.5, 0.5]])


def oracle_angle(position, pair, width, base):
    return position * math.exp(-2 * pair / width * math.log(base))


def oracle_sinusoidal(seq_len, d_model, base=10000.0):
    waves = (math.sin, math.cos)
    return np.array(
        [[waves[j % 2](oracle_angle(pos, j // 2, d_model, base)) for j in range(d_model)] for pos in range(seq_len)]
    )


def oracle_frequencies(head_dim, base=10000.0):
    return np.array([oracle_angle(1, pair, head_dim, base) for pair in range(head_dim // 2)])


def oracle_rope(x, positions, base=10000.0):
    """Multiply each pair, as a complex number, by a number of length 1."""
    width = x.shape[-1]
    turned = np.zeros(x.shape)
    for place, position in enumerate(positions):
        for pair in range(width // 2):
            numbers = x[..., place, 2 * pair] + 1j * x[..., place, 2 * pair + 1]
            numbers = numbers * cmath.rect(1.0, oracle_angle(int(position), pair, width, base))
            turned[..., place, 2 * pair], turned[..., place, 2 * pair + 1] = numbers.real, numbers.imag
    return turned


def oracle_slopes(num_heads):
    """Take the slopes of p heads, then those that 2p heads have and p heads have not."""
    power = max(p for p in (1, 2, 4, 8, 16, 32, 64, 128) if p <= num_heads)
    first = [math.pow(0.5, 8 * k / power) for k in range(1, power + 1)]
    between = [math.pow(0.5, 4 * k / power) for k in range(1, 2 * power + 1) if k % 2]
    return np.array((first + between)[:num_heads])


def oracle_bias(num_heads, n_q, n_k):
    places = [n_k - n_q + i for i in range(n_q)]
    return np.array(
        [[[-slope * abs(place - key) for key in range(n_k)] for place in places] for slope in oracle_slopes(num_heads)]
    )


def signals(student, cases):
    """Call sinusoidal_positions on (seq_len, d_model) or (seq_len, d_model, base), and return finite float64 arrays."""
    values = student.sinusoidal_positions.call_many([arguments(*case) for case in cases])
    return [array_like(v, case[:2], of=f"the signal {case[:2]}") for v, case in zip(values, cases, strict=True)]


def frequencies(student, cases):
    values = student.rope_frequencies.call_many([arguments(*case) for case in cases])
    return [array_like(v, (case[0] // 2,), of=f"head_dim {case[0]}") for v, case in zip(values, cases, strict=True)]


def ropes(student, cases):
    """Call apply_rope on (x, positions) or (x, positions, base) of each case, and return finite float64 arrays."""
    values = student.apply_rope.call_many([arguments(*case) for case in cases])
    return [array_like(v, case[0].shape, of=f"case {i}") for i, (v, case) in enumerate(zip(values, cases, strict=True))]


def slopes_of(student, counts):
    values = student.alibi_slopes.call_many([arguments(count) for count in counts])
    return [array_like(value, (count,), of=f"{count} heads") for count, value in zip(counts, values, strict=True)]


def biases(student, cases):
    values = student.alibi_bias.call_many([arguments(*case) for case in cases])
    return [array_like(value, case, of=f"the bias {case}") for value, case in zip(values, cases, strict=True)]


def mixed_positions(rng, count, highest=40):
    """Return positions with a gap and a repeat, none of them 0, neither sorted nor in the order of their places."""

    def draw(rng):
        drawn = rng.integers(1, highest, size=count)
        drawn[rng.permutation(count)[:2]] = drawn[0]  # at least one repeat
        return drawn

    def shows(drawn):
        rises = np.diff(drawn)
        distinct = len(set(drawn.tolist()))
        return 2 < distinct < count and rises.min() < 0 < rises.max() and (drawn != np.arange(count)).all()

    return draw_until(rng, draw, shows)


def full_pairs(rng, shape):
    """Return random numbers whose pairs all have a length between 1 and 2, so that each pair shows its angle."""
    radius, angle = rng.uniform(1, 2, size=(2, *shape[:-1], shape[-1] // 2))
    angle = 2 * np.pi * angle
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=-1).reshape(shape)


def number(value):
    """Return a student's number of any type as a finite float, or fail."""
    if type(value) is int:
        assert abs(value) < 2**1000, "the number is too large"
    return float(array_like(np.float64(value) if type(value) in (int, float) else value, (), of="the number"))


# sinusoidal_positions -----------------------------------------------------------------------------------


@worth(2, "the signal is right for many lengths, widths and bases", target=SIN)
def test_sinusoidal_agrees_with_the_oracle(student):
    cases = [(1, 2), (5, 4), (7, 6), (3, 16), (40, 10), (6, 8, 100.0), (9, 4, 3.0), (4, 12, 500000.0), (2, 64)]
    for case, value in zip(
        cases, student.sinusoidal_positions.call_many([arguments(*case) for case in cases]), strict=True
    ):
        assert_close(value, oracle_sinusoidal(*case), NEAR, of=f"arguments {case}")


@worth(0.75, "long sequences are exact, beyond the digits of float32", target=SIN)
def test_sinusoidal_of_a_long_sequence(student):
    (signal,) = signals(student, [(4000, 6)])
    for pos in (1023, 3999):
        angles = pos * 10000.0 ** (-np.arange(3) / 3)
        expected = np.stack([np.sin(angles), np.cos(angles)], axis=1).ravel()
        assert_close(signal[pos], expected, FAR, of=f"position {pos}")


@worth(1, "position 0 is 0 in the even columns and 1 in the odd ones", target=SIN)
def test_sinusoidal_begins_at_zero(student):
    for signal in signals(student, [(1, 6), (4, 2), (3, 8, 50.0)]):
        assert_close(signal[0, 0::2], np.zeros(signal.shape[1] // 2), of="even columns of position 0")
        assert_close(signal[0, 1::2], np.ones(signal.shape[1] // 2), of="odd columns of position 0")


@worth(1, "each pair of neighbouring columns has the length 1", target=SIN)
def test_sinusoidal_pairs_have_length_one(student):
    for signal in signals(student, [(12, 8), (5, 6, 10.0), (9, 2)]):
        squares = signal[:, 0::2] ** 2 + signal[:, 1::2] ** 2
        assert_close(squares, np.ones(squares.shape), ROUGH, of="sum of the squares of columns 2i and 2i + 1")


@worth(1.5, "rows that are t positions apart are one fixed linear map apart", target=SIN)
def test_sinusoidal_steps_are_turns(student, rng):
    t = int(rng.integers(2, 6))
    (signal,) = signals(student, [(20, 8)])
    sine, cosine = signal[:, 0::2], signal[:, 1::2]
    assert_close(
        sine[t:], sine[:-t] * cosine[t] + cosine[:-t] * sine[t], ROUGH, of="even columns, from the row t before"
    )
    assert_close(
        cosine[t:], cosine[:-t] * cosine[t] - sine[:-t] * sine[t], ROUGH, of="odd columns, from the row t before"
    )
    assert_close(signal[1, :2], np.array([math.sin(1), math.cos(1)]), ROUGH, of="the first pair of position 1")


@worth(1, "the first pair is the sine and the cosine of the position itself", target=SIN)
def test_sinusoidal_first_pair(student):
    for signal in signals(student, [(6, 2), (9, 10), (4, 6, 77.0)]):
        places = range(len(signal))
        assert_close(signal[:, 0], np.array([math.sin(p) for p in places]), ROUGH, of="column 0")
        assert_close(signal[:, 1], np.array([math.cos(p) for p in places]), ROUGH, of="column 1")


@worth(1, "each pair turns slower than the one before, by the same factor", target=SIN)
def test_sinusoidal_rates(student):
    for width, base, signal in zip(
        (8, 6, 4), (1e4, 1e3, 49.0), signals(student, [(2, 8), (2, 6, 1e3), (2, 4, 49.0)]), strict=True
    ):
        rates = np.arctan2(signal[1, 0::2], signal[1, 1::2])
        factors = np.full(width // 2 - 1, base ** (-2 / width))
        assert_close(rates[0], 1.0, ROUGH, of="the angle of the first pair at position 1")
        assert_close(
            rates[1:], rates[:-1] * factors, ROUGH, of=f"the angles at position 1, d_model {width}, base {base:g}"
        )


@worth(0.75, "the product of two rows depends only on how far apart they are", target=SIN)
def test_sinusoidal_products_of_rows(student):
    (signal,) = signals(student, [(9, 6)])
    products = signal @ signal.T
    assert_close(products[1:, 1:], products[:-1, :-1], ROUGH, of="products of rows one position further")
    assert_close(products[0, :2], np.array([3.0, sum(math.cos(10 ** (-4 * i / 3)) for i in range(3))]), ROUGH)


@worth(0.75, "a longer sequence has the same first rows", target=SIN)
def test_sinusoidal_of_a_beginning(student):
    long, short, one = signals(student, [(11, 6), (4, 6), (1, 6)])
    assert_close(long[:4], short, ROUGH, of="the first 4 of 11 positions")
    assert_close(long[:1], one, ROUGH, of="the first position alone")
    assert_close(long[3, :2], np.array([math.sin(3), math.cos(3)]), ROUGH, of="the first pair of position 3")


@worth(0.75, "base says how slow the last pair is", target=SIN)
def test_sinusoidal_base(student):
    small, large, usual = signals(student, [(3, 4, 100.0), (3, 4, 1e6), (3, 4)])
    for base, signal in ((1e2, small), (1e6, large), (1e4, usual)):
        expected = np.array([math.sin(2 / math.sqrt(base)), math.cos(2 / math.sqrt(base))])
        assert_close(signal[2, 2:], expected, ROUGH, of=f"the second pair of position 2, base {base:g}")


@worth(0.5, "a seq_len below 1 raises a ValueError that names it", target=SIN)
def test_sinusoidal_refuses_no_tokens(student, rng):
    for n in (0, -1, -int(rng.integers(3, 30))):
        assert_raises(ValueError, lambda n=n: student.sinusoidal_positions(n, 64), n)


@worth(0.5, "an odd d_model raises a ValueError that names it", target=SIN)
def test_sinusoidal_refuses_odd_widths(student, rng):
    for width in (1, 7, 2 * int(rng.integers(10, 30)) + 1):
        assert_raises(ValueError, lambda width=width: student.sinusoidal_positions(2, width), width)


@worth(0.5, "the signal does not depend on earlier calls, and keyword arguments work", target=SIN)
def test_sinusoidal_does_not_remember(student):
    calls = [arguments(3, 4), arguments(6, 8, 10.0), arguments(3, 4, 49.0), arguments(seq_len=3, d_model=4)]
    calls += [arguments(6, d_model=8, base=10.0), arguments(3, 4, base=49.0)]
    shapes = [(3, 4), (6, 8), (3, 4)] * 2
    values = [array_like(v, s) for v, s in zip(student.sinusoidal_positions.call_many(calls), shapes, strict=True)]
    for place, of in enumerate(("the first call", "the second call", "the third call")):
        assert_close(values[3 + place], values[place], ROUGH, of=f"{of} again, with keyword arguments")
    assert_close(values[1][1, 2], math.sin(10**-0.25), ROUGH, of="column 2 of position 1, with base 10")
    assert_close(values[2][1, 2], math.sin(1 / 7), ROUGH, of="column 2 of position 1, with base 49")


@worth(0.5, "sinusoidal_positions returns float64", target=SIN)
def test_sinusoidal_dtype(student):
    for value in student.sinusoidal_positions.call_many([arguments(3, 4), arguments(1, 2), arguments(2, 6, 100.0)]):
        assert_dtype(value, np.float64)


# rope_frequencies ---------------------------------------------------------------------------------------


@worth(1.5, "the frequencies are right for many widths and bases", target=FREQUENCIES)
def test_frequencies_agree_with_the_oracle(student):
    cases = [(2,), (4,), (6,), (10,), (64,), (128,), (8, 100.0), (6, 500000.0), (4, 2.0)]
    values = student.rope_frequencies.call_many([arguments(*case) for case in cases])
    for case, value in zip(cases, values, strict=True):
        assert_close(value, oracle_frequencies(*case), NEAR, of=f"arguments {case}")


@worth(1, "the first frequency is 1, and each following one is smaller by the same factor", target=FREQUENCIES)
def test_frequencies_fall_by_one_factor(student):
    for (width, base), found in zip(
        [(8, 1e4), (6, 50.0), (2, 1e4)], frequencies(student, [(8,), (6, 50.0), (2,)]), strict=True
    ):
        assert_close(found[0], 1.0, NEAR, of="the first frequency")
        assert_close(found[1:], found[:-1] * base ** (-2 / width), NEAR, of="each frequency, from the one before")


@worth(0.75, "the next frequency after the last would be 1/base", target=FREQUENCIES)
def test_frequencies_end_before_the_base(student):
    for base, found in zip((1e4, 64.0), frequencies(student, [(4,), (6, 64.0)]), strict=True):
        assert_close(found[-1] * found[1] / found[0], 1 / base, ROUGH, of="the last frequency times the common factor")


@worth(0.75, "every other frequency for twice the width is a frequency for the width", target=FREQUENCIES)
def test_frequencies_of_twice_the_width(student):
    narrow, wide = frequencies(student, [(6,), (12,)])
    assert_close(wide[::2], narrow, ROUGH, of="every other frequency for head_dim 12")
    assert_close(wide[3], 0.01, ROUGH, of="the frequency in the middle")


@worth(0.75, "the square of the base gives the squares of the frequencies", target=FREQUENCIES)
def test_frequencies_base(student):
    plain, squared = frequencies(student, [(8, 30.0), (8, 900.0)])
    assert_close(squared, plain**2, ROUGH, of="base 900, compared with base 30")
    assert_close(plain[2], 30.0**-0.5, ROUGH, of="the third of four frequencies for base 30")


@worth(0.5, "an odd head_dim raises a ValueError that names it", target=FREQUENCIES)
def test_frequencies_refuse_odd_widths(student, rng):
    for width in (1, 5, 2 * int(rng.integers(10, 30)) + 1):
        assert_raises(ValueError, lambda width=width: student.rope_frequencies(width), width)


@worth(0.25, "the frequencies do not depend on earlier calls, and keyword arguments work", target=FREQUENCIES)
def test_frequencies_do_not_remember(student):
    calls = [arguments(4), arguments(8, 10.0), arguments(head_dim=4), arguments(head_dim=8, base=10.0)]
    first, other, again, other_again = student.rope_frequencies.call_many(calls)
    first, other = array_like(first, (2,)), array_like(other, (4,))
    assert_close(again, first, ROUGH, of="the first call again")
    assert_close(other_again, other, ROUGH, of="the second call again, with keyword arguments")
    assert_close(other[2], 10**-0.5, ROUGH, of="the third of four frequencies for base 10")


@worth(0.25, "rope_frequencies returns float64", target=FREQUENCIES)
def test_frequencies_dtype(student):
    for value in student.rope_frequencies.call_many([arguments(4), arguments(2), arguments(6, 100.0)]):
        assert_dtype(value, np.float64)


# apply_rope ---------------------------------------------------------------------------------------------


@worth(3, "apply_rope is right for many shapes, positions and bases", target=ROPE)
def test_rope_agrees_with_the_oracle(student, rng, shown):
    shapes = [(5, 4), (1, 2), (3, 6), (2, 4, 8), (4, 4, 4), (2, 3, 5, 6), (2, 2, 1, 3, 10)]
    cases = [(rng.normal(size=shape), rng.integers(0, 50, size=shape[-2])) for shape in shapes]
    cases += [(rng.normal(size=(4, 6)), [7, 0, 3, 3]), (rng.normal(size=(3, 8)), np.array([2, 1, 9]), 100.0)]
    values = student.apply_rope.call_many([arguments(*case) for case in cases])
    for case, value in zip(cases, values, strict=True):
        assert_close(value, oracle_rope(*case), NEAR, of=f"x {case[0].shape}")
    seen = [arguments(Q, np.arange(5)), arguments(Q, [0] * 5), arguments(Q[1:2], np.array([1])), arguments(Q[1:2], [0])]
    shown(student, ROPE, *seen, where=lambda call: call.args[0].dtype == np.float64, tolerance=NEAR)


@worth(
    2, "the product of a turned query and a turned key depends only on the difference of their positions", target=ROPE
)
def test_rope_products_depend_on_the_difference(student, rng):
    q, k = full_pairs(rng, (1, 8)), full_pairs(rng, (1, 8))
    at = [(3, 1), (5, 3), (20, 18), (2, 0)]
    turned = ropes(student, [pair for m, n in at for pair in ((q, [m]), (k, [n]))])
    products = [float((a * b).sum()) for a, b in zip(turned[0::2], turned[1::2], strict=True)]
    expected = complex_product(q[0], k[0], 2)
    for (m, n), product in zip(at, products, strict=True):
        assert_close(product, expected, ROUGH, of=f"the product at positions {m} and {n}")
    ahead, behind = ropes(student, [(k, [4]), (k, [0])])
    (middle,) = ropes(student, [(q, [2])])
    assert_close((middle * ahead).sum(), complex_product(q[0], k[0], -2), ROUGH, of="the key two positions ahead")
    assert_close((middle * behind).sum(), expected, ROUGH, of="the key two positions behind")


def complex_product(q, k, difference):
    """Return the product of q and k when the query is `difference` positions ahead."""
    width = len(q)
    pairs = (q[0::2] + 1j * q[1::2]) * (k[0::2] - 1j * k[1::2])
    return float((pairs * np.exp(1j * difference * 10000.0 ** (-np.arange(0, width, 2) / width))).sum().real)


@worth(1.25, "the length of every pair stays the same", target=ROPE)
def test_rope_keeps_lengths(student, rng):
    cases = [(full_pairs(rng, (6, 8)), [12, 3, 3, 7, 25, 1]), (full_pairs(rng, (2, 7, 10)), [4, 9, 2, 2, 11, 30, 1])]
    for (x, _), turned in zip(cases, ropes(student, cases), strict=True):
        before, after = x[..., 0::2] ** 2 + x[..., 1::2] ** 2, turned[..., 0::2] ** 2 + turned[..., 1::2] ** 2
        assert_close(after, before, ROUGH, of="the square of the length of each pair")
        assert np.abs(turned - x).max(axis=-1).min() > 1e-3, "a token at another position than 0 was not turned"


@worth(1, "position 0 changes nothing", target=ROPE)
def test_rope_at_position_zero_is_the_same(student, rng):
    x = rng.normal(size=(4, 6))
    zeros, mixed, deep = ropes(
        student, [(x, np.zeros(4, dtype=int)), (x, [3, 0, 8, 0]), (rng.normal(size=(2, 1, 4)), [1])]
    )
    assert_close(zeros, x, of="all positions 0")
    assert_close(mixed[[1, 3]], x[[1, 3]], of="two tokens at position 0")
    assert np.abs(mixed[[0, 2]] - x[[0, 2]]).max() > 1e-3, "the tokens at positions 3 and 8 were not turned"
    assert np.isfinite(deep).all()


@worth(1.25, "a pair (1, 0) at position p becomes the cosine and the sine of its angle", target=ROPE)
def test_rope_of_unit_pairs(student):
    x = np.tile(np.array([1.0, 0.0]), (3, 3))  # (3, 6)
    y = np.tile(np.array([0.0, 1.0]), (3, 3))
    places = [1, 2, 30]
    ones, others = ropes(student, [(x, places), (y, places)])
    for row, position in enumerate(places):
        angles = [position * 10000 ** (-pair / 3) for pair in range(3)]
        expected = np.array([wave(angle) for angle in angles for wave in (math.cos, math.sin)])
        assert_close(ones[row], expected, ROUGH, of=f"(1, 0) at position {position}")
        turned = np.array([part for angle in angles for part in (-math.sin(angle), math.cos(angle))])
        assert_close(others[row], turned, ROUGH, of=f"(0, 1) at position {position}")


@worth(1.25, "each pair is turned alone: features 2i and 2i + 1 do not reach other features", target=ROPE)
def test_rope_pairs_do_not_mix(student, rng):
    x = full_pairs(rng, (3, 8))
    alone = [x * (np.arange(8) // 2 == pair) for pair in range(4)]
    positions = [5, 11, 2]
    together, *turned = ropes(student, [(x, positions), *((one, positions) for one in alone)])
    for pair, found in enumerate(turned):
        assert_close(found * (np.arange(8) // 2 != pair), np.zeros((3, 8)), of=f"the features outside of pair {pair}")
    assert_close(sum(turned), together, ROUGH, of="the sum of the four pairs")
    moved = np.abs(turned[0] - alone[0]).max()
    assert moved > 0.1, "the first pair was not turned"


@worth(1, "pair i turns by frequency i for each position", target=ROPE)
def test_rope_speeds(student, rng):
    x = full_pairs(rng, (2, 8))
    one, two = ropes(student, [(x, [1, 1]), (x, [2, 2])])
    for steps, turned in ((1, one), (2, two)):
        ratio = (turned[:, 0::2] + 1j * turned[:, 1::2]) / (x[:, 0::2] + 1j * x[:, 1::2])
        expected = np.tile(steps * np.array([1, 0.1, 0.01, 0.001]), (2, 1))
        assert_close(np.angle(ratio), expected, ROUGH, of=f"the angle of each pair at position {steps}")


@worth(1.25, "turning by m and then by n is turning by m + n", target=ROPE)
def test_rope_turns_add_up(student, rng):
    x = full_pairs(rng, (5, 6))
    m, n = np.array([5, 1, 9, 2, 7]), np.array([3, 8, 1, 30, 4])
    (once,) = ropes(student, [(x, m)])
    twice, sums = ropes(student, [(once, n), (x, m + n)])
    assert_close(twice, sums, ROUGH)
    assert np.abs(once - x).max(axis=-1).min() > 1e-3, "a token at another position than 0 was not turned"


@worth(1.5, "positions may be in any order, with repeats and gaps: each token turns by its own", target=ROPE)
def test_rope_tokens_are_turned_alone(student, rng):
    x, positions = full_pairs(rng, (6, 4)), mixed_positions(rng, 6)
    order = derangement(rng, 6)
    together, shuffled, *alone = ropes(
        student,
        [(x, positions), (x[order], positions[order]), *((x[i : i + 1], positions[i : i + 1]) for i in range(6))],
    )
    assert_close(together, np.concatenate(alone), ROUGH, of="six tokens, compared with each one alone")
    assert_close(shuffled, together[order], ROUGH, of="the tokens in another order")
    first = (x[:, 0] + 1j * x[:, 1]) * np.exp(1j * positions)
    assert_close(together[:, :2], np.stack([first.real, first.imag], axis=1), ROUGH, of="the first pair of each token")


@worth(1, "positions need not begin at 0: a token that comes later gets its own position", target=ROPE)
def test_rope_behind_a_cache(student, rng):
    x = full_pairs(rng, (7, 4))
    complete, last, rest = ropes(student, [(x, np.arange(7)), (x[6:], np.array([6])), (x[2:5], np.arange(2, 5))])
    assert_close(last, complete[6:], ROUGH, of="the last of seven tokens alone, at position 6")
    assert_close(rest, complete[2:5], ROUGH, of="three tokens at the positions 2 to 4")
    assert_close(complete[6, 0], x[6, 0] * math.cos(6) - x[6, 1] * math.sin(6), ROUGH, of="feature 0 at position 6")


@worth(0.75, "positions may be a list or an array of any integers", target=ROPE)
def test_rope_of_lists_and_arrays(student, rng):
    x, places = full_pairs(rng, (4, 6)), [9, 2, 2, 130]
    kinds = [places, np.array(places), np.array(places, dtype=np.int32)]
    first, *others = ropes(student, [(x, kind) for kind in kinds])
    assert_close(first[0, 0], x[0, 0] * math.cos(9) - x[0, 1] * math.sin(9), ROUGH, of="feature 0 at position 9")
    for kind, turned in zip(kinds[1:], others, strict=True):
        assert_close(turned, first, ROUGH, of=f"an array of {kind.dtype} compared with a list")


@worth(1.5, "positions belong to the second to last axis, for every batch and every head", target=ROPE)
def test_rope_of_batches(student, rng):
    x = full_pairs(rng, (4, 4, 4, 6))  # batch, heads, tokens, features: all axes could be taken for the tokens
    positions = mixed_positions(rng, 4)
    together, batch, swapped, *alone = ropes(
        student,
        [(x, positions), (x[0], positions), (x.swapaxes(0, 1), positions), *((x[b, 2], positions) for b in range(4))],
    )
    for b in range(4):
        assert_close(together[b, 2], alone[b], ROUGH, of=f"batch {b}, head 2, compared with the same alone")
    assert_close(batch, together[0], ROUGH, of="three dimensions, compared with the first of a batch")
    assert_close(swapped.swapaxes(0, 1), together, ROUGH, of="batch and heads in the other order")
    first = (x[..., 0] + 1j * x[..., 1]) * np.exp(1j * positions)
    assert_close(together[..., 0], first.real, ROUGH, of="feature 0 of each token")


@worth(0.75, "base says how slow the last pair turns", target=ROPE)
def test_rope_base(student, rng):
    x = full_pairs(rng, (2, 4))
    small, large = ropes(student, [(x, [4, 4], 100.0), (x, [4, 4], 1e6)])
    for base, turned in ((1e2, small), (1e6, large)):
        ratio = (turned[:, 2] + 1j * turned[:, 3]) / (x[:, 2] + 1j * x[:, 3])
        assert_close(np.angle(ratio), np.full(2, 4 / math.sqrt(base)), ROUGH, of=f"the second pair, base {base:g}")


@worth(1.25, "positions up to 100000 are exact in float64", target=ROPE)
def test_rope_of_far_positions(student, rng):
    x = full_pairs(rng, (5, 6))
    places = np.array([100000, 65537, 99999, 3, 40000 + int(rng.integers(1, 999))])
    (turned,) = ropes(student, [(x, places)])
    for pair in range(3):
        numbers = (x[:, 2 * pair] + 1j * x[:, 2 * pair + 1]) * np.exp(1j * places * 10000.0 ** (-pair / 3))
        assert_close(turned[:, 2 * pair], numbers.real, FAR, of=f"feature {2 * pair}")
        assert_close(turned[:, 2 * pair + 1], numbers.imag, FAR, of=f"feature {2 * pair + 1}")


@worth(1, "twice x gives twice the result, and nothing is added to x", target=ROPE)
def test_rope_is_linear(student, rng):
    x, y = full_pairs(rng, (8, 12)), full_pairs(rng, (8, 12))  # a shape that no other check has
    positions = [4, 1, 9, 2, 7, 7, 30, 3]
    of_x, of_y, of_sum, of_zero = ropes(student, [(one, positions) for one in (x, y, 2 * x - y, 0 * x)])
    assert_close(of_sum, 2 * of_x - of_y, ROUGH, of="2x - y")
    assert_close(of_zero, np.zeros((8, 12)), of="a vector of zeros")
    assert np.abs(of_x - x).max(axis=-1).min() > 1e-3, "a token at another position than 0 was not turned"


@worth(0.5, "with RoPE, the shared example has the published weights", target=ROPE)
def test_rope_weights_of_the_sentence(student):
    turned_q, turned_k = ropes(student, [(Q, np.arange(5)), (K, np.arange(5))])
    exps = np.exp(turned_q @ turned_k.T / 2)
    weights = exps / exps.sum(axis=1, keepdims=True)
    assert_close(weights[0], np.array([0.1609, 0.3475, 0.0829, 0.2612, 0.1475]), PRINTED, of="row The")
    assert_close(weights[4], np.array([0.1668, 0.0887, 0.1891, 0.2424, 0.3129]), PRINTED, of="row mat")


@worth(0.75, "apply_rope gives the right values for float32", target=ROPE)
def test_rope_of_float32(student, rng, shown):
    x, places = full_pairs(rng, (4, 8)).astype(np.float32), [999, 1, 250, 30]
    (turned,) = ropes(student, [(x, places)])
    assert_close(turned, oracle_rope(x.astype(np.float64), places), SINGLE, of="float32")
    near = arguments(Q.astype(np.float32), np.arange(5))
    shown(student, ROPE, near, where=lambda call: call.args[0].dtype == np.float32, tolerance=SINGLE)


@worth(0.75, "apply_rope gives the right values for integers, which are not rounded", target=ROPE)
def test_rope_of_integers(student, rng, shown):
    x, places = rng.integers(1, 6, size=(4, 6)), [3, 1, 12, 5]
    for kind in (np.int64, np.int32):
        assert_close(student.apply_rope(x.astype(kind), places), oracle_rope(x, places), ROUGH, of=kind.__name__)
    near = arguments(Q.astype(int), np.arange(5))
    shown(student, ROPE, near, where=lambda call: call.args[0].dtype.kind == "i", tolerance=ROUGH)


@worth(0.75, "the length of a pair of integers or of float32 stays the same", target=ROPE)
def test_rope_keeps_lengths_of_other_dtypes(student):
    x = np.array([[3, 4, 5, 12], [8, 15, 7, 24]])
    for kind, tolerance in ((np.int64, ROUGH), (np.int32, ROUGH), (np.float32, SINGLE)):
        (turned,) = ropes(student, [(x.astype(kind), [2, 5])])
        lengths = np.hypot(turned[:, 0::2], turned[:, 1::2])
        assert_close(lengths, np.array([[5.0, 13], [17, 25]]), tolerance, of=f"lengths of pairs of {kind.__name__}")


@worth(0.5, "an odd number of features raises a ValueError that names it", target=ROPE)
def test_rope_refuses_odd_widths(student, rng):
    for shape in ((4, 3), (2, 4, 7), (4, 2 * int(rng.integers(10, 30)) + 1)):
        x = np.ones(shape)
        assert_raises(ValueError, lambda x=x: student.apply_rope(x, [0, 1, 2, 2]), shape[-1])


@worth(0.5, "apply_rope does not depend on earlier calls, and keyword arguments work", target=ROPE)
def test_rope_does_not_remember(student, rng):
    one, other = full_pairs(rng, (2, 3, 4))
    calls = [arguments(one, [1, 5, 2]), arguments(other, [3, 0, 9]), arguments(one, [3, 0, 9], 10.0)]
    calls += [arguments(x=one, positions=[1, 5, 2]), arguments(other, positions=[3, 0, 9], base=10000.0)]
    calls += [arguments(one, np.array([3, 0, 9]), base=10.0)]
    values = [array_like(value, (3, 4)) for value in student.apply_rope.call_many(calls)]
    for place, of in enumerate(("the first call", "the second call", "the third call")):
        assert_close(values[3 + place], values[place], ROUGH, of=f"{of} again, with keyword arguments")
    for value, x, place, of in ((values[0], one, 1, "first"), (values[1], other, 3, "second")):
        turned = x[0, 0] * math.cos(place) - x[0, 1] * math.sin(place)
        assert_close(value[0, 0], turned, ROUGH, of=f"feature 0 of token 0, {of} call")
    slow = one[0, 2] * math.cos(3 / math.sqrt(10)) - one[0, 3] * math.sin(3 / math.sqrt(10))
    assert_close(values[2][0, 2], slow, ROUGH, of="feature 2 of token 0, with base 10")


@worth(0.75, "apply_rope returns float32 for float32, and float64 for float64 and integers", target=ROPE)
def test_rope_dtype(student):
    x = np.array([[1, 2, 0, 3], [0, 1, 3, 1]])
    kinds = {np.float32: np.float32, np.float64: np.float64, np.int64: np.float64, np.int32: np.float64}
    pairs = list(itertools.product(kinds, ([1, 2], np.array([0, 7]))))
    values = student.apply_rope.call_many([arguments(x.astype(kind), places) for kind, places in pairs])
    for (kind, _), value in zip(pairs, values, strict=True):
        array_like(value, (2, 4))
        assert_dtype(value, kinds[kind])


# alibi_slopes -------------------------------------------------------------------------------------------


@worth(2, "the slopes are right for every number of heads up to 40", target=SLOPES)
def test_slopes_agree_with_the_oracle(student):
    counts = [*range(1, 41), 64, 100, 128]
    for count, value in zip(counts, student.alibi_slopes.call_many([arguments(n) for n in counts]), strict=True):
        assert_close(value, oracle_slopes(count), NEAR, of=f"{count} heads")


@worth(1, "for a power of two, each slope is the one before times the first", target=SLOPES)
def test_slopes_of_powers_of_two(student):
    for count, slopes in zip((2, 4, 8, 16), slopes_of(student, (2, 4, 8, 16)), strict=True):
        assert_close(slopes[1:], slopes[:-1] * slopes[0], NEAR, of=f"each of {count} slopes, from the one before")
        assert_close(slopes[0] ** count, 1 / 256, NEAR, of=f"the first of {count} slopes to the power of {count}")


@worth(0.75, "for a power of two, the last slope is 1/256, and all slopes lie between 0 and 1", target=SLOPES)
def test_slopes_end_at_the_same_value(student):
    for slopes in slopes_of(student, (1, 2, 4, 8, 32)):
        assert_close(slopes[-1], 2.0**-8, NEAR, of="the last slope")
        assert slopes.min() > 0, "a slope is 0 or below"
        assert slopes.max() < 1, "a slope is 1 or above"


@worth(1, "other numbers of heads begin with the slopes of the next lower power of two", target=SLOPES)
def test_slopes_begin_with_the_lower_power(student):
    for count, power in ((3, 2), (6, 4), (12, 8), (9, 8), (31, 16)):
        slopes, lower = slopes_of(student, (count, power))
        assert_close(slopes[:power], lower, NEAR, of=f"the first {power} of {count} slopes")
        assert_close(lower[0], 2.0 ** (-8 / power), NEAR, of=f"the first of {power} slopes")


@worth(1, "the further slopes are every other slope of the next higher power of two", target=SLOPES)
def test_slopes_go_on_with_the_higher_power(student):
    for count, power in ((3, 2), (6, 4), (7, 4), (12, 8), (15, 8)):
        slopes, higher = slopes_of(student, (count, 2 * power))
        assert_close(slopes[power:], higher[0::2][: count - power], NEAR, of=f"the last {count - power} of {count}")
        assert len(set(slopes.tolist())) == count, f"two of {count} heads have the same slope"
        assert_close(slopes[power], 2.0 ** (-4 / power), NEAR, of=f"slope {power} of {count}")


@worth(0.5, "fewer than one head raise a ValueError that names the number", target=SLOPES)
def test_slopes_refuse_no_heads(student, rng):
    for count in (0, -1, -int(rng.integers(3, 30))):
        assert_raises(ValueError, lambda count=count: student.alibi_slopes(count), count)


@worth(0.25, "the slopes do not depend on earlier calls, and num_heads works as a keyword", target=SLOPES)
def test_slopes_do_not_remember(student):
    calls = [arguments(4), arguments(num_heads=6), arguments(num_heads=4), arguments(6)]
    first, six, again, six_again = student.alibi_slopes.call_many(calls)
    first, six = array_like(first, (4,)), array_like(six, (6,))
    assert_close(again, first, NEAR, of="four heads again")
    assert_close(six_again, six, NEAR, of="six heads again")
    assert_close(six[4], 0.5, NEAR, of="slope 4 of six heads")


@worth(0.25, "alibi_slopes returns float64", target=SLOPES)
def test_slopes_dtype(student):
    for value in student.alibi_slopes.call_many([arguments(8), arguments(1), arguments(5)]):
        assert_dtype(value, np.float64)


# alibi_bias ---------------------------------------------------------------------------------------------


@worth(2.5, "the bias is right for many numbers of heads, queries and keys", target=BIAS)
def test_bias_agrees_with_the_oracle(student):
    cases = [(8, 5, 5), (1, 1, 1), (4, 2, 6), (6, 3, 3), (3, 1, 7), (2, 6, 4), (12, 4, 9), (16, 2, 2)]
    values = student.alibi_bias.call_many([arguments(*case) for case in cases])
    for case, value in zip(cases, values, strict=True):
        assert_close(value, oracle_bias(*case), NEAR, of=f"arguments {case}")


@worth(1, "the bias is 0 where a query meets its own key, and below 0 everywhere else", target=BIAS)
def test_bias_is_zero_at_distance_zero(student):
    for bias in biases(student, [(4, 5, 5), (2, 3, 7), (3, 1, 4)]):
        n_q, n_k = bias.shape[1:]
        own = np.eye(n_q, n_k, k=n_k - n_q) == 1
        assert_close(bias[:, own], np.zeros((len(bias), n_q)), of="the bias of each query and its own key")
        assert bias[:, ~own].max() < 0, "the bias of another key is not below 0"


@worth(1, "keys at the same distance before and after the query have the same bias", target=BIAS)
def test_bias_is_symmetric(student):
    square, single = biases(student, [(4, 6, 6), (2, 3, 3)])
    assert_close(square, square.transpose(0, 2, 1), NEAR, of="the bias and its transpose")
    assert_close(square[:, 2, 0], square[:, 2, 4], NEAR, of="two before and two after")
    assert_close(single[0, 1], np.array([-(2.0**-4), 0, -(2.0**-4)]), NEAR, of="the middle of three tokens")


@worth(1, "each step away from the query lowers the bias by the slope of the head", target=BIAS)
def test_bias_falls_by_the_slope(student):
    for heads, slopes in (
        (2, [2.0**-4, 2.0**-8]),
        (4, [0.25, 0.0625, 2.0**-6, 2.0**-8]),
        (3, [2.0**-4, 2.0**-8, 0.25]),
    ):
        (bias,) = biases(student, [(heads, 4, 4)])
        assert_close(bias[:, 0, 1], -np.array(slopes), NEAR, of=f"distance 1, {heads} heads")
        assert_close(np.diff(bias[:, 0], axis=1), np.tile(-np.array(slopes)[:, None], 3), NEAR, of="step by step")


@worth(1.5, "queries are the last tokens: fewer queries give the last rows of the square table", target=BIAS)
def test_bias_of_the_last_queries(student):
    square, two, one = biases(student, [(4, 6, 6), (4, 2, 6), (4, 1, 6)])
    assert_close(two, square[:, -2:], NEAR, of="two queries and six keys")
    assert_close(one, square[:, -1:], NEAR, of="one query and six keys")
    assert_close(one[0, 0], -0.25 * np.arange(5.0, -1, -1), NEAR, of="the first head of one query")


@worth(0.75, "the rule also holds if there are more queries than keys", target=BIAS)
def test_bias_of_more_queries_than_keys(student):
    many, square = biases(student, [(2, 5, 3), (2, 3, 3)])
    assert_close(many[:, 2:], square, NEAR, of="the last three of five queries, with three keys")
    assert_close(many[1, 0], -(2.0**-8) * np.array([2.0, 3, 4]), NEAR, of="the first of five queries, position -2")


@worth(0.75, "the bias blocks nothing: the future has a finite bias by its distance", target=BIAS)
def test_bias_is_not_a_mask(student):
    (bias,) = biases(student, [(1, 3, 5)])
    later = np.array([0, 1, 2, 3, 4])[None] - np.array([2, 3, 4])[:, None]
    assert_close(bias[0][later > 0], -later[later > 0] / 256, NEAR, of="the bias of keys after the query")


@worth(1, "with a causal mask, the bias is the same as a slope times the position of the key", target=BIAS)
def test_bias_on_causal_scores(student, rng):
    scores, allowed = rng.normal(size=(5, 5)), np.tri(5) == 1
    for bias, slope in zip(biases(student, [(2, 5, 5)])[0], (2.0**-4, 2.0**-8), strict=True):
        by_bias = np.exp(scores + bias) * allowed
        by_key = np.exp(scores + slope * np.arange(5)) * allowed
        expected = by_key / by_key.sum(axis=1, keepdims=True)
        assert_close(by_bias / by_bias.sum(axis=1, keepdims=True), expected, NEAR, of=f"weights with slope {slope:g}")


@worth(0.5, "a bias for fewer than one head raises a ValueError that names the number", target=BIAS)
def test_bias_refuses_no_heads(student, rng):
    for count in (0, -1, -int(rng.integers(30, 60))):
        assert_raises(ValueError, lambda count=count: student.alibi_bias(count, 3, 5), count)


@worth(0.5, "the bias does not depend on earlier calls, and keyword arguments work", target=BIAS)
def test_bias_does_not_remember(student):
    calls = [arguments(2, 3, 5), arguments(4, 1, 2), arguments(num_heads=2, n_q=3, n_k=5), arguments(4, n_k=2, n_q=1)]
    values = student.alibi_bias.call_many(calls)
    shapes = [(2, 3, 5), (4, 1, 2), (2, 3, 5), (4, 1, 2)]
    first, other, again, other_again = (array_like(v, s) for v, s in zip(values, shapes, strict=True))
    assert_close(again, first, NEAR, of="the first call again, with keyword arguments")
    assert_close(other_again, other, NEAR, of="the second call again, with keyword arguments")
    assert_close(other[:, 0, 0], -np.array([0.25, 2.0**-4, 2.0**-6, 2.0**-8]), NEAR, of="one query and two keys")


@worth(0.25, "alibi_bias returns float64", target=BIAS)
def test_bias_dtype(student):
    for value in student.alibi_bias.call_many([arguments(8, 2, 3), arguments(3, 1, 1)]):
        assert_dtype(value, np.float64)


# reflect ------------------------------------------------------------------------------------------------


@worth(1.5, "the number of orders that change no output is right", target="reflect")
def test_reflect_orders(student):
    assert_close(number(student.REFLECT_ORDERS_WITH_EQUAL_OUTPUTS_N5), 120.0)


@worth(1, "a fifth token multiplies the 24 orders of four tokens by five", target="reflect")
def test_reflect_orders_grow_by_a_token(student):
    assert_close(number(student.REFLECT_ORDERS_WITH_EQUAL_OUTPUTS_N5) / 24, 5.0)


@worth(1.5, "the longest wavelength for d_model 64 is right", target="reflect")
def test_reflect_wavelength(student):
    assert_close(number(student.REFLECT_LONGEST_WAVELENGTH_D64), 47117.0, Tolerance(0.0, 1.0))


@worth(1, "over the longest wavelength, the slowest pair turns once", target="reflect")
def test_reflect_wavelength_is_one_turn(student):
    angle = number(student.REFLECT_LONGEST_WAVELENGTH_D64) * 10000 ** (-62 / 64)
    assert_close(angle, 2 * math.pi, Tolerance(0.0, 2e-4))
