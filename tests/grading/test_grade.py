"""Grading from end to end: the same file gives the same report, and every ending has its status."""

from __future__ import annotations

import json
import multiprocessing
import os
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

from grader.core.machine import environment
from grader.core.report import Report
from grader.course.course import Course
from grader.grading.grade import grade
from grader.submission.submission import Source, Submission
from tests.conftest import LIMITS, GradeSource

ODD = """
import numpy as np
print("seen", object())

class Thing: pass

def softmax(x, axis=-1):
    raise ValueError(f"cannot handle {Thing()} {np.random.rand()} {hash('text')} {set('abc')}")

def log_softmax(x, axis=-1):
    return Thing()

def softmax_with_temperature(x, t, axis=-1):
    import os
    os._exit(5)
"""


def spin(stop: object) -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    while parent.is_alive() and not stop.is_set():  # type: ignore[attr-defined]
        sum(range(10_000))


@pytest.fixture
def busy_cores() -> Iterator[None]:
    """Keep every core busy while a test runs."""
    context = multiprocessing.get_context("spawn")
    stop = context.Event()
    workers = [context.Process(target=spin, args=(stop,)) for _ in range(2 * (os.cpu_count() or 2))]
    for worker in workers:
        worker.start()
    yield
    stop.set()
    for worker in workers:
        worker.join()


def without_timing(report: Report) -> str:
    data = report.as_json()
    assert data.pop("timing").keys() == {"wall_s", "cpu_s"}
    return json.dumps(data)


@pytest.mark.parametrize("source", ["solution", "odd", "syntax error"])
def test_grading_twice_gives_identical_bytes_except_timing(
    grade_source: GradeSource, course: Course, source: str
) -> None:
    text = {
        "solution": course.solution(course.modules[0]).read_text(),
        "odd": ODD,
        "syntax error": "def f(:\n",
    }[source]
    first, second = grade_source(text), grade_source(text)
    assert without_timing(first) == without_timing(second)


@pytest.mark.exhaustive
@pytest.mark.usefixtures("busy_cores")
@pytest.mark.parametrize("repeat", [0, 1])
def test_a_busy_machine_changes_no_report(grade_source: GradeSource, course: Course, repeat: int) -> None:
    del repeat
    solution = course.solution(course.modules[0]).read_text()
    assert grade_source(solution).score == 46.0
    assert without_timing(grade_source(ODD)) == without_timing(grade_source(ODD))


@pytest.mark.exhaustive
def test_addresses_do_not_reach_a_report_even_if_a_text_is_cut(grade_source: GradeSource) -> None:
    for length in range(3968, 4000, 8):
        source = f"def softmax(x, axis=-1):\n    raise ValueError('x' * {length} + repr(object()) + 'y' * 90)\n"
        text = json.dumps(grade_source(source).as_json())
        assert not re.search(r"0x[0-9a-f]{2,}", text)


RANDOM = [
    "np.random.default_rng().normal()",
    "np.random.RandomState().rand()",
    "np.empty(40)[7]",
    "np.empty(5000)[9]",
    "random.Random().random()",
    "random.seed() or random.random()",
    "random.SystemRandom().random()",
    "secrets.token_hex()",
    "secrets.randbelow(10**9)",
    "uuid.uuid4()",
    "os.urandom(8)",
    "os.getrandom(8)",
    "hash('text')",
    "{'a', 'b', 'c', 'd'}",
    "tempfile.mktemp()",
]


def test_random_numbers_of_every_kind_repeat(grade_source: GradeSource) -> None:
    """One submission uses them all, so that three gradings are enough."""
    kinds = ", ".join(RANDOM)
    source = "import os, random, secrets, tempfile, uuid\nimport numpy as np\n"
    source += f"AT_IMPORT = [{kinds}]\ndef softmax(x, axis=-1):\n    raise ValueError(AT_IMPORT, {kinds})\n"
    reports = [json.loads(without_timing(grade_source(source))) for _ in range(3)]
    assert "raise ValueError(AT_IMPORT" in reports[0]["checks"][0]["detail"]
    assert "UUID(" in reports[0]["checks"][0]["detail"]
    assert reports[0] == reports[1] == reports[2]


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("def f(:\n", "import raised SyntaxError"),
        ("import nonsense_that_is_missing\n", "No module named 'nonsense_that_is_missing'"),
        ("raise ValueError('odd \\ud800 \\x1b[2J')\n", r"odd \\u{d800} \\u{1b}[2J"),
        ("import os\nos._exit(3)\n", "import ended the Python process"),
        ("while True: pass\n", "import did not return in the time allowed"),
        ("x = 1\0\n", "null bytes"),
        ("(" * 100_000 + ")" * 100_000, "import raised"),
        ("raise SystemExit\n", "import raised SystemExit"),
    ],
    ids=["syntax", "import", "controls", "exit", "loop", "nul", "brackets", "exit quietly"],
)
def test_a_file_that_does_not_import_says_why_and_scores_nothing(
    grade_source: GradeSource, source: str, words: str
) -> None:
    report = grade_source(source)
    assert (report.status, report.score, report.max_score) == ("not_importable", 0.0, 46.0)
    assert words.replace("\\\\", "\\") in report.message
    assert {check.outcome for check in report.checks} == {"not_run"}


def test_an_unreadable_submission_is_reported_like_one_that_does_not_import(course: Course) -> None:
    reports: list[Report] = []
    submission = Submission("eve", "01_softmax", "eve.zip", {}, "eve.zip is not a zip")
    grade(course, course.modules[0], [submission], reports.append, LIMITS)
    assert (reports[0].status, reports[0].message, reports[0].score) == (
        "not_importable",
        "eve.zip is not a zip",
        0.0,
    )


