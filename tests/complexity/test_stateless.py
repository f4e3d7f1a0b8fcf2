"""Stateless files: code that can leave something behind is never taken for one that cannot."""

from __future__ import annotations

import pytest

from grader.authoring.misconceptions import as_submission, read_misconceptions
from grader.complexity.stateless import is_stateless
from grader.course.course import Course
from tests.cases import cases

NUMPY = b"import numpy as np\n"  # in front of each
# In each, a call of `f` could change what a later call of `g` gives.
LEAVE_SOMETHING = {
    "a global": "count = 0\ndef f():\n    global count\n    count += 1\ndef g():\n    return count\n",
    "a list": "seen = []\ndef f(x):\n    seen.append(x)\ndef g():\n    return len(seen)\n",
    "a dict": "seen = {}\ndef f(x):\n    seen[0] = x\ndef g():\n    return seen\n",
    "an array": "W = np.zeros(3)\ndef f():\n    W[0] = 1\ndef g():\n    return W\n",
    "an array by out=": "W = np.zeros(3)\ndef f():\n    np.exp(W, out=W)\ndef g():\n    return W\n",
    "a list in a tuple": "pair = (1, [])\ndef f(x):\n    pair[1].append(x)\ndef g():\n    return pair\n",
    "a variable bound twice": "a = 1\na = []\ndef f(x):\n    a.append(x)\ndef g():\n    return a\n",
    "a variable of a loop": "for a in [[]]:\n    pass\ndef f(x):\n    a.append(x)\n",
    "a walrus": "print(a := [])\ndef f(x):\n    a.append(x)\n",
    "a walrus in an annotation": "def f(x: (a := [])):\n    a.append(x)\n",
    "a caught error": "try:\n    1 / 0\nexcept ZeroDivisionError as e:\n    a = e\ndef f(x):\n    a.args = x\n",
    "a default": "def f(x, seen=[]):\n    seen.append(x)\n    return len(seen)\n",
    "a default that is called": "def f(x, seen=dict()):\n    seen[0] = x\n",
    "a default of a lambda": "f = lambda x, seen=[]: seen.append(x)\n",
    "an attribute of a function": "def f(x):\n    f.seen = x\ndef g():\n    return f.seen\n",
    "setattr": "def f(x):\n    setattr(g, 'seen', x)\ndef g():\n    return 1\n",
    "globals": "def f(x):\n    globals()['a'] = x\ndef g():\n    return a\n",
    "a builtin that is shadowed elsewhere": "def f(x):\n    globals()['a'] = x\ndef h(globals):\n    return globals\n",
    "the globals of a function": "def f(x):\n    f.__globals__['a'] = x\n",
    "the defaults of a function": "def f(x=1):\n    f.__defaults__ = (2,)\n",
    "a frame": "def f(x):\n    (i for i in x).gi_frame.f_globals['a'] = x\n",
    "a class": "class A:\n    seen = []\ndef f(x):\n    A.seen.append(x)\n",
    "a decorator": "import functools\n@functools.cache\ndef f(x):\n    return [x]\n",
    "a cache": "from functools import lru_cache\nf = lru_cache(None)(lambda x: [x])\n",
    "nonlocal": "def make():\n    n = 0\n    def f():\n        nonlocal n\n        n += 1\n    return f\nf = make()\n",
    "a generator": "def make():\n    yield 1\n    yield 2\nit = make()\ndef f():\n    return next(it)\n",
    "settings kept by a generator": "def f():\n    with np.errstate(all='raise'):\n        yield 1\n",
    "random numbers": "def f(x):\n    return np.random.normal()\n",
    "random numbers by another name": "from numpy import random\ndef f(x):\n    return random.normal()\n",
    "Python's random numbers": "import random\ndef f(x):\n    return random.random()\n",
    "settings": "def f(x):\n    np.seterr(all='raise')\n",
    "settings of printing": "def f(x):\n    np.set_printoptions(precision=2)\n",
    "a function of a library": "def f(x):\n    np.exp = np.log\n",
    "a library in another variable": "def f(x):\n    n = np\n    n.seterr(all='raise')\n",
    "a library's name used twice": "def f(np):\n    np.sum = 1\ndef g(x):\n    return np.sum(x)\n",
    "memory": "def f(x):\n    return np.empty(3)\n",
    "memory by where=": "def f(x):\n    return np.log(x, where=x > 0)\n",
    "memory by keywords": "def f(x):\n    return np.log(x, **{'where': x > 0})\n",
    "memory by a class": "def f(x):\n    return np.ndarray(3)\n",
    "a file": "def f(x):\n    open('a', 'w').write('1')\n",
    "a module": "import os\ndef f(x):\n    os.environ['a'] = '1'\n",
    "a module of one's own": "from mylab.softmax import softmax\ndef f(x):\n    return softmax(x)\n",
    "all names of a library": "from numpy import *\ndef f(x):\n    return exp(x)\n",
    "what a notebook has": "def f(x):\n    Out[0] = x\n",
    "unknown code": "def f(x:\n",
    "asynchronous code": "async def f(x):\n    return x\n",
    "exec": "def f(x):\n    exec('a = 1', {})\n",
}
LEAVE_NOTHING = {
    "constants": "SCALE = -1.5\nKINDS = (np.float32, 'x')\nNONE = -np.inf\ndef f(x):\n    return x * SCALE\n",
    "helpers": "def h(x):\n    return np.exp(x)\ndef f(x, axis=-1):\n    return h(x) / h(x).sum(axis)\n",
    "local lists": "def f(x):\n    out = []\n    for row in x:\n        out.append([a for a in row])\n    return out\n",
    "local functions": "def f(x):\n    def h(y):\n        return y + 1\n    return [h(a) for a in x]\n",
    "changed arguments": "def f(x):\n    x -= x.max()\n    x[0] = 1\n    return x\n",
    "errors": "import math\ndef f(x):\n    if x < 0:\n        raise ValueError(f'{x}')\n    return math.sqrt(x)\n",
    "settings that end": "def f(x):\n    with np.errstate(all='ignore'):\n        return np.log(x)\n",
    "a list that no function uses": "shown = [1, 2]\nshown.append(3)\nprint(shown)\ndef f(x):\n    return np.sum(x)\n",
    "annotations": "def f(x: np.ndarray | list[int]) -> None:\n    print(x)\n",
    "a main program": "def f(x):\n    return x\nif __name__ == '__main__':\n    import os\n    os.environ['a'] = '1'\n",
}


