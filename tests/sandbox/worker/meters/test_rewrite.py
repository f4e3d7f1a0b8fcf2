"""Rewritten code behaves as before: every construct of Python, run with and without hooks."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np
import pytest

from grader.sandbox.worker.meters.meter import Meter
from grader.sandbox.worker.meters.price_list import handler_of, may_call, price_of
from grader.sandbox.worker.meters.rewrite import METER, SLICE, rewrite

PRELUDE = "import numpy as np\nimport operator, functools, itertools, math\n"
PROGRAMS = {
    "slices": "x = list(range(10))\nresult = (x[2:5], x[::-1], x[-3:], np.eye(3)[1:, :2], np.arange(8)[1:7:2])",
    "slice stores": "x = list(range(6))\nx[1:3] = [9]\ny = np.zeros((3, 3))\ny[1] = 5\ny[:, 0] += 2\nresult = x, y",
    "tuple targets": "x = [1, 2, 3]\nx[0], x[-1] = x[-1], x[0]\n(a, *b), c = (x, 4)\nresult = x, a, b, c",
    "chained": "a = b = [1]\na += [2]\nresult = a, b, 1 < 2 < 3, 3 > 2 > 5",
    "chains of is": "a = b = np.ones(3)\nresult = a is b is not None, 1 < len(a) < 4",
    "unpacked mappings": """
class Settings:
    def keys(self):
        return ["a", "b"]
    def __getitem__(self, key):
        return key * 2
def joined(**settings):
    return settings
result = {**Settings(), "c": 1}, joined(**Settings()), joined(**{"d": 2})
""",
    "star patterns": """
def first(value):
    match value:
        case [one, *rest]:
            return one, rest
        case {"a": one, **rest}:
            return one, rest
        case _:
            return value
result = [first(one) for one in ([1, 2, 3], {"a": 1, "b": 2}, 5, None, "text", np.float64(2.0))]
array = np.array(3.0)
result.append(first(array) is array)
""",
    "membership": """
class Both:
    def __contains__(self, one):
        return one == "mine"
    def __iter__(self):
        return self
    def __next__(self):
        raise StopIteration
rest = iter([1, 2, 3, 4])
result = "mine" in Both(), 2 in rest, list(rest), 9 in zip([1], [2])
""",
    "copies": """
import copy
loop = [1, np.ones(2)]
loop.append(loop)
class Node:
    pass
a, b = Node(), Node()
a.other, b.other = b, a
twin, again = copy.deepcopy(loop), copy.deepcopy(a)
result = twin[2] is twin, again.other.other is again, copy.copy([1, [2]])
""",
    "products and running sums": """
result = (math.prod([2, 3.0], start=4), math.prod([]), list(itertools.accumulate([1, 2, 3])),
          list(itertools.accumulate([1, 2], initial=5)), list(itertools.accumulate([2, 3], operator.mul)),
          list(itertools.accumulate([2, 3], func=max)), divmod(7, 2), divmod(np.arange(4), 3))
""",
    "attributes": "x = np.zeros((2, 2))\nx.flat = 3\nx.real = x + 1\nresult = x, x.imag, x.T.real",
    "augmented": """
class Box:
    def __init__(self):
        self.__hidden, self.open = 1, [1]
    def grow(self):
        self.__hidden += 2
        self.open += [3]
        self.open[0] *= 7
        return self.__hidden, self.open
result = Box().grow()
""",
    "order of evaluation": """
seen = []
def say(x):
    seen.append(x)
    return x
d = {}
d[say("key")] = say("value")
d[say("key")] += say("more")
say(2) + say(3) * say(4)
result = seen, d
""",
    "comprehensions": """
result = ([x * y for x in range(4) if x % 2 for y in range(3)], {x: x ** 2 for x in range(3)}, {c for c in "abca"},
          list(x + 1 for x in range(3)), [(lambda: i)() for i in range(3)])
""",
    "generators": """
def count(n):
    for i in range(n):
        got = yield i
        if got:
            yield got
def both():
    value = yield from count(2)
    return value
g = count(3)
result = next(g), g.send("hello"), list(g), list(both())
""",
    "closures and defaults": """
def outer(n, step=1 + 1):
    total = 0
    def inner(x, *, by=step * 2):
        nonlocal total
        total += x * by
        return total
    return [inner(i) for i in range(n)]
result = outer(4)
""",
    "classes": """
class Base:
    def area(self): return 1
class Shape(Base):
    sides = 2 + 2
    def __init__(self, *sizes, **names): self.sizes, self.names = sizes, names
    def area(self): return super().area() + sum(self.sizes)
    @property
    def double(self): return self.area() * 2
    @staticmethod
    def make(*args): return Shape(*args, kind="made")
    @classmethod
    def name(cls): return cls.__name__
    def __matmul__(self, other): return self.sizes + other.sizes
    def __getitem__(self, index): return ("item", index)
    def __contains__(self, x): return x in self.sizes
    def __lt__(self, other): return self.area() < other.area()
    def __neg__(self): return "negative"
