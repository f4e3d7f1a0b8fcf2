"""Hidden suite of 02_quadruple."""

import numpy as np

from grader.testing import arguments, array_like, assert_close, worth


def oracle_quadruple(x):
    return x + x + x + x


@worth(4, "it agrees with an independent formula on random arrays")
def test_quadruple_agrees_with_the_oracle(student, rng, shown):
    x = rng.normal(size=(3, 4))
    assert_close(student.quadruple(x), oracle_quadruple(x))
    shown(student, "quadruple")


@worth(3, "four times a sum is the sum of both times four")
def test_quadruple_is_linear(student, rng):
    x, y = rng.integers(1, 9, size=(2, 5)).astype(float)
    both, one, other = student.quadruple.call_many([arguments(x + y), arguments(x), arguments(y)])
    assert_close(both, array_like(one, x.shape) + array_like(other, y.shape))
