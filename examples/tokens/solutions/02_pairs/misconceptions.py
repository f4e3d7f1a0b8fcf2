"""Misconceptions of 02_pairs: one cell each. Added to the solution, a cell makes a wrong submission."""

# %% counts_overlaps
LIKELY = "in a run of equal ids every neighbour counts, so that two pairs share an id: `aaa` has `aa` twice"
HINT = "How often can you merge the pair (7, 7) in [7, 7, 7]?"


def count_pairs(ids):
    counts = {}
    for pair in zip(ids, ids[1:]):
        counts[pair] = counts.get(pair, 0) + 1
    return counts


# %% a_run_counts_once
LIKELY = "a run of equal ids counts once, however long it is: `aaaa` has `aa` twice"
HINT = "How often can you merge the pair (7, 7) in [7, 7, 7, 7]?"


def count_pairs(ids):
    counts = {}
    before = None
    for pair in zip(ids, ids[1:]):
        if pair != before:
            counts[pair] = counts.get(pair, 0) + 1
        before = pair
    return counts


# %% ignores_the_order_of_a_pair
LIKELY = "(a, b) and (b, a) are counted as the same pair"
HINT = "Are `on` and `no` the same pair? Print the counts for [1, 2, 1]."


def count_pairs(ids):
    counts = {}
    before = None
    for left, right in zip(ids, ids[1:]):
        pair = (min(left, right), max(left, right))
        if left == right and pair == before:
            before = None
        else:
            counts[pair] = counts.get(pair, 0) + 1
            before = pair
    return counts


# %% every_second_pair
LIKELY = "the list is cut into pieces of two, so that only every second pair of neighbours is counted"
HINT = "Which pairs of neighbours does [1, 2, 3] have?"


def count_pairs(ids):
    counts = {}
    for pair in zip(ids[::2], ids[1::2]):
        counts[pair] = counts.get(pair, 0) + 1
    return counts


# %% counts_single_ids
LIKELY = "single ids are counted, not pairs"
HINT = "What does `zip(ids, ids[1:])` give?"


def count_pairs(ids):
    return {one: ids.count(one) for one in ids}


# %% each_pair_once
LIKELY = "a pair that comes again is not counted again"
HINT = "What happens in your loop when a pair is in the dictionary already?"


def count_pairs(ids):
    return {pair: 1 for pair in zip(ids, ids[1:])}


# %% pairs_at_any_distance
LIKELY = "ids that stand apart are counted as pairs, too"
HINT = "Is (1, 3) a pair of neighbours in [1, 2, 3]?"


def count_pairs(ids):
    counts = {}
    for at, left in enumerate(ids):
        for right in ids[at + 1 :]:
            counts[left, right] = counts.get((left, right), 0) + 1
    return counts


# %% forgets_the_last_pair
LIKELY = "the last pair is not counted: a list of n ids has n - 1 pairs of neighbours"
HINT = "How often does your loop run for [1, 2]?"
REPLACE = {"for pair in zip(ids, ids[1:], strict=False):": "for pair in zip(ids[:-1], ids[1:-1]):"}

# %% wraps_around
LIKELY = "the last and the first id are counted as a pair: at position 0, `ids[at - 1]` is the last id"
HINT = "How many pairs of neighbours does [1, 2] have?"


def count_pairs(ids):
    counts = {}
    before = None
    for at in range(len(ids)):
        pair = (ids[at - 1], ids[at])
        if pair == before:
            before = None
        else:
            counts[pair] = counts.get(pair, 0) + 1
            before = pair
    return counts


# %% keys_are_texts
LIKELY = 'the keys are texts such as "97,110", not tuples'
HINT = "What is the type of a key? A tuple is written (left, right)."


def count_pairs(ids):
    counts = {}
    before = None
    for left, right in zip(ids, ids[1:]):
        pair = f"{left},{right}"
        if pair == before:
            before = None
        else:
            counts[pair] = counts.get(pair, 0) + 1
            before = pair
    return counts


# %% only_pairs_that_come_twice
LIKELY = "pairs that come once are left out"
HINT = "What should the counts of [1, 2] be?"
REPLACE = {"return counts": "return {pair: count for pair, count in counts.items() if count > 1}"}
IN = "count_pairs"

# %% empties_the_callers_list
LIKELY = "ids are taken out of the caller's list"
HINT = "Print ids before and after the call. What does `ids.pop(0)` change?"


def count_pairs(ids):
    counts = {}
    before = None
    while len(ids) > 1:
        pair = (ids.pop(0), ids[0])
        if pair == before:
            before = None
        else:
            counts[pair] = counts.get(pair, 0) + 1
            before = pair
    return counts


