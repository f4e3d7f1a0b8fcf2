"""Wrong results of every kind, made by student code in a worker: the message has the first place that differs."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest

from grader.testing import Tolerance, assert_close, assert_equal, assert_unmodified
from tests.conftest import StudentOf


@dataclass
class Place:
    """An object of a course, as its reference returns it."""

    line: int
    words: list[str] = field(default_factory=list)


@dataclass
class Node:
    """An object with another one inside."""

    name: str
    next: Node | None = None


class Pair(NamedTuple):
    """A named tuple of a course."""

    word: str
    number: int


CLASSES = """
from collections import Counter, OrderedDict, defaultdict, deque, namedtuple
import numpy as np

class Place:
    def __init__(self, line, words=()):
        self.line, self.words = line, list(words)

class Node:
    def __init__(self, name, next=None):
        self.name, self.next = name, next

class Bare:
    pass
"""
LONG = "the quick brown fox jumps over the lazy dog"
LINES = "one\ntwo\nthree"
NESTED = {"a": {"at": [1, 2, {"x": (3, 4)}]}, "b": None}
SAME = Node("first")
SAME.next = SAME

# What the student's code returns, what is expected, and the message.
WRONG: list[tuple[str, Any, str]] = [
    # text
    ("'helo'", "hello", "differs at position 3: got 'helo', expected 'hello'"),
    (
        repr(LONG.replace("jumps", "jumped")),
        LONG,
        "differs at position 24: got …'x jumped over the '…, expected …'x jumps over the l'…",
    ),
    ("'hello wor'", "hello world", "ends at position 9, 2 too early: got 'hello wor', expected 'hello world'"),
    ("'hello  '", "hello", "goes on at position 5, 2 too long: got 'hello  ', expected 'hello'"),
    (repr("one\ntwo\ntree"), LINES, "differs at position 9 (line 3, column 2): got 'one\\ntwo\\ntree'"),
    ("'naïve'", "nai\u0308ve", " (U+00EF instead of U+0069)"),
    ("''", "a", "ends at position 0, 1 too early: got '', expected 'a'"),
    ("'x' * 30_000", "y", "differs at position 0: got 'xxxxxxxxxxxx'…, expected 'y'"),
    ("b'abc'", "abc", "expected 'abc', got b'abc'"),
    ("b'ab\\x00'", b"ab\x01", "differs at position 2: got b'ab\\x00', expected b'ab\\x01'"),
    ("3", "3", "expected '3', got 3"),
    ("None", "a", "expected 'a', got None"),
    # lists and tuples
    ("['a', 'c']", ["a", "b"], "result[1]: differs at position 0: got 'c', expected 'b'"),
    ("['a']", ["a", "b"], "1 item instead of 2; result[1] is missing: expected 'b'"),
    ("['a', 'b', 'c']", ["a", "b"], "3 items instead of 2; result[2] is not expected: 'c'"),
    (
        "['b', 'c']",
        ["a", "b", "c"],
        "2 items instead of 3; the first that differs is result[0]: differs at position 0: got 'b', expected 'a'",
    ),
    (
        "(1, 2)",
        [1, 2],
        "a tuple instead of a list: got a tuple of length 2: (1, 2), expected a list of length 2: [1, 2]",
    ),
    ("[1, '2']", [1, 2], "result[1]: expected the number 2, got '2'"),
    ("[[1, 2], [3, 5]]", [[1, 2], [3, 4]], "result[1][1]: expected 4, got 5"),
    ("[True, 1]", [True, True], "result[1]: expected True, got 1"),
    ("[0.1, 0.25]", [0.1, 0.2], "result[1]: the value is off, the largest gap is 0.05: got 0.25, expected 0.2"),
    ("(1, np.array([1.0, 2.5]))", (1, np.array([1.0, 2.0])), "result[1]: 1 of 2 values are off"),
    ("('the', 3)", Pair("the", 2), "result[1]: expected 2, got 3"),
    ("list(range(9_999))", list(range(10_000)), "9999 items instead of 10000; result[9999] is missing: expected 9999"),
    ("range(3)", [0, 1, 2], "an object instead of a list: got <the student's range>, expected a list of length 3"),
    # dicts
    ("{'a': 1, 'b': 3}", {"a": 1, "b": 2}, "result['b']: expected 2, got 3"),
    ("{'a': 1}", {"a": 1, "b": 2}, "the key 'b' is missing"),
    ("{'z': 0, 'a': 1, 'y': 0}", {"a": 1}, "the keys 'y' and 'z' are not expected"),
    ("{'1': 'a'}", {1: "a"}, "the key 1 is missing; the key '1' is not expected ('1' is text, not an integer)"),
    (
        "{'a': {'at': [1, 2, {'x': (3, 5)}]}, 'b': None}",
        NESTED,
        "result['a']['at'][2]['x'][1]: expected 4, got 5",
    ),
    ("{(1, 'a'): 2}", {(1, "a"): 3}, "result[(1, 'a')]: expected 3, got 2"),
    ("Counter('aab')", Counter("abb"), "result['a']: expected 1, got 2"),
    (
        "[('a', 1)]",
        {"a": 1},
        "a list instead of a dict: got a list of length 1: [('a', 1)], expected a dict with 1 key",
    ),
    ("{str(i): i for i in range(9)}", {}, "the keys '0', '1', '2' and 6 more are not expected"),
    # sets
    ("{'a', 'b'}", {"a", "c"}, "'c' is missing; 'b' is not expected"),
    ("{3, 1, 2}", {1}, "2 and 3 are not expected"),
    ("['a']", {"a"}, "a list instead of a set: got a list of length 1: ['a'], expected a set of length 1: {'a'}"),
    ("{'1'}", {1}, "1 is missing; '1' is not expected ('1' is text, not an integer)"),
    ("{0.25, 0.5}", {0.1 + 0.2, 0.5}, "0.30000000000000004 is missing; 0.25 is not expected"),
    ("{'a': {1, 2}}", {"a": {1}}, "result['a']: 2 is not expected"),
    ("frozenset({(1, 2)})", frozenset({(1, 3)}), "(1, 3) is missing; (1, 2) is not expected"),
    # objects
    ("Place(3, ['a', 'b'])", Place(3, ["a", "c"]), "result.words[1]: differs at position 0: got 'b', expected 'c'"),
    ("[Place(1), Place(3)]", [Place(1), Place(2)], "result[1].line: expected 2, got 3"),
    ("Bare()", Place(3), "there is no attribute line"),
    ("3", Place(3), "an integer instead of a Place: got 3, expected an object Place"),
    (
        "Node('a', Node('b', Node('x')))",
        Node("a", Node("b", Node("c"))),
        "result.next.next.name: differs at position 0",
    ),
    ("Node('a', Node('b'))", Node("a"), "result.next: expected None, got <the student's Node>"),
    ("Place(3)", SimpleNamespace(line=4), "result.line: expected 4, got 3"),
    ("deque(['a'])", ["a"], "got <the student's collections.deque>, expected a list of length 1: ['a']"),
    # numbers that are not arrays
    ("2**200 + 1", 2**200, "expected 16069"),
    ("1j", 1 + 1j, "the value is off: got 1j, expected (1+1j)"),
    ("np.array(['a', 'c'])", np.array(["a", "b"]), "result[1]: differs at position 0: got 'c', expected 'b'"),
]


@pytest.mark.parametrize(("code", "expected", "message"), WRONG, ids=[code[:40] for code, _, _ in WRONG])
def test_a_wrong_result_is_shown_at_the_first_place_that_differs(
    student_of: StudentOf, code: str, expected: Any, message: str
) -> None:
    student = student_of(f"{CLASSES}\ndef f():\n    return {code}\n")
    with pytest.raises(AssertionError) as caught:
        assert_close(student.f(), expected)
    text = str(caught.value).split("\nassert")[0]
    assert message in text
    assert len(text) < 400


def test_there_are_forty_of_them_and_ten_of_each_kind_of_container() -> None:
    kinds = Counter(type(expected).__name__ for _, expected, _ in WRONG)
    assert len(WRONG) >= 40
    assert kinds["str"] >= 10
    assert kinds["dict"] >= 8
    assert kinds["list"] + kinds["tuple"] + kinds["Pair"] >= 12
    assert kinds["set"] + kinds["frozenset"] >= 6
    assert kinds["Place"] + kinds["Node"] + kinds["SimpleNamespace"] >= 6


RIGHT: list[tuple[str, Any]] = [
    ("'naïve\\ud800'", "naïve\ud800"),
    ("np.str_('a')", "a"),
    ("{np.int64(3): np.float64(1.5)}", {3: 1.5}),
    ("OrderedDict(b=1, a=2)", {"a": 2, "b": 1}),
    ("defaultdict(list, {'a': [1]})", {"a": [1]}),
    ("frozenset({1, 2})", {2, 1}),
    ("{0.1 + 0.2, 'a'}", {0.3, "a"}),
    ("{(0.1 + 0.2, 'a')}", {(0.3, "a")}),
    ("[0.1 + 0.2, {'a': (0.3,)}]", [0.3, {"a": (0.1 + 0.2,)}]),
    ("{1: 'a', None: 'b', (1, (2,)): {3}}", {1: "a", None: "b", (1, (2,)): {3}}),
    ("namedtuple('P', 'x y')(1, 2)", (1, 2)),
    ("2**300", 2**300),
    ("Node('a', Node('b'))", Node("a", Node("b"))),
    ("np.array(['ab', 'c'])", np.array(["ab", "c"])),
    ("{2**80: b'x', 1j: set()}", {2**80: b"x", 1j: set()}),
]


@pytest.mark.parametrize(("code", "expected"), RIGHT, ids=[code for code, _ in RIGHT])
def test_a_right_result_in_another_style_is_right(student_of: StudentOf, code: str, expected: Any) -> None:
    student = student_of(f"{CLASSES}\ndef f():\n    return {code}\n")
    assert_close(student.f(), expected)


def test_objects_that_contain_each_other_are_compared_once(student_of: StudentOf) -> None:
    student = student_of(f"{CLASSES}\ndef f():\n    node = Node('first')\n    node.next = node\n    return node\n")
    assert_close(student.f(), SAME)


def test_exactly_means_without_a_tolerance(student_of: StudentOf) -> None:
    student = student_of("def f():\n    return {'a': [0.1 + 0.2]}\n")
    assert_close(student.f(), {"a": [0.3]})
    with pytest.raises(AssertionError, match=r"result\['a'\]\[0\]: the value is off"):
        assert_equal(student.f(), {"a": [0.3]})
    assert_close(student.f(), {"a": [0.4]}, Tolerance(0.0, 0.2))


ECHO = """
def same(value):
    return value

