"""What code with lists, dicts, sets, texts, deques and heaps costs: measured in a real worker, as a polynomial.

Each case is a function, the arguments of its contract, and the cost that a reader of the code would find by hand. Its
highest terms must be these, with these factors.
"""

from __future__ import annotations

import textwrap
import tomllib
from collections.abc import Callable
from typing import Any

import pytest

from grader.complexity.cost import Cost
from grader.course.module import Backend
from grader.sandbox.jail.spawner import Spawner
from tests.complexity.measuring import line_of, measure
from tests.conftest import ROOT

IMPORTS = """
import bisect, collections, copy, functools, heapq, itertools, operator, re
"""
ONE = {"sizes": {"n": [6, 2]}, "large": [{"n": 60}]}
TWO = {"sizes": {"n": [6, 2], "m": [6, 2]}, "large": [{"n": 40, "m": 8}, {"n": 8, "m": 40}, {"n": 20, "m": 20}]}
MERGES = {"sizes": {"n": [12, 2], "m": [2, 1]}, "where": ["m <= n"], "large": [{"n": 60, "m": 20}, {"n": 40, "m": 30}]}

# name: (arguments, highest terms, code). `x` is the first argument, `y` the second.
CASES: dict[str, tuple[str, str, str]] = {
    # words
    "counts_words_in_a_dict": (
        "words n below 3",
        "n",
        """
        counts = {}
        for word in x:
            counts[word] = counts.get(word, 0) + 1
        return counts""",
    ),
    "counts_words_with_count": (
        "words n",
        "5*n^2",
        """
        return {word: x.count(word) for word in x}""",
    ),  # each word is compared with n words of 4 letters
    "counts_words_with_counter": ("words n below 3", "n", "return dict(collections.Counter(x))"),
    "splits_and_counts": (
        "sentence n below 3",
        "6*n",
        """
        counts = collections.defaultdict(int)
        for word in x.split():
            counts[word] += 1
        return dict(counts)""",
    ),
    "most_common_words": ("words n below 3", "n", "return sorted(collections.Counter(x).most_common())"),
    "distinct_in_a_list": (
        "list n",
        "n^2/2",
        """
        seen = []
        for one in x:
            if one not in seen:
                seen.append(one)
        return seen""",
    ),
    "distinct_in_a_set": (
        "list n",
        "2*n",
        """
        seen = set()
        for one in x:
            if one not in seen:
                seen.add(one)
        return sorted(seen)""",
    ),
    # lists
    "pops_from_the_front": (
        "list n",
        "n^2/2",
        """
        total = 0
        while x:
            total += x.pop(0)
        return total""",
    ),
    "pops_from_the_end": (
        "list n",
        "n",
        """
        total = 0
        while x:
            total += x.pop()
        return total""",
    ),
    "deletes_the_last": (
        "list n",
        "2*n",
        """
        while x:
            del x[-1]
        return x""",
    ),
    "deletes_the_first": (
        "list n",
        "n^2/2",
        """
        while x:
            del x[0]
        return x""",
    ),
    "inserts_at_the_front": (
        "list n",
        "n^2/2",
        """
        turned = []
        for one in x:
            turned.insert(0, one)
        return turned""",
    ),
    "assigns_a_slice_at_the_front": (
        "list n",
        "n^2/2",
        """
        turned = []
        for one in x:
            turned[:0] = [one]
        return turned""",
    ),
    "adds_lists": (
        "list n",
        "n^2/2",
        """
        made = []
        for one in x:
            made = made + [one]
        return made""",
    ),
    "extends_a_list": (
        "list n",
        "2*n",
        """
        made = []
        for one in x:
            made += [one]
        return made""",
    ),
    "sums_lists": ("list n", "n^2/2", "return sum([[one] for one in x], [])"),
    "joins_lists_with_reduce": ("list n", "n^2/2", "return functools.reduce(operator.add, [[one] for one in x])"),
    "extends_with_reduce": ("list n", "4*n", "return functools.reduce(operator.iadd, [[one] for one in x], [])"),
    "compares_all_suffixes": ("list n", "3*n^2/2", "return [x[at:] == x[at:] for at in range(len(x))]"),
    "looks_up_each_index": ("list n", "n^2", "return [x.index(one) for one in x]"),
    "unpacks_the_rest": (
        "list n",
        "n^2/2",
        """
        total = 0
        while x:
            first, *x = x
            total += first
        return total""",
    ),
    "spreads_into_a_new_list": (
        "list n",
        "n^2/2",
        """
        made = []
        for one in x:
            made = [*made, one]
        return made""",
    ),
    "nested_lists_compared": ("list n", "2*n", "return [x] == [list(x)]"),
    "maps_a_slow_method": ("list n", "n^2", "return list(map(x.count, x))"),
    "maps_contains": ("list n", "n^2", "return sum(map(x.__contains__, x))"),
    "copies_deeply": ("list n", "n^2", "return [copy.deepcopy(x) for _ in x]"),
    "sorts_once": ("list n", "n", "return sorted(x)"),
    "sorts_at_each_step": (
        "list n",
        "n^2/2",
        """
        made = []
        for one in x:
            made.append(one)
            made.sort()
        return made""",
    ),
    "tuples_grow": (
        "list n",
        "n^2/2",
        """
        made = ()
        for one in x:
            made += (one,)
        return made""",
    ),
    "minimum_by_selection": (
        "list n",
        "n^2",
        """
        made = []
        while x:
            least = min(x)
            x.remove(least)
            made.append(least)
        return made""",
    ),
    # texts
    "text_grows": (
        "text n",
        "n^2/2",
        """
        made = ""
        for one in x:
            made += one
        return made""",
    ),
    "text_joined": ("text n", "3*n", 'return "".join([one for one in x])'),
    "text_in_an_f_string": (
        "text n",
        "n^2/2",
        """
        made = ""
        for one in x:
            made = f"{made}{one}"
        return made""",
    ),
    "text_by_format": (
        "text n",
        "n^2/2",
        """
        made = ""
        for one in x:
            made = "{}{}".format(made, one)
        return made""",
    ),
    "text_by_percent": (
        "text n",
        "n^2/2",
        """
        made = ""
        for one in x:
            made = "%s%s" % (made, one)
        return made""",
    ),
    "text_replaced_for_each_letter": (
        "text n",
        "n^2",
        """
        for one in list(x):
            x = x.replace(one, one)
        return x""",
    ),
    "text_cut_at_the_front": (
        "text n",
        "n^2/2",
        """
        while x:
            x = x[1:]
        return x""",
    ),
    "text_read_with_startswith": (
        "text n",
        "3*n",
        """
        return sum(x.startswith("a", at) for at in range(len(x)))""",
    ),
    "text_searched_from_a_place": (
        "text n below 2",
        "3*n/2",
        """
        at = x.find("a", 0)
        while at >= 0:
            at = x.find("a", at + 1)
        return at""",
    ),
    "text_searched_from_the_beginning": ("text n", "n^2", "return [x.find(one) for one in x]"),
    "substrings_in_a_text": ("text n", "n^2", "return [one in x for one in x]"),
    "palindromes": (
        "text n",
        "3*n^2/2",
        """
        count = 0
        for at in range(len(x)):
            part = x[at:]
            count += part == part[::-1]
        return count""",
    ),
    "bytes_grow": (
        "text n below 3",
        "n^2/2",
        """
        made = b""
        for one in x.encode():
            made += bytes((one,))
        return made""",
    ),
    "bytearray_grows": (
        "text n below 3",
        "5*n",
        """
        made = bytearray()
        for one in x.encode():
            made += bytes((one,))
        return bytes(made)""",
    ),
    "regular_expression": ("sentence n below 3", "5*n", 'return len(re.findall("[a-z]+", x))'),
    "regular_expression_at_each_place": (
        "text n",
        "2*n",
        """
        letter, count = re.compile("[a-z]"), 0
        for at in range(len(x)):
            count += letter.match(x, at) is not None
        return count""",
    ),
    # dicts, sets and keys
    "dict_copied_at_each_step": (
        "dict n",
        "n^2",
        """
        made = [dict(x) for _ in x]
        return len(made)""",
    ),
    "dicts_merged_at_each_step": (
        "dict n",
        "n^2/2",
        """
        made = {}
        for key in x:
            made = {**made, key: 1}
        return made""",
    ),
    "dict_searched_by_value": ("dict n", "n^2", "return [one in x.values() for one in range(len(x))]"),
    "tuple_as_a_key": (
        "list n",
        "n^2",
        """
        table, key = {}, tuple(x)
        for one in x:
            table[key] = one
        return len(table)""",
    ),
    "sets_intersected": (
        "list n; list m",
        "n*m",
        """
        left = set(x)
        return sum(len(left | {one}) for one in y)""",
    ),
    "set_updated": (
        "list n; list m",
        "n + 2*m",
        """
        left = set(x)
        for one in y:
            left |= {one}
        return len(left)""",
    ),
    "pairs": ("list n; list m", "2*n*m", "return sum(a == b for a in x for b in y)"),
    "pairs_by_product": ("list n; list m", "2*n*m", "return sum(1 for _ in itertools.product(x, y))"),
    # pairs of tokens merged m times, as in byte-pair encoding: each merge shortens the list by one
    "pairs_merged": (
        "list n; size m",
        "15*n*m",
        """
        for new in range(y):
            pairs = collections.Counter(zip(x, x[1:]))
            best, made, at = max(pairs, key=pairs.get), [], 0
            while at < len(x):
                if tuple(x[at:at + 2]) == best:
                    made.append(-new)
                    at += 2
                else:
                    made.append(x[at])
                    at += 1
            x = made
        return x""",
    ),
    # deques, heaps, bisection, iterators
    "deque_as_a_queue": (
        "list n",
        "2*n",
        """
        queue, total = collections.deque(x), 0
        while queue:
            total += queue.popleft()
        return total""",
    ),
    "deque_rotated_by_one": (
        "list n",
        "4*n",
        """
        ring = collections.deque(x)
        for _ in range(len(x)):
            ring.rotate(-1)
        return list(ring)""",
    ),
    "deque_read_in_the_middle": (
        "list n",
        "n^2/2",
        """
        queue = collections.deque(x)
        return [queue[len(x) // 2] for _ in x]""",
    ),
    "heap_sort": (
        "list n",
        "2*n",
        """
        heapq.heapify(x)
        return [heapq.heappop(x) for _ in range(len(x))]""",
    ),
    "smallest_again_and_again": ("list n", "n^2", "return [heapq.nsmallest(1, x) for _ in x]"),
    "insort": (
        "list n",
        "n^2/2",
        """
        made = []
        for one in x:
            bisect.insort(made, one)
        return made""",
    ),
    "bisection": (
        "list n",
        "2*n",
        """
        made = sorted(x)
        return [bisect.bisect_left(made, one) for one in x]""",
    ),
    "last_by_islice": ("list n", "n^2", "return [next(itertools.islice(x, len(x) - 1, None)) for _ in x]"),
    "first_true_by_filter": ("list n", "2*n^2", "return [sum(filter(None, x)) for _ in x]"),
    "groups": ("text n below 3", "2*n^2", "return [len([key for key, _ in itertools.groupby(sorted(x))]) for _ in x]"),
    "slices_by_itemgetter": (
        "list n",
        "n^2",
        """
        front = operator.itemgetter(slice(0, len(x)))
        return [len(front(x)) for _ in x]""",
    ),
}