# %% goes_through_the_list_for_each_pair
LIKELY = "the complete list is searched again for each pair"
HINT = "Go through the list once, and raise the count of each pair that you meet."
COSTLY = True


def count_pairs(ids):
    counts = {}
    for pair in set(zip(ids, ids[1:])):
        count, at = 0, 0
        while at + 1 < len(ids):
            found = (ids[at], ids[at + 1]) == pair
            count += found
            at += 2 if found else 1
        counts[pair] = count
    return counts


# %% first_seen_wins
LIKELY = "at a tie, the pair that stands first in the dictionary wins, not the smallest"
HINT = "Call `best_pair({(5, 6): 2, (1, 2): 2})`. What does `max` do at a tie?"


def best_pair(counts):
    return max(counts, key=counts.get, default=None)


# %% last_seen_wins
LIKELY = "at a tie, the pair that stands last in the dictionary wins, not the smallest: the comparison is >="
HINT = "Call `best_pair({(1, 2): 2, (5, 6): 2})`."


def best_pair(counts):
    best = None
    for pair in counts:
        if best is None or counts[pair] >= counts[best]:
            best = pair
    return best


# %% largest_pair_wins
LIKELY = "at a tie, the largest pair wins, not the smallest"
HINT = "Call `best_pair({(5, 6): 2, (1, 2): 2})`. You want the largest count, but the smallest pair."


def best_pair(counts):
    return max(counts, key=lambda pair: (counts[pair], pair), default=None)


# %% smaller_right_id_wins
LIKELY = "at a tie, the right ids are compared first, but the left ones come first"
HINT = "Which is smaller, (2, 9) or (3, 1)? Ask Python: `(2, 9) < (3, 1)`."
REPLACE = {
    "return min(counts, key=lambda pair: (-counts[pair], pair), default=None)": "return min(counts, key=lambda pair: (-counts[pair], pair[::-1]), default=None)"
}

# %% smaller_sum_wins
LIKELY = "at a tie, the pair with the smaller sum wins, not the pair that is smaller as a tuple"
HINT = "Which is smaller, (1, 9) or (2, 3)? Ask Python: `(1, 9) < (2, 3)`."
REPLACE = {
    "return min(counts, key=lambda pair: (-counts[pair], pair), default=None)": "return min(counts, key=lambda pair: (-counts[pair], sum(pair), pair), default=None)"
}

# %% smallest_count_wins
LIKELY = "the pair with the smallest count wins, not with the largest"
HINT = "Which pair saves more ids when it is merged, one that comes 4 times or one that comes twice?"
REPLACE = {
    "return min(counts, key=lambda pair: (-counts[pair], pair), default=None)": "return min(counts, key=lambda pair: (counts[pair], pair), default=None)"
}

# %% counts_do_not_matter
LIKELY = "the smallest pair wins, whatever the counts are: `min` of a dictionary looks at its keys"
HINT = "What should win in {(1, 2): 1, (5, 6): 3}? Give `min` or `max` a `key`."


def best_pair(counts):
    return min(counts, default=None)


# %% returns_the_count
LIKELY = "the result is the largest count, not the pair that has it"
HINT = "What do you want to merge, a number or a pair?"


def best_pair(counts):
    return max(counts.values(), default=None)


# %% pair_with_its_count
LIKELY = "the result has the count beside the pair"
HINT = "Print your result. Which part of it is the pair?"


def best_pair(counts):
    return min(counts.items(), key=lambda item: (-item[1], item[0]), default=None)


# %% raises_for_no_pairs
LIKELY = "without pairs, `max` or `min` raises an error, but the result must be None"
HINT = "`max` and `min` take an argument `default`."
REPLACE = {
    "return min(counts, key=lambda pair: (-counts[pair], pair), default=None)": "return min(counts, key=lambda pair: (-counts[pair], pair))"
}

# %% takes_pairs_out
LIKELY = "pairs that do not win are taken out of the caller's dictionary"
HINT = "Print counts before and after the call. What does `del counts[pair]` change?"
VALUES_RIGHT = True


def best_pair(counts):
    best = None
    for pair in list(counts):
        loser = pair
        if best is None or (-counts[pair], pair) < (-counts[best], best):
            best, loser = pair, best
        if loser is not None:
            del counts[loser]
    return best


# %% from_right_to_left
LIKELY = "the list is merged from right to left"
HINT = "Merge (7, 7) in [7, 7, 7]. Which 7 is left over?"