s = Shape.make(1, 2)
result = s.double, s.names, Shape.name(), s @ Shape(9), s[1:2, ...], 2 in s, 7 in s, s < Shape(9), -s, Shape.sides
""",
    "exceptions": """
log = []
for bad in (lambda: 1 / 0, lambda: [][1], lambda: {}["k"], lambda: None + 1, lambda: np.ones(2) @ np.ones(3)):
    try:
        bad()
    except (ZeroDivisionError, IndexError, KeyError, TypeError, ValueError) as error:
        log.append((type(error).__name__, str(error)))
    finally:
        log.append("done")
result = log
""",
    "with, walrus, match": """
import contextlib
with contextlib.suppress(ValueError), np.errstate(divide="ignore"):
    int("x")
if (n := len([1, 2, 3])) > 2:
    n *= 2
match (1, [2, 3]):
    case (1, [a, *rest]) if a + 1 == 3: found = a, rest
    case _: found = None
result = n, found, f"{n + 1:>{2 * 3}}", f"{np.float64(1.5)!r}"
""",
    "higher order": """
result = (list(map(operator.mul, [1, 2], [3, 4])), functools.reduce(operator.add, [1, 2, 3], 10),
          functools.reduce(lambda a, b: a * b, [2, 3, 4]), sorted(["bb", "a"], key=len), max([3, 1], key=lambda x: -x),
          functools.partial(pow, 2)(5), list(itertools.accumulate([1, 2, 3], operator.mul)), sum([[1], [2]], []),
          min(3, 1, 2), sum(x for x in range(4)), list(filter(None, [0, 1])), any(x > 1 for x in [1, 2]),
          list(zip(*[[1, 2], [3, 4]])), dict(a=1, **{"b": 2}), [*range(2), *"ab"], max([], default=7))
""",
    "numpy": """
a, b = np.arange(6.0).reshape(2, 3), np.ones((3, 2))
m = a > 2
c = a.copy()
c[m] = 0
c[~m] -= 1
result = (a @ b, a.dot(b), np.einsum("ij,jk->ik", a, b), np.tensordot(a, b, 1), (a * a).sum(axis=0), np.add.reduce(a),
          np.where(m, a, -a), c, a.T, a[..., None].shape, np.vectorize(lambda x: x + 1)(a),
          np.apply_along_axis(lambda r: r.sum(), 1, a), np.fromfunction(lambda i, j: i + j, (2, 2)), a.mean(),
          np.multiply.outer([1, 2], [3]), a.tolist(),
          np.exp(a, out=np.empty_like(a), where=m, dtype=float)[m], [float(x) for x in a.flat], a[0] @ a[1])
""",
    "frames": """
def f(a):
    b = a + 1
    return sorted(locals())
result = f(1), "np" in globals(), sorted(vars(type("T", (), {"x": 1})))[-1]
""",
    "decorators": """
def twice(f):
    @functools.wraps(f)
    def wrapped(*args): return 2 * f(*args)
    return wrapped
@twice
@functools.lru_cache(maxsize=None)
def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
from dataclasses import dataclass, field
@dataclass(frozen=True, order=True)
class Point:
    x: int
    y: "list[int]" = field(default_factory=list)
result = fib(6), Point(1) < Point(2), Point(3).y
""",
    "while, for else, del, assert, star": """
out = []
i = 0
while i < 5:
    i += 1
    if i == 2: continue
    if i == 4: break
else:
    out.append("never")
for x in [1, 2]:
    pass
else:
    out.append("ended")