def _source() -> str:
    parts = []
    for name, (args, _, code) in CASES.items():
        names = "x, y" if ";" in args else "x"
        parts.append(f"def {name}({names}):\n{textwrap.indent(textwrap.dedent(code).strip(), '    ')}")
    return IMPORTS + "\n\n" + "\n\n\n".join(parts) + "\n"


def _sizes(args: str) -> dict[str, Any]:
    return MERGES if "size m" in args else TWO if ";" in args else ONE


def _costs(spawner: Spawner, limit: Callable[[str], Any]) -> dict[str, Cost]:
    """Measure all cases at once; `limit` makes a limit of the highest terms."""
    table = {
        name: {"args": args.split("; "), **_sizes(args), "points": 1, "steps": limit(terms)}
        for name, (args, terms, _) in CASES.items()
    }
    return {name: one.costs[0] for name, one in measure(spawner, table, _source()).items()}


def _exactly(terms: str) -> Any:
    return {"law": terms, "exact": 1}


def _one_degree_less(terms: str) -> str:
    return "n + m" if "m" in terms else "n" if "^2" in terms else "1"


@pytest.fixture(scope="module")
def exact(spawners: dict[Backend, Spawner]) -> dict[str, Cost]:
    return _costs(spawners["numpy"], _exactly)