def merge(ids, pair, new):
    merged = []
    at = len(ids) - 1
    while at >= 0:
        if at > 0 and (ids[at - 1], ids[at]) == pair:
            merged.append(new)
            at -= 2
        else:
            merged.append(ids[at])
            at -= 1
    return merged[::-1]


# %% merges_the_new_id_again
LIKELY = "the list is gone through again and again, so that a new id is merged once more"
HINT = "Merge (9, 7) to 9 in [9, 7, 7]. How often did you go through the list?"


def merge(ids, pair, new):
    merged = []
    for one in ids:
        if merged and (merged[-1], one) == pair:
            merged[-1] = new
        else:
            merged.append(one)
    return merged


# %% only_the_first_place
LIKELY = "only the first occurrence is merged"
HINT = "Does your loop go on after the first pair that it finds?"


def merge(ids, pair, new):
    for at in range(len(ids) - 1):
        if (ids[at], ids[at + 1]) == pair:
            return ids[:at] + [new] + ids[at + 2 :]
    return list(ids)


# %% keeps_the_right_id
LIKELY = "the right id of a merged pair stays in the list: the position moves on by 1, not by 2"
HINT = "How many ids should be left of [1, 2] after a merge of (1, 2)?"
REPLACE = {"at += 2": "at += 1"}

# %% either_order
LIKELY = "the pair is merged in the other order, too"
HINT = "Merge (1, 2) in [2, 1]. Is the pair there?"
REPLACE = {
    "if at + 1 < len(ids) and (ids[at], ids[at + 1]) == pair:": "if at + 1 < len(ids) and pair in ((ids[at], ids[at + 1]), (ids[at + 1], ids[at])):"
}

# %% drops_the_last_id
LIKELY = "the last id is lost if it is in no pair"
HINT = "What is left of [1, 2, 3] after a merge of (1, 2)? Where does your loop end?"


def merge(ids, pair, new):
    merged = []
    at = 0
    while at < len(ids) - 1:
        found = (ids[at], ids[at + 1]) == pair
        merged.append(new if found else ids[at])
        at += 2 if found else 1
    return merged


# %% replaces_single_ids
LIKELY = "each id of the pair is replaced, also where it stands alone"
HINT = "Merge (1, 2) in [1, 3, 2]. Is the pair there?"


def merge(ids, pair, new):
    return [new if one in pair else one for one in ids]


# %% replaces_digits
LIKELY = "the ids are written as text and replaced there, so that 97 is also found in 197"
HINT = "Merge (97, 110) in [197, 110]. Is the pair there?"


def merge(ids, pair, new):
    text = " ".join(map(str, ids)).replace(f"{pair[0]} {pair[1]}", str(new))
    return [int(one) for one in text.split()]


# %% changes_the_callers_list
LIKELY = "the caller's list is changed"
HINT = "Print ids before and after the call. What does `ids[at : at + 2] = [new]` change?"
VALUES_RIGHT = True


def merge(ids, pair, new):
    at = 0
    while at + 1 < len(ids):
        if (ids[at], ids[at + 1]) == pair:
            ids[at : at + 2] = [new]
        at += 1
    return list(ids)


# %% copies_the_list_for_each_place
LIKELY = "the list is copied for each place that is merged"
HINT = "Begin with an empty list, and append to it."
COSTLY = True


def merge(ids, pair, new):
    at = 0
    while at + 1 < len(ids):
        if (ids[at], ids[at + 1]) == pair:
            ids = ids[:at] + [new] + ids[at + 2 :]
        at += 1
    return list(ids)


# %% never_stops_early
LIKELY = "pairs that come only once are merged, too"
HINT = 'What should `train("abc", 5)` learn?'
REPLACE = {"if pair is None or counts[pair] < 2:": "if pair is None:"}

# %% goes_on_without_pairs
LIKELY = "there are always `count` merges: pairs that come once are merged, and then None, when no pair is left"
HINT = 'What should `train("abc", 5)` learn? When do you leave the loop?'


def train(text, count):
    ids = list(text.encode("utf-8"))
    merges = []
    for new in range(256, 256 + count):
        pair = best_pair(count_pairs(ids))
        merges.append(pair)
        ids = merge(ids, pair, new)
    return merges


# %% stops_at_two
LIKELY = "pairs that come twice are not merged, but two are enough"
HINT = 'What should `train("abab", 5)` learn?'
REPLACE = {"if pair is None or counts[pair] < 2:": "if pair is None or counts[pair] <= 2:"}

# %% characters_not_bytes
LIKELY = "the text begins as code points, from `ord`, and not as bytes"
HINT = "What should the first merge of `éé éé` be?"
REPLACE = {'ids = list(text.encode("utf-8"))': "ids = [ord(character) for character in text]"}

