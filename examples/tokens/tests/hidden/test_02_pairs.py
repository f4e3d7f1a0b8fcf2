"""Hidden checks of 02_pairs. The oracles work on runs and on sorted lists, not as the solution does."""

from itertools import groupby
from numbers import Integral

from grader.testing import arguments, assert_equal, draw_until, worth


def oracle_count(ids):
    """Count pairs of different ids place by place, and pairs of equal ids by the lengths of their runs."""
    counts = {}
    for at in range(1, len(ids)):
        if ids[at - 1] != ids[at]:
            pair = (ids[at - 1], ids[at])
            counts[pair] = counts.get(pair, 0) + 1
    for one, run in groupby(ids):
        half = len(list(run)) // 2
        if half:
            counts[one, one] = counts.get((one, one), 0) + half
    return counts


def oracle_merge(ids, pair, new):
    """Merge with a flag for the id before, which may still be the left one of a pair."""
    merged, free = [], False
    for one in ids:
        if free and (merged[-1], one) == pair:
            merged[-1], free = new, False
        else:
            merged.append(one)
            free = True
    return merged


def oracle_train(text, count):
    ids, merges = [*text.encode()], []
    for new in range(256, 256 + count):
        ranked = sorted((-often, pair) for pair, often in oracle_count(ids).items() if often > 1)
        if not ranked:
            break
        merges.append(ranked[0][1])
        ids = oracle_merge(ids, merges[-1], new)
    return merges


def ids_with_runs(rng, kinds=3):
    """Return ids in a random order that has runs of every length from 1 to 5. The last id stands alone."""
    lengths = [*rng.permutation([1, 2, 3, 4, 5]).tolist(), 1]
    first = int(rng.integers(0, kinds))
    return [100 + (first + at) % kinds for at, length in enumerate(lengths) for _ in range(length)]


def with_a_pair(call):
    """Return the call with a pair that is in its list."""
    ids, pair, *rest = call.args
    return arguments(ids, tuple(ids[:2]) if len(ids) > 1 else pair, *rest)


def is_list(value):
    assert isinstance(value, list), f"expected a list, got {type(value).__name__}"
    return value


def pairs_of(merges):
    """Return the merges that a student learned, if they are a list of pairs of integers."""
    for pair in is_list(merges):
        right = isinstance(pair, tuple) and len(pair) == 2 and all(isinstance(one, Integral) for one in pair)
        assert right, f"expected tuples of two integers, got {pair!r}"
    return merges


# count_pairs ------------------------------------------------------------------------------------------


@worth(3, "it agrees with an independent count for random ids with runs")
def test_count_pairs_agrees_with_the_oracle(student, rng, shown):
    lists = [ids_with_runs(rng, kinds) for kinds in (2, 3, 4)]
    results = student.count_pairs.call_many([arguments(ids) for ids in lists])
    for ids, result in zip(lists, results, strict=True):
        assert_equal(result, oracle_count(ids), of=f"the counts of {ids}")
    shown(student, "count_pairs")


@worth(1.5, "if all ids are different, each pair of neighbours counts once")
def test_count_pairs_of_different_ids(student):
    for ids in ([5, 3, 8, 1], [9, 2], [300, 0, 256]):
        assert_equal(student.count_pairs(ids), {(left, right): 1 for left, right in zip(ids, ids[1:], strict=False)})


@worth(1.5, "the same ids in reverse order have the reverse pairs")
def test_count_pairs_in_reverse_order(student):
    there, back = student.count_pairs.call_many([arguments([1, 2, 3, 1, 2]), arguments([2, 1, 3, 2, 1])])
    assert_equal(there, {(1, 2): 2, (2, 3): 1, (3, 1): 1})
    assert_equal(back, {(2, 1): 2, (3, 2): 1, (1, 3): 1})