@pytest.fixture(scope="module")
def too_low(spawners: dict[Backend, Spawner]) -> dict[str, Cost]:
    return _costs(spawners["numpy"], _one_degree_less)


@pytest.mark.parametrize("name", CASES)
def test_highest_terms_are_those_that_a_reader_finds(exact: dict[str, Cost], name: str) -> None:
    cost = exact[name]
    assert (cost.verdict, cost.message) == ("pass", ""), (cost.measured, cost.message)
    assert "grows like" not in (cost.measured, cost.message)


@pytest.mark.parametrize("name", [name for name, (_, terms, _) in CASES.items() if "^2" in terms or "n*m" in terms])
def test_a_limit_one_degree_lower_is_broken(too_low: dict[str, Cost], name: str) -> None:
    cost = too_low[name]
    assert cost.verdict == "fail", (cost.measured, cost.message)


# Expressions that hide a loop over n entries, as code would write them that wants to avoid being counted. Each of them
# runs n times. x is a list, t a tuple, s a text, b bytes, d a dict, q a set, and none of them changes.
HIDING = """
x == y; x <= y <= x; [x] == [y]; (x, 1) < (y, 0); -1 in x; -1 not in t; "~" in s; -1 in d.values(); x + []
x * 1; x[:]; t[::-1]; s[1:]; b[1:]; s + ""; s * 2; [*x]; {*x}; {**d}; t + (); b + b""; f"{s}"; f"{x}"
f"{'':>{100 * len(x)}}"; "%s" % s; "{}".format(s); "{:>{}}".format("", 100 * len(x)); str(x); repr(x)
format(s, "s"); format("", ">" + str(100 * len(x))); q | set(); q & set_of_x; q - {1}; q ^ set_of_x
q <= set_of_x; q == set_of_x; d == dict_of_d; d | {}; d.keys() & q; q.union(x); q.issubset(q); {t}; {t: 1}
{t: 1 for _ in "a"}; hash(t); d.get(t); t in d; set([t]); dict.fromkeys([t]); {t for _ in "a"}; d.copy()
x.count(1); getattr(x, "count")(1); list.count(x, 1); functools.partial(list.count, x)(1); x.copy()
x.__contains__(-1); list.__contains__(x, -1); x.__eq__(y); x.__add__([]); list.__add__(x, [])
x.__getitem__(slice(0, None)); x.index(x[-1]); operator.contains(x, -1); operator.countOf(x, 1)
operator.indexOf(x, x[-1]); operator.eq(x, y); operator.concat(x, []); operator.getitem(x, slice(None))
operator.itemgetter(slice(None))(x); next(map(x.count, [1]))
next(map(operator.contains, [x], [-1])); next(filter(None, zeros), 0)
next(itertools.islice(x, len(x) - 1, None)); next(itertools.compress(x, zeros), 0); next(itertools.product(x))
next(itertools.permutations(x)); next(itertools.chain.from_iterable(empties), 0)
[1 for _ in itertools.groupby(zeros)]; collections.deque(x, maxlen=1); collections.Counter(x)
counter.most_common(1); collections.OrderedDict(d); sum(x); max(x); min(x, key=abs); any(zeros); all(x)
sorted(x); tuple(x); set(x); frozenset(x); list(map(abs, x)); list(zip(x, x)); dict(zip(x, x))
list(reversed(x)); list(enumerate(x)); functools.reduce(max, x); sum([x, x], [])
functools.reduce(operator.add, [x, x]); s.find("~"); s.count("~"); s.replace("a", "b"); s.split("~"); s.upper()
s.encode(); b.decode(); " ".join(s); s.join("ab"); "".join([s, s]); s.index(s[-1]); s.translate({}); s.isalpha()
s.startswith(s); s.zfill(2 * len(s)); s.center(2 * len(s)); s.rfind("~"); s.partition("~"); str.upper(s)
b.find(b"~"); bytearray(b); re.findall("~", s); re.sub("~", "b", s); re.search("~", s)
re.compile("~").search(s); re.split("~", s); heapq.nlargest(1, x); heapq.heapify(y); copy.copy(x)
copy.deepcopy([x]); queue[len(x) // 2]; bisect.insort(y, -1); tuple.__new__(tuple, x); array.array("l", x)
statistics.mean(x); string.capwords(s); textwrap.dedent(s); list(lazy)
len(list(iter(x))); x.__lt__(y); max(s); Lying(x) == y; s == s_again; s < s_again; counter & counter
queue.count(-1); queue.rotate(len(x) // 2); queue.copy(); -1 in queue; numbers.count(-1); numbers[1:]
numbers + numbers; str.__add__(s, s); str.join('', [s, s]); list.__mul__(x, 2)
"""
# What has no price is for an instructor.
UNKNOWN = """
collections.UserList(x).count(1); json.dumps(x); operator.methodcaller("count", 1)(x)
"""
EXPRESSIONS = [one for line in (HIDING + UNKNOWN).splitlines() for one in line.split("; ") if one]
HIDING_SOURCE = """
import array, bisect, collections, copy, functools, heapq, itertools, json, operator, re, statistics, string, textwrap

class Lying(list):
    def __len__(self):
        return 1

class Lazy(collections.abc.Sequence):
    def __init__(self, items):
        self.items = items
    def __len__(self):
        return 0
    def __getitem__(self, at):
        return self.items[at]
    def __iter__(self):
        return iter(self.items)
"""
PRELUDE = """
y, t, q, b, zeros, empties = list(x), tuple(x), set(x), s.encode(), [0] * len(x), [[]] * len(x)
set_of_x, dict_of_d, s_again, counter = set(x), dict(d), "".join(list(s)), collections.Counter(x)
queue, numbers, lazy = collections.deque(x), array.array("l", x), Lazy(x)
"""