@pytest.mark.parametrize("source", LEAVE_SOMETHING.values(), ids=LEAVE_SOMETHING.keys())
def test_code_that_can_leave_something_is_not_stateless(source: str) -> None:
    assert not is_stateless({"cells": (NUMPY + source.encode(),), "notebook": False})
    assert not is_stateless({"cells": (NUMPY, source.encode()), "notebook": True})


@pytest.mark.parametrize("source", LEAVE_NOTHING.values(), ids=LEAVE_NOTHING.keys())
def test_plain_code_is_stateless(source: str) -> None:
    assert is_stateless({"cells": (NUMPY + source.encode(),), "notebook": False})


def test_a_mutable_variable_of_another_cell_counts() -> None:
    cells = (b"seen = []", b"def f(x):\n    seen.append(x)\n")
    assert not is_stateless({"cells": cells, "notebook": True})
    assert is_stateless({"cells": (cells[0], b"def f(x):\n    return x\n"), "notebook": True})


def test_most_wrong_ways_of_the_first_module_are_stateless(course: Course) -> None:
    module = course.modules[0]
    ways = [as_submission(course, module, way) for way in read_misconceptions(course, module)]
    texts = [one.sources[module.slug].cells for one in ways]
    found = [is_stateless({"cells": tuple(cell.encode() for cell in cells), "notebook": False}) for cells in texts]
    assert sum(found) > len(found) / 2


def test_caches_of_honest_students_are_seen(course: Course) -> None:
    for module in course.modules[:4]:
        for case in cases("honest", module.name):
            if not case.notebook and ("global " in case.code or "cache" in case.code):
                assert not is_stateless({"cells": (case.code.encode(),), "notebook": False}), case.name