@worth(2, "a run of k equal ids has the pair k // 2 times")
def test_count_pairs_of_runs(student):
    results = student.count_pairs.call_many([arguments([4] * length) for length in range(2, 8)])
    for length, result in zip(range(2, 8), results, strict=True):
        assert_equal(result, {(4, 4): length // 2}, of=f"the counts of a run of {length}")


@worth(1, "different pairs may share an id")
def test_count_pairs_that_share_an_id(student):
    assert_equal(student.count_pairs([1, 2, 1, 2, 1]), {(1, 2): 2, (2, 1): 2})


@worth(0.5, "no id and one id have no pairs")
def test_count_pairs_of_nothing(student):
    assert_equal(student.count_pairs.call_many([arguments([]), arguments([3])]), [{}, {}])


# best_pair --------------------------------------------------------------------------------------------


@worth(2, "it agrees with a sorted list, for random counts with ties", target="best_pair")
def test_best_pair_agrees_with_the_oracle(student, rng, shown):
    pairs = [(0, 0), (1, 400), (256, 3), (7, 7), (6, 90), (5, 8), (97, 5), (3, 300), (256, 0)]
    for _ in range(3):
        # of the last three, which have the largest count, the smallest is seen neither first nor last
        order = draw_until(
            rng, lambda rng: rng.permutation(9).tolist(), lambda one: [at for at in one if at > 5][1] == 7
        )
        counts = {pairs[at]: 1 + at // 3 for at in order}
        oracle_best = sorted((-count, pair) for pair, count in counts.items())[0][1]
        assert_equal(student.best_pair(counts), oracle_best, of=f"the best of {counts}")
    shown(student, "best_pair")


@worth(1.5, "the largest count wins, wherever it stands", target="best_pair")
def test_best_pair_has_the_largest_count(student):
    entries = [((1, 1), 2), ((5, 5), 7), ((9, 9), 3)]
    for turned in range(3):
        counts = dict(entries[turned:] + entries[:turned])
        assert_equal(student.best_pair(counts), (5, 5), of=f"the best of {counts}")


@worth(2, "at a tie the smallest pair wins, in whatever order the pairs are", target="best_pair")
def test_best_pair_at_a_tie(student):
    entries = [((8, 8), 4), ((2, 7), 4), ((5, 1), 4), ((1, 1), 3)]
    for turned in range(4):
        counts = dict(entries[turned:] + entries[:turned])
        assert_equal(student.best_pair(counts), (2, 7), of=f"the best of {counts}")


@worth(1, "the left ids are compared first, then the right ones", target="best_pair")
def test_best_pair_compares_left_ids_first(student):
    calls = [arguments({(3, 1): 2, (2, 9): 2}), arguments({(2, 9): 2, (2, 5): 2}), arguments({(5, 6): 2, (4, 8): 2})]
    assert_equal(student.best_pair.call_many(calls), [(2, 9), (2, 5), (4, 8)])


@worth(0.5, "without pairs there is no best one", target="best_pair")
def test_best_pair_of_nothing(student):
    assert_equal(student.best_pair({}), None)


# merge ------------------------------------------------------------------------------------------------


@worth(2.5, "it agrees with an independent merge for random ids with runs", target="merge")
def test_merge_agrees_with_the_oracle(student, rng, shown):
    ids = ids_with_runs(rng)
    pairs = sorted(set(zip(ids, ids[1:], strict=False)))
    results = student.merge.call_many([arguments(ids, pair, 900) for pair in pairs])
    for pair, result in zip(pairs, results, strict=True):
        assert_equal(result, oracle_merge(ids, pair, 900), of=f"{ids} after a merge of {pair}")
    for ids, pair in (([9, 7, 7, 7, 9, 7], (9, 7)), ([2, 1, 11, 2, 1, 23, 1, 2], (1, 2))):
        assert_equal(student.merge(ids, pair, 9), oracle_merge(ids, pair, 9), of=f"{ids} after a merge of {pair}")
    shown(student, "merge", fit=with_a_pair)


@worth(2, "a run is merged from left to right", target="merge")
def test_merge_of_runs(student):
    results = student.merge.call_many([arguments([4] * length, (4, 4), 9) for length in range(1, 6)])
    assert_equal(results, [[4], [9], [9, 4], [9, 9], [9, 9, 4]])


@worth(1.5, "the pair is nowhere left", target="merge")
def test_merge_finds_every_place(student):
    ids = [1, 2, 3, 1, 2, 1, 2, 1, 1, 2]
    result = is_list(student.merge(ids, (1, 2), 50))
    assert (1, 2) not in zip(result, result[1:], strict=False), "the pair (1, 2) is still there"
    assert_equal(len(result), len(ids) - 4, of="the number of ids after 4 places were merged")


@worth(2, "the new id in place of the pair is the only difference", target="merge")
def test_merge_can_be_taken_back(student):
    ids = [197, 110, 97, 110, 97, 1101, 110, 97, 97, 5, 97, 110, 110, 8]
    result = is_list(student.merge(ids, (97, 110), 256))
    back = [one for id_ in result for one in ((97, 110) if id_ == 256 else (id_,))]
    assert_equal(back, ids, of="the ids after 256 was replaced by 97 and 110 again")


@worth(1, "a new id is not merged again", target="merge")
def test_merge_goes_through_once(student):
    calls = [arguments([9, 7, 7], (9, 7), 9), arguments([5, 5, 5, 5], (5, 5), 5)]
    assert_equal(student.merge.call_many(calls), [[9, 7], [5, 5]])


@worth(1, "without the pair, the ids stay as they are", target="merge")
def test_merge_of_what_is_not_there(student):
    lists = [[], [1], [2], [2, 1], [1, 3, 2], [2, 2, 1, 1], [11, 2], [1, 23]]
    results = student.merge.call_many([arguments(ids, (1, 2), 9) for ids in lists])
    assert_equal(results, lists)


# train ------------------------------------------------------------------------------------------------


@worth(3, "it learns what an independent program learns, from random texts", target="train")
def test_train_agrees_with_the_oracle(student, rng, shown):
    words = ["banana", "bandana", "an", "nana", "Ananas", "ännä"]
    for count in (3, 200):
        text = " ".join(words[int(at)] for at in [*rng.permutation(6), *rng.permutation(6)])
        assert_equal(student.train(text, count), oracle_train(text, count), of=f"{count} merges of {text!r}")
    shown(student, "train")


@worth(1.5, "it stops when no pair comes twice", target="train")
def test_train_stops(student):
    calls = [arguments("abcdef", 5), arguments("abab", 5), arguments("aaa", 5), arguments("xyxyz xyz", 50)]
    learned = [[], [(97, 98)], [], [(120, 121), (256, 122)]]
    assert_equal(student.train.call_many(calls), learned)


@worth(1.5, "fewer merges are the beginning of more", target="train")
def test_train_with_a_smaller_count(student):
    text = "the cat that sat on the mat, the rat that ran"
    most = pairs_of(student.train(text, 6))
    assert_equal(len(most), 6, of="the number of merges")
    fewer = student.train.call_many([arguments(text, count) for count in range(6)])
    assert_equal(fewer, [most[:count] for count in range(6)])


@worth(1.5, "a merge uses bytes of the text, and ids of merges before it", target="train")
def test_train_uses_known_ids(student):
    text = "so many mornings, so many more"
    for at, pair in enumerate(pairs_of(student.train(text, 12))):
        unknown = set(pair) - set(text.encode()) - set(range(256, 256 + at))
        assert not unknown, f"merge {at} uses the id {min(unknown)}, which does not exist then"


@worth(1.5, "what a merge stands for is a part of the text", target="train")
def test_train_learns_parts_of_the_text(student):
    data = b"red lorry, yellow lorry, Red Lorry, Yellow Lorry"
    merges = pairs_of(student.train(data.decode(), 12))
    assert_equal(len(merges), 12, of="the number of merges")
    spelled = {one: bytes([one]) for one in range(256)}
    for new, (left, right) in enumerate(merges, 256):
        assert {left, right} <= spelled.keys(), f"the merge ({left}, {right}) uses an id that does not exist then"
        spelled[new] = spelled[left] + spelled[right]
        assert data.count(spelled[new]) > 1, f"the id {new} stands for {spelled[new]!r}, which does not come twice"


@worth(1.5, "text begins as bytes, with upper case, spaces and accents", target="train")
def test_train_begins_with_bytes(student):
    calls = [arguments("éé éé", 1), arguments("ABAB ab", 1), arguments("a b a b a b", 1), arguments("木森木森", 1)]
    learned = [[(195, 169)], [(65, 66)], [(32, 98)], [(156, 168)]]
    assert_equal(student.train.call_many(calls), learned)


@worth(0.5, "nothing is learned from nothing", target="train")
def test_train_on_nothing(student):
    assert_equal(student.train.call_many([arguments("", 4), arguments("a", 4), arguments("abab", 0)]), [[], [], []])


# reflect ------------------------------------------------------------------------------------------------


@worth(1, "the number of ids after 1 merge is right", target="reflect")
def test_reflect_one_merge(student):
    assert_equal(student.REFLECT_LENGTH_AFTER_1_MERGE, 480)


@worth(1, "the number of ids after 10 merges is right", target="reflect")
def test_reflect_ten_merges(student):
    assert_equal(student.REFLECT_LENGTH_AFTER_10_MERGES, 300)
