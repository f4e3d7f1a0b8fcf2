"""A new module: every file it needs, small but sound, to be filled in."""

from __future__ import annotations

import json
import keyword
import re
from pathlib import Path

from grader.core.atomic_file import write_atomically
from grader.course.course import Course
from grader.course.module import CourseError

_SLUG = re.compile(r"[a-z][a-z0-9_]*")

MODULE = """\
title = {quoted}
order = {order}
minutes = 60
requires = []
backend = "numpy"
points = 10
"""

LESSON = """\
# {number} · {title}

**After this you can**

- say what this is for;
- write it yourself.

## Build
Why this exists, the shapes, the formula, an example worked by hand.

## Use
Try it on a sentence.

## Reflect
What does it cost, and where does it live in the world?
"""

SOLUTION = '''\
# %% [markdown]
# # {number} · {title}
#
# Say what is built here, and why.

# %%
import numpy as np


# %%
def {slug}(x):
    """Return twice x: replace this by what the module is about, and state every rule a student can lose points by.

    x: array of any shape. Returns an array of the same shape. x is not modified.
    """
    ### BEGIN SOLUTION
    return {twice}
    ### END SOLUTION
'''

MISCONCEPTIONS = '''\
"""The known wrong ways of {name}: one cell each, laid over the solution to make a wrong submission."""

import numpy as np

# %% squares
LIKELY = "the values are squared, not doubled"
HINT = "Try 3: is it 6 or 9?"


def {slug}(x):
    return np.asarray(x) ** 2


# %% modifies_input
LIKELY = "the caller's array is changed"
HINT = "Print x before and after the call."
VALUES_RIGHT = True


def {slug}(x):
    x *= 2
    return x
'''

CHECKS = '''\
"""Visible checks of {name}: run them with `attn test {slug}` or `python -m pytest checks.py`."""

import numpy as np

from grader.testing import assert_close, worth


@worth(2, "three is doubled to six")
def test_{slug}_of_three(student):
    assert_close(student.{slug}(np.array([3.0])), np.array([6.0]))
'''

PROBES = '''\
"""Probes of {name}: the calls by which its wrong ways are told apart."""

import numpy as np

from grader.diagnosis.probe import probe

PROBES = [
    probe("{slug}", np.array([3.0])),
    probe("{slug}", np.array([[1.0, -1.0], [0.5, 4.0]])),
]
'''

HINTS = """\
[{slug}]
nudge = "What becomes of 3?"
pointer = "It is one line."
worked = "Twice 3 is 6, and twice -1 is -2."
"""

HIDDEN = '''\
"""Hidden suite of {name}."""

import numpy as np

from grader.testing import arguments, array_like, assert_close, assert_unmodified, worth


def oracle_{slug}(x):
    return x + x


@worth(4, "it agrees with an independent formula on random arrays")
def test_{slug}_agrees_with_the_oracle(student, rng):
    x = rng.normal(size=(3, 4))
    assert_close(student.{slug}(x), oracle_{slug}(x))


@worth(3, "the double of a sum is the sum of the doubles")
def test_{slug}_is_linear(student, rng):
    x, y = rng.integers(1, 9, size=(2, 5)).astype(float)
    both, one, other = student.{slug}.call_many([arguments(x + y), arguments(x), arguments(y)])
    assert_close(both, array_like(one, x.shape) + array_like(other, y.shape))


@worth(1, "the input is left as it was")
def test_{slug}_leaves_its_input(student):
    x = np.array([1.0, 2.0])
    call = student.{slug}.call(x)
    assert_close(call.value, np.array([2.0, 4.0]))
    assert_unmodified(call, x)
'''


def new_module(course: Course, slug: str, title: str) -> list[Path]:
    """Create the files of a new module behind the last one, and return them."""
    if course.is_bundle and course.modules:
        raise CourseError(
            course.root, "", "is a student's bundle", "Write modules in a clone of the course", usage=True
        )
    if not _SLUG.fullmatch(slug) or keyword.iskeyword(slug):
        raise CourseError(
            course.root / "modules", slug, "is no module's name", "Use small letters, as in `rope`", usage=True
        )
    if any(module.slug == slug for module in course.modules):
        raise CourseError(course.root / "modules", slug, "is there already", "Choose another name", usage=True)
    order = max((module.order for module in course.modules), default=0) + 1
    number = f"{order:02d}"
    name = f"{number}_{slug}"
    files = {
        f"modules/{name}/module.toml": MODULE,
        f"modules/{name}/README.md": LESSON,
        f"modules/{name}/checks.py": CHECKS,
        f"modules/{name}/probes.py": PROBES,
        f"modules/{name}/hints.toml": HINTS,
        f"solutions/{name}/{slug}.py": SOLUTION,
        f"solutions/{name}/misconceptions.py": MISCONCEPTIONS,
        f"tests/hidden/test_{name}.py": HIDDEN,
    }
    words = {"name": name, "slug": slug, "number": number, "order": str(order), "title": title}
    words["twice"] = "2 * np.asarray(x)"  # a solution that stood here whole would be a leak: students have this file
    words["quoted"] = json.dumps(title)  # a JSON text is a TOML text
    for path, template in files.items():
        write_atomically(course.root / path, _filled(template, words))
    return [course.root / path for path in files]


def _filled(template: str, words: dict[str, str]) -> str:
    """Put words in for {name} and the like; other braces are the template's own."""
    return re.sub(r"\{(name|slug|number|order|title|twice|quoted)\}", lambda match: words[match[1]], template)