# %% lower_case
LIKELY = "the text is brought to lower case first"
HINT = "Which ids have the bytes of `ABAB`?"
REPLACE = {'ids = list(text.encode("utf-8"))': 'ids = list(text.lower().encode("utf-8"))'}

# %% no_pairs_with_spaces
LIKELY = "white space is removed first, so that no pair has a space"
HINT = "What should the first merge of `a b a b a b` be? A space is a byte as any other here."
REPLACE = {'ids = list(text.encode("utf-8"))': 'ids = list("".join(text.split()).encode("utf-8"))'}

# %% counts_only_once
LIKELY = "the pairs are counted once, in the bytes, and never again after a merge"
HINT = "Can your result have a pair with the id 256?"


def train(text, count):
    counts = count_pairs(list(text.encode("utf-8")))
    ranked = sorted(counts, key=lambda pair: (-counts[pair], pair))
    return [pair for pair in ranked if counts[pair] >= 2][:count]


# %% one_id_for_all_merges
LIKELY = "every merge makes the id 256, so that different pairs get the same id"
HINT = "Which id does the second merge make? Print it."
REPLACE = {"ids = merge(ids, pair, 256 + len(merges))": "ids = merge(ids, pair, 256)"}

# %% ids_from_257
LIKELY = "the first merge makes the id 257: the number of merges is raised before it is used"
HINT = "Bytes go from 0 to 255. Which number is free first?"
REPLACE = {"ids = merge(ids, pair, 256 + len(merges))": "ids = merge(ids, pair, 257 + len(merges))"}

# %% ids_from_0
LIKELY = "new ids begin at 0, so that they are mixed up with bytes"
HINT = "Which ids do the bytes have already? Which number is free first?"
REPLACE = {"ids = merge(ids, pair, 256 + len(merges))": "ids = merge(ids, pair, len(merges))"}

# %% ids_after_the_largest
LIKELY = "a new id is one more than the largest id in the text, but it must not be mixed up with any byte"
HINT = "Which id does the first merge of `abab` make? All numbers up to 255 are bytes."
REPLACE = {"ids = merge(ids, pair, 256 + len(merges))": "ids = merge(ids, pair, max(ids) + 1)"}

# %% one_merge_too_many
LIKELY = "there is one merge more than `count`"
HINT = "How many merges does `train(text, 0)` learn?"
REPLACE = {"while len(merges) < count:": "while len(merges) <= count:"}

# %% one_merge_too_few
LIKELY = "there is one merge less than `count`"
HINT = 'How many merges does `train("abab", 1)` learn?'
REPLACE = {"while len(merges) < count:": "while len(merges) + 1 < count:"}

# %% returns_the_ids
LIKELY = "the result is the shorter text, not the list of merges"
HINT = "What do you need to encode another text?"
REPLACE = {"return merges": "return ids"}

# %% returns_a_dictionary
LIKELY = "the result is a dictionary from pairs to new ids, not a list of pairs"
HINT = "The place of a pair in the list says its id. What is `merges[0]`?"
REPLACE = {"return merges": "return {pair: 256 + at for at, pair in enumerate(merges)}"}

# %% spelled_out
LIKELY = "the result has the bytes that a merge stands for, not the pair of ids"
HINT = 'What should `train("abab", 1)` return? Two ids in a tuple.'


def train(text, count):
    ids = list(text.encode("utf-8"))
    spelled = {one: bytes([one]) for one in range(256)}
    found = []
    while len(found) < count:
        counts = count_pairs(ids)
        pair = best_pair(counts)
        if pair is None or counts[pair] < 2:
            break
        new = 256 + len(found)
        spelled[new] = spelled[pair[0]] + spelled[pair[1]]
        ids = merge(ids, pair, new)
        found.append(spelled[new])
    return found


# %% reflect_both_ids_go
LIKELY = "both ids of a pair are taken away in each place, but one new id comes in"
HINT = "How many ids has [1, 2] before and after a merge of (1, 2)?"
REFLECT_LENGTH_AFTER_1_MERGE = 460
REFLECT_LENGTH_AFTER_10_MERGES = 100

# %% reflect_one_place_only
LIKELY = "a merge makes the list shorter by one id only, but it replaces the pair in 20 places"
HINT = "How many ids does [1, 2, 1, 2] lose in a merge of (1, 2)?"
REFLECT_LENGTH_AFTER_1_MERGE = 499
REFLECT_LENGTH_AFTER_10_MERGES = 490
