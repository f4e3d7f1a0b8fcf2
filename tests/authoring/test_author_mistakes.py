"""What `attn dev check` says about a mistake in a patch, a probe script, a fallback or a limit: one clear sentence."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.course.course import read_course
from grader.course.module import CourseError
from tests.authoring.small_courses import copied, edit, problems
from tests.quick import some_of

LOG = "modules/01_log/"
TOP = "modules/02_quadruple/"
WRONG = "solutions/01_log/misconceptions.py"
PROBES = f"{LOG}probes.py"
FALLBACK = 'fallback = {double = "fallback.py"}'
ONE = '    probe("Log.mean", init=(2,), before=[step("append", FIRST)]),'

MISTAKES = {
    # patches
    "the old line is gone": (
        ("solutions/01_log/log.py", "self.total = self.total + row", "self.total = row + self.total"),
        "forgets_earlier_rows: no function of the solution has the line 'self.total = self.total + row'. "
        "Copy it from the solution, or update the patch",
    ),
    "the old line is there twice": (
        ("solutions/01_log/log.py", "self.count += 1\n", "self.count += 1\n        self.total = self.total + row\n"),
        "forgets_earlier_rows: Log.append has the line 'self.total = self.total + row' 2 times. Add a ",
    ),
    "two functions have the old line": (
        (WRONG, '"return self.total / self.count"', '"return self.count"'),
        "mean_of_the_numbers: Log.append and Log.length have the line 'return self.count'. "
        'Say which one is meant: IN = "Log.append"',
    ),
    "IN is misspelt": (
        (WRONG, "REPLACE", 'IN = "Log.apend"\nREPLACE'),
        "forgets_earlier_rows: IN names Log.apend, which the solution does not define. Use one of Log.__init__",
    ),
    "the new line is not Python": (
        (WRONG, '"self.total = 1.0 * row"', '"self.total = 1.0 *"'),
        "forgets_earlier_rows: with REPLACE, the code is not Python: invalid syntax at 'self.total = 1.0 *'. Fix it",
    ),
    "the new line is the old one": (
        (WRONG, '"self.total = 1.0 * row"', '"self.total = self.total + row"'),
        "forgets_earlier_rows: the new line is the same as the old one: 'self.total = self.total + row'",
    ),
    "REPLACE is a list": (
        (WRONG, '{"self.count = 0": "self.count = 1"}', '["self.count = 1"]'),
        "counts_from_one: REPLACE must be a dict. Write LIKELY",
    ),
    # scripts
    "a step is misspelt": (
        (PROBES, ONE, ONE.replace("append", "apend")),
        "probes.py: Log.mean: has the step apend (number 1), which is not a method of Log. Use one of append, mean",
    ),
    "a step raises": (
        (PROBES, ONE, ONE.replace("FIRST", "np.ones(7)")),
        "probes.py: Log.mean: a step before it raises ValueError for the solution. Fix the arguments of its steps",
    ),
    "a step is a tuple": (
        (PROBES, ONE, ONE.replace('step("append", FIRST)', '("append", FIRST)')),
        "probes.py: Log.mean: has a step that is not step(...) (number 1)",
    ),
    "the probed method does not exist": (
        (PROBES, ONE, ONE.replace("Log.mean", "Log.average")),
        "probes.py: Log.average: is not a name that the module asks for. Use one of Log.append, Log.length, Log.mean",
    ),
    "a script of a function": (
        (PROBES, ONE, ONE.replace("Log.mean", "mean")),
        "probes.py: mean: is not a name that the module asks for. Use one of Log.append, Log.length, Log.mean",
    ),
    # fallbacks
    "the file is not there": (
        (f"{TOP}module.toml", "fallback.py", "fallback_double.py"),
        "module.toml: fallback.double: there is no file fallback_double.py beside it. Write it, or remove this line",
    ),
    "another kind of file": (
        (f"{TOP}module.toml", "fallback.py", "checks.py"),
        "module.toml: fallback.double: must be the name of a file fallback….py, not 'checks.py'",
    ),
    "not an earlier module": (
        (f"{TOP}module.toml", "double = ", "doubel = "),
        "module.toml: fallback.doubel: 'doubel' is not an earlier module. Use the name of an earlier module: double",
    ),
    "no fallback for an import of the stub": (
        (f"{TOP}module.toml", FALLBACK, ""),
        "module.toml: fallback: the stub imports mylab.double, but a student's own may be missing or fail. "
        'Write [fallback] double = "fallback.py", and that file',
    ),
    "a name is missing in it": (
        (f"{TOP}fallback.py", "def double", "def twice"),
        "fallback.py: does not define double. Define every function and class of 01_double",
    ),
    "it is not Python": (
        (f"{TOP}fallback.py", "def double(x):", "def double(x:"),
        "fallback.py: line 6: is not Python",
    ),
    "it is wrong": (
        (f"{TOP}fallback.py", "one + one", "one * one"),
        "fallback.py fails 4 checks of 01_double, double_of_three first: ",
    ),
    "the solution does not work on it": (
        (
            f"{TOP}fallback.py",
            "    return",
            "    for one in x.ravel():\n        [one for other in x.ravel()]\n    return",
        ),
        "the solution loses points in 1 place on fallback.py, steps of quadruple (",
    ),
    "it gives the earlier module away": (
        (f"{TOP}fallback.py", "np.array([one + one for one in x.ravel()], dtype=x.dtype).reshape(x.shape)", "x + x"),
        "fallback.py would get full marks in 01_double, so it gives its solution away | Build it on something that",
    ),
    # limits of time
    "no number of seconds": (
        (f"{LOG}module.toml", "points = 10", 'points = 10\nlimits = {cpu_s = "30"}'),
        "module.toml: limits.cpu_s: must be a number of seconds above 0 and up to 120, not '30'. Write it like limits",
    ),
    "another limit": (
        (f"{LOG}module.toml", "points = 10", "points = 10\nlimits = {wall_s = 30}"),
        "module.toml: limits.wall_s: is not a limit of time. Write it like limits = {cpu_s = 30}",
    ),
    "a check without seconds": (
        ("tests/hidden/test_01_log.py", 'is refused")', 'is refused", cpu_s=-1)'),
        "test_width: cpu_s must be a number of seconds above 0 and up to 120, not -1. Write it like cpu_s=30",
    ),
}
# These prove a module.
SLOW = ["the solution does not work on it", "it gives the earlier module away"]


@pytest.mark.parametrize("mistake", some_of(MISTAKES, every=3, slow=SLOW))
def test_a_mistake_is_one_clear_sentence(tmp_path: Path, mistake: str) -> None:
    (file, old, new), sentence = MISTAKES[mistake]
    name = "script" if "01_log" in file else "on_top"
    course = copied(name, tmp_path)
    edit(course.root / file, old, new)
    try:
        found = problems(read_course(course.root), "log" if name == "script" else "quadruple")
    except CourseError as error:
        found = str(error)
    assert sentence in found
    told = [line for line in found.splitlines() if "golden.json" not in line and "not what the solution" not in line]
    assert len(told) == 1
