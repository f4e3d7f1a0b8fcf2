"""Hidden suite of 04_vectors."""

import numpy as np

from grader.testing import arguments, array_like, assert_close, worth


def oracle_vectors(x):
    return np.add(x, x)


@worth(4, "it agrees with an independent formula on random arrays")
def test_vectors_agrees_with_the_oracle(student, rng, shown):
    x = rng.normal(size=(3, 4))
    assert_close(student.vectors(x), oracle_vectors(x))
    shown(student, "vectors")  # other numbers of every shape that students see


@worth(3, "the double of a sum is the sum of the doubles")
def test_vectors_is_linear(student, rng):
    x, y = rng.integers(1, 9, size=(2, 5)).astype(float)
    both, one, other = student.vectors.call_many([arguments(x + y), arguments(x), arguments(y)])
    assert_close(both, array_like(one, x.shape) + array_like(other, y.shape))
