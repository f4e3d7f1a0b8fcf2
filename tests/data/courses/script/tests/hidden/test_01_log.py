"""Hidden suite of 01_log."""

import numpy as np

from grader.testing import array_like, assert_close, assert_raises, worth


def oracle_mean(rows):
    return sum(rows) / len(rows)


@worth(3, "the mean of several rows agrees with an independent formula")
def test_mean_agrees_with_the_oracle(student, rng, shown):
    rows, log = rng.normal(size=(4, 3)), student.Log(3)
    for row in rows:
        log.append(row)
    assert_close(log.mean(), oracle_mean(rows))
    shown(student, "Log.mean")
    shown(student, "Log.append")


@worth(2, "append and length give the number of rows")
def test_count(student, rng):
    log = student.Log(2)
    assert_close([log.append(row) for row in rng.normal(size=(3, 2))], [1, 2, 3])
    assert_close(log.length, 3)


@worth(1, "the mean of equal rows is that row")
def test_mean_of_equal_rows(student):
    log = student.Log(2)
    for _ in range(3):
        log.append(np.array([1.5, -2.0]))
    assert_close(array_like(log.mean(), (2,)), np.array([1.5, -2.0]))


@worth(1, "a row of another width is refused")
def test_width(student):
    assert_raises(ValueError, lambda: student.Log(2).append(np.ones(5)), 2, 5)