d = {"a": 1, "b": 2}
del d["a"]
x = [1, 2, 3]
del x[0:1]
assert x, "not empty"
def f(a, /, b, *args, c=1, **rest): return a, b, args, c, rest
result = i, out, d, x, f(1, 2, *[3, 4], c=5, **{"z": 6}), -x[0], +x[0], ~x[0], not x
""",
}


def run(source: str, *, hooked: bool) -> Any:
    tree: Any = ast.parse(PRELUDE + source)
    names: dict[str, Any] = {"__name__": "__main__"}
    if hooked:
        meter = Meter(price_of, handler_of, may_call)
        meter.files.append("program.py")
        tree, names = rewrite(tree, 0), names | {METER: meter, SLICE: slice}
    exec(compile(tree, "program.py", "exec"), names)
    return names["result"]


@pytest.mark.parametrize("source", PROGRAMS.values(), ids=PROGRAMS.keys())
def test_rewritten_code_gives_the_same_result(source: str) -> None:
    plain, hooked = run(source, hooked=False), run(source, hooked=True)
    assert repr(hooked) == repr(plain)


def counted(source: str, call: str) -> dict[str, int]:
    meter = Meter(price_of, handler_of, may_call)
    meter.files.append("program.py")
    names: dict[str, Any] = {"__name__": "__main__", METER: meter, SLICE: slice, "np": np}
    code = compile(rewrite(ast.parse(PRELUDE + source), 0), "program.py", "exec")
    meter.add_own_code(code)
    exec(code, names)
    meter.reset()
    eval(compile(rewrite(ast.parse(f"result = {call}"), 0), "call.py", "exec"), names)
    assert meter.unknown == {}
    return meter.counts()


@pytest.mark.parametrize(
    ("expression", "meter", "count"),
    [
        ("np.ones((3, 4)) @ np.ones((4, 5))", "mul", 60),
        ("np.ones((2, 3, 4)) @ np.ones((2, 4, 5))", "mul", 120),
        ("np.ones(7) @ np.ones(7)", "mul", 7),
        ("np.dot(np.ones((3, 4)), np.ones(4))", "mul", 12),
        ("np.vdot(np.ones((3, 4)), np.ones((3, 4)))", "mul", 12),
        ("np.inner(np.ones((3, 4)), np.ones((5, 4)))", "mul", 60),
        ("np.outer(np.ones(3), np.ones(4))", "mul", 12),
        ("np.tensordot(np.ones((3, 4, 5)), np.ones((4, 5, 6)), axes=2)", "mul", 360),
        ("np.einsum('ij,jk->ik', np.ones((3, 4)), np.ones((4, 5)))", "mul", 60),
        ("np.einsum('...ij,...jk', np.ones((2, 3, 4)), np.ones((2, 4, 5)))", "mul", 120),
        ("np.einsum('ij,ij->', np.ones((3, 4)), np.ones((3, 4)))", "mul", 12),
        ("np.ones((3, 4)) * np.ones(4)", "mul", 12),
        ("np.ones((3, 4)) ** 2", "mul", 12),
        ("np.square(np.ones(5))", "mul", 5),
        ("2.0 * 3.0", "smul", 1),
        ("2 * 3", "smul", 0),
        ("np.float64(2) * 3", "smul", 1),
        ("np.ones((3, 4)).sum()", "work", 24),  # made, then read
        ("np.exp(np.ones((3, 4)))", "work", 24),
        ("np.zeros((3, 4))[:, 1:]", "work", 12),  # a view is free
        ("np.zeros((3, 4)).reshape(12)", "work", 12),
        ("np.zeros((3, 4)).T.reshape(12)", "work", 24),  # a copy is not
        ("np.zeros((3, 4))[[0, 2]]", "work", 20),
        ("np.ones(5).tolist()", "work", 10),
        ("np.zeros((3, 4))", "mem", 96),
        ("np.zeros((3, 4), dtype=np.float32).sum()", "mem", 48),
        ("np.broadcast_to(np.ones(4), (3, 4))", "mem", 32),
        ("sum([1, 2, 3])", "steps", 3),
        ("max(range(9))", "steps", 9),
        ("sorted('abc')", "steps", 3),
        ("5 in [1, 2, 3]", "steps", 3),
        ("5 in {1, 2, 3}", "steps", 0),
        ("[0] * 9", "steps", 9),
        ("list(range(9))[2:6]", "steps", 13),
        ("[x for x in range(4)]", "steps", 4),
        ("[x for x in range(4) if x > 9]", "steps", 4),
        ("[].append(1)", "steps", 0),
        ("list(map(operator.neg, [1, 2]))", "steps", 4),
    ],
)
def test_counts_of_expressions(expression: str, meter: str, count: int) -> None:
    assert counted("", expression)[meter] == count


@pytest.mark.parametrize("call", ["np.unique(np.arange(4), return_counts=True)", "np.sort([3, 1, 2])"])
def test_sorting_has_a_price_whatever_it_returns(call: str) -> None:
    assert counted("", call)["work"] > 0


def test_freed_memory_is_not_counted() -> None:
    source = """
def f(n):
    total = 0.0
    for i in range(n):
        block = np.ones(100)
        total = total + block.sum()
    return total
"""
    assert (
        counted(source, "f(3)")["mem"] == counted(source, "f(50)")["mem"] == 1600
    )  # the new block is made before the old one is freed


@pytest.mark.parametrize("name", ["outer", "tensordot", "trace", "diagonal", "matmul"])
def test_a_function_of_linalg_has_the_price_of_its_twin(name: str) -> None:
    assert price_of(getattr(np.linalg, name)) is price_of(getattr(np, name)) is not None
