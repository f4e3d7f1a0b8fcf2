"""Hidden checks of 01_cache."""

import numpy as np

from grader.testing import array_like, assert_close, worth


def oracle_keys(tokens, weight):
    return np.einsum("nm,md->nd", tokens, weight)


@worth(4, "all keys so far are returned", target="KeyCache")
def test_update_agrees_with_the_oracle(student, rng, shown):
    weight, tokens = rng.normal(size=(3, 3)), rng.normal(size=(5, 3))
    cache = student.KeyCache(weight, 5)
    for start, end in ((0, 1), (1, 4), (4, 5)):
        found = cache.update(tokens[start:end])
        assert_close(found, oracle_keys(tokens[:end], weight))
    shown(student, "KeyCache.update")


@worth(3, "a second update leaves the first keys as they are", target="KeyCache")
def test_update_keeps_what_is_there(student, rng):
    tokens = rng.normal(size=(4, 3))
    cache = student.KeyCache(rng.normal(size=(3, 3)), 4)
    first = array_like(cache.update(tokens[:2]), (2, 3))
    assert_close(array_like(cache.update(tokens[2:]), (4, 3))[:2], first)


@worth(2, "a feature that the weight keeps stays as it is", target="KeyCache")
def test_update_multiplies_by_the_weight(student, rng):
    tokens = rng.normal(size=(2, 3))
    weight = np.eye(3) + np.eye(3, k=1)
    found = array_like(student.KeyCache(weight, 2).update(tokens), (2, 3))
    assert_close(found[:, 0], tokens[:, 0])


@worth(3, "it is the running sum of the keys", target="decode")
def test_decode_agrees_with_the_oracle(student, rng):
    weight, tokens = rng.normal(size=(3, 2)), rng.normal(size=(5, 3))
    found = student.decode(student.KeyCache(weight, 5), tokens)
    assert_close(found, np.cumsum(oracle_keys(tokens, weight), axis=0))


@worth(1, "each row but the first is the row before plus one key", target="decode")
def test_decode_has_one_row_for_each_token(student, rng):
    tokens = np.abs(rng.normal(size=(4, 2))) + 1
    found = array_like(student.decode(student.KeyCache(np.eye(2), 4), tokens), (4, 2))
    assert_close(np.diff(found, axis=0), tokens[1:])