def names(value):
    return type(value).__name__

def spoil(words, counts, stopped):
    words.append("x")
    counts["x"] = 1
    stopped.discard("a")
    return len(words)

def keep(word, seen={}):
    seen[word] = seen.get(word, 0) + 1
    return seen
"""
VALUES: list[Any] = [
    {"a", "b"},
    frozenset({1}),
    b"raw",
    {(1, "a"): {2: None}},
    {None: 1, True: 2, 2.5: 3},
    2**100,
    1j,
    [({1},), {"k": frozenset()}],
    "\ud800",
]


# The text of a set has another order in each process: it names no test.
@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_values_pass_both_ways_with_their_types(student_of: StudentOf, value: Any) -> None:
    student = student_of(ECHO)
    back = student.same(value)
    assert (type(back), back) == (type(value), value)
    assert student.names(value) == type(value).__name__


def test_changed_containers_are_named(student_of: StudentOf) -> None:
    student = student_of(ECHO)
    given: tuple[Any, ...] = (["a"], {"a": 1}, {"a"})
    call = student.spoil.call(*given)
    assert {change.argument for change in student._session.record.calls.changes.values()} == {0}
    with pytest.raises(AssertionError, match=r"argument 1 was modified: 2 items instead of 1; argument\[1\] is not"):
        assert_unmodified(call, *given)
    with pytest.raises(AssertionError, match="argument 3 was modified: 'a' is missing"):
        assert_unmodified(call, call.args[0], call.args[1], given[2])


def test_a_result_that_a_later_call_changes_is_as_it_was(student_of: StudentOf) -> None:
    """A default argument that is shared by all calls shows in each result, and only from then on."""
    student = student_of(ECHO)
    from grader.testing import arguments

    assert student.keep.call_many([arguments("a"), arguments("a")]) == [{"a": 1}, {"a": 2}]