@pytest.fixture(scope="module")
def hiding(spawners: dict[Backend, Spawner]) -> dict[str, Cost]:
    loop = textwrap.indent(PRELUDE + "for _ in x:\n    {}\nreturn len(x)", "    ")
    functions = [f"def f{at}(x, s, d):{loop.replace('{}', one)}" for at, one in enumerate(EXPRESSIONS)]
    table = {
        f"f{at}": {"args": ["list n", "text n below 9", "dict n"], **ONE, "points": 1, "steps": "n"}
        for at, _ in enumerate(EXPRESSIONS)
    }
    found = measure(spawners["numpy"], table, HIDING_SOURCE + "\n\n".join(functions))
    return {one: found[f"f{at}"].costs[0] for at, one in enumerate(EXPRESSIONS)}


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_an_operation_on_a_container_cannot_hide_a_loop(hiding: dict[str, Cost], expression: str) -> None:
    cost = hiding[expression]
    if expression in UNKNOWN:
        assert cost.verdict == "inconclusive"
        assert "whose cost is unknown" in cost.message
    else:
        assert cost.verdict == "fail", (cost.measured, cost.message)


# The contract of docs/authoring-reference.md ----------------------------------------------------------------

COUNTS = """
def count_words(words):
    counts = {}
    for word in words:
        counts[word] = counts.get(word, 0) + 1
    return counts
"""
COUNTS_EACH_WORD_AGAIN = """
def count_words(words):
    return {word: words.count(word) for word in set(words)}
"""


@pytest.fixture(scope="module")
def documented() -> dict[str, Any]:
    section = (ROOT / "docs" / "authoring-reference.md").read_text().partition("## Lists, dicts and texts")[2]
    block = section.partition("```toml\n")[2].partition("```")[0]
    contracts: dict[str, Any] = tomllib.loads(block)["complexity"]
    return contracts


def test_the_documented_contract_is_kept_by_one_pass(
    spawners: dict[Backend, Spawner], documented: dict[str, Any]
) -> None:
    (cost,) = measure(spawners["numpy"], documented, COUNTS)["count_words"].costs
    assert (cost.verdict, cost.measured) == ("pass", "n + 1")


def test_the_documented_contract_is_broken_by_a_pass_for_each_word(
    spawners: dict[Backend, Spawner], documented: dict[str, Any]
) -> None:
    (cost,) = measure(spawners["numpy"], documented, COUNTS, COUNTS_EACH_WORD_AGAIN)["count_words"].costs
    assert (cost.verdict, cost.message) == ("fail", "5·n·v is more than n")
    assert cost.place is not None
    assert cost.place.line == line_of("words.count", COUNTS, COUNTS_EACH_WORD_AGAIN)