SCRIPTS = {
    "its own path": "from pathlib import Path\nHERE = Path(__file__).resolve().parent",
    "the streams": "import sys\nsys.stdout.reconfigure(line_buffering=True)\nsys.stdout.buffer.write(b'x')\n"
    "assert sys.stdout.encoding",
    "faulthandler": "import faulthandler\nfaulthandler.enable()",
    "an exported notebook": "get_ipython().run_line_magic('matplotlib', 'inline')",
    "noise": "import sys, warnings\nprint('x' * 10**6)\nwarnings.warn('careful')\nprint('err', file=sys.stderr)",
}


@pytest.mark.parametrize("prelude", SCRIPTS.values(), ids=SCRIPTS.keys())
def test_extra_code_of_honest_scripts_costs_nothing(grade_source: GradeSource, course: Course, prelude: str) -> None:
    assert grade_source(f"{prelude}\n{course.solution(course.modules[0]).read_text()}").score == 46.0


def test_a_reused_buffer_passes_in_a_batch_of_calls(grade_source: GradeSource, course: Course) -> None:
    reuse = """
_right, _buffers = softmax, {}
def softmax(x, axis=-1):
    result = _right(x, axis)
    buffer = _buffers.setdefault((result.shape, str(result.dtype)), np.empty_like(result))
    buffer[...] = result
    return buffer
"""
    assert grade_source(course.solution(course.modules[0]).read_text() + reuse).score == 46.0


def test_a_missing_function_costs_only_its_own_points(grade_source: GradeSource, course: Course) -> None:
    solution = course.solution(course.modules[0]).read_text()
    report = grade_source(solution.replace("def log_softmax", "def forgotten"))
    lost = {check.target for check in report.checks if check.outcome != "passed"}
    assert lost == {"log_softmax"}
    assert "log_softmax is not defined" in next(c.detail for c in report.checks if c.target == "log_softmax")


class TestNotebooks:
    """A notebook is loaded cell by cell: a scratch cell that raises costs nothing."""

    def grade(self, course: Course, cells: list[str]) -> Report:
        reports: list[Report] = []
        source = Source("softmax.ipynb", tuple(cells), notebook=True)
        submission = Submission("ana", "01_softmax", "softmax.ipynb", {"softmax": source})
        grade(course, course.modules[0], [submission], reports.append, LIMITS)
        return reports[0]

    def test_scratch_cells_and_magics_cost_nothing(self, course: Course) -> None:
        solution = course.solution(course.modules[0]).read_text()
        magics = "%matplotlib inline\n!pip list \\\n  --quiet\nfiles = !ls\nt = %timeit -o 1\nnp.exp?\n?np\npip list"
        shell = "get_ipython().run_line_magic('matplotlib', 'inline')\ndisplay(1)\nawait __import__('asyncio').sleep(0)"
        cells = [magics, shell, "1 / 0", "def f(:", "%%bash\nls", "%%time\nx = 1", solution, "assert False"]
        assert self.grade(course, cells).score == 46.0

    def test_a_line_of_python_that_starts_with_a_percent_sign_is_left_alone(self, course: Course) -> None:
        solution = course.solution(course.modules[0]).read_text()
        cells = [
            solution,
            "%matplotlib inline\nleft = (7\n% 4)\nassert left == 3\nREFLECT_LARGEST_SAFE_EXPONENT_FLOAT32 += left - 3",
        ]
        assert self.grade(course, cells).score == 46.0

    def test_a_notebook_is_main_and_keeps_its_future_imports(self, course: Course) -> None:
        solution = course.solution(course.modules[0]).read_text()
        guarded = f"if __name__ == '__main__':\n    y: undefined = 1\n{textwrap.indent(solution, '    ')}"
        assert self.grade(course, ["from __future__ import annotations", guarded]).score == 46.0

    def test_a_notebook_that_defines_nothing_says_why(self, course: Course) -> None:
        report = self.grade(course, ["import nonsense_that_is_missing", "x = 1"])
        assert report.status == "not_importable"
        assert "nonsense_that_is_missing" in report.message

    def test_the_line_of_an_error_is_that_of_its_cell(self, course: Course) -> None:
        report = self.grade(course, ["x = 1", "\ndef softmax(x, axis=-1):\n    return 1 / 0"])
        assert "(softmax.ipynb[2], line 3)" in report.checks[0].message


def test_the_environment_names_what_a_verdict_depends_on() -> None:
    assert environment().keys() == {"python", "numpy", "torch", "attnlab"}
    assert all(environment().values())


def test_many_submissions_share_one_pytest_session(course_copy: Course, tmp_path: Path) -> None:
    module = course_copy.modules[0]
    suite = course_copy.hidden_suite(module)
    imports = tmp_path / "imports"
    suite.write_text(f"{suite.read_text()}\n\nwith open({str(imports)!r}, 'a') as _file:\n    _file.write('x')\n")
    source = Source("softmax.py", (course_copy.solution(module).read_text(),), notebook=False)
    submissions = [Submission(f"s{i}", module.name, "softmax.py", {"softmax": source}) for i in range(20)]
    reports: list[Report] = []
    grade(course_copy, module, submissions, reports.append, LIMITS)
    assert [report.score for report in reports] == [46.0] * 20
    assert imports.read_text() == "x"
