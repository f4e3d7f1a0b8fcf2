"""GitHub Actions: a report as annotations and as a job summary, and a workflow that makes both."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from grader.classroom.report_items import Item, items_of, shown_diagnoses
from grader.core.report import Report
from grader.course.engine import CONSTRAINTS, WHEEL
from grader.course.module import Module

TORCH_INDEX = "https://download.pytorch.org/whl/cpu"
MOST_ANNOTATIONS = 10  # of a step; GitHub drops the others without a word
MOST_BYTES = 1024 * 1024  # of a step's summary; GitHub refuses a longer one
NOT_GRADED = "not graded: the grader failed, not your code"
_SIGNS = {"passed": "✅", "failed": "❌", "not_run": "⬜", "fault": "⚠️"}


def exit_status(report: Report) -> int:
    """Return what a job should end with: 0 for full marks, 1 for less, 3 if there is no score."""
    if report.score is None:
        return 3
    return 0 if report.score >= report.max_score else 1


def error_commands(report: Report) -> list[str]:
    """Return the workflow commands that mark what is wrong at its line, as many as GitHub shows."""
    found = list(_errors(report))
    if len(found) > MOST_ANNOTATIONS:
        more = len(found) - MOST_ANNOTATIONS + 1
        found[MOST_ANNOTATIONS - 1 :] = [_error(report, None, report.module, f"{more} more: see the job's summary")]
    return found


def summary(report: Report) -> str:
    """Return a report as Markdown for a job summary. Texts of students cannot become Markdown, HTML or commands."""
    score = "not graded" if report.score is None else f"{report.score:g} of {report.max_score:g} points"
    parts = [f"### {_cell(report.module)}: {score}\n"]
    parts += [_block(one) for one in dict.fromkeys(_texts(report))]
    if report.status == "graded":
        parts += ["| | check | points |\n|---|---|---|"]
        parts += [f"| {_SIGNS[item.outcome]} | {_cell(item.title)} | {_points(item)} |" for item in items_of(report)]
    text = ""
    for part in parts:
        if len((text + part).encode()) > MOST_BYTES - 100:
            return text + "\nThe rest is left out: GitHub shows one mebibyte.\n"
        text += part + "\n"
    return text


def workflow_text(modules: Sequence[Module], engine: str = WHEEL) -> str:
    """Return a workflow that runs the visible checks of some modules in a repository that holds a bundle."""
    torch = any(module.backend == "torch" for module in modules)
    packages = f"torch --extra-index-url {TORCH_INDEX} {engine}" if torch else engine
    steps = "\n".join(map(_step, modules))
    return f"""\
# Made by `attn export github workflow`. It runs the visible checks, and shows what is wrong at its line.
# Anyone who can write to the repository can change this file, so the result is only information.
# Grades come from `attn grade`, which has the hidden suite.
name: AttnLab
"on":
  - push
  - workflow_dispatch
permissions:
  contents: read
jobs:
  visible-checks:
    runs-on: ubuntu-latest
    timeout-minutes: 15
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-python@v5
        with:
          python-version: "3.12"
      - name: Install AttnLab
        run: python -m pip install --quiet -c {CONSTRAINTS} {packages}
{steps}
"""


def _step(module: Module) -> str:
    # Exit status 1 means that a check failed, and is shown. Any other status is a grader fault, and stops here. A later
    # module is tested also if an earlier one fails.
    return f"""\
      - name: {module.name}
        if: ${{{{ !cancelled() }}}}
        run: |
          attn test {module.slug} --json > "$RUNNER_TEMP/{module.slug}.json" || test $? -eq 1
          attn export github result "$RUNNER_TEMP/{module.slug}.json\""""


def _errors(report: Report) -> Iterator[str]:
    """Yield an annotation for each diagnosis, then for each failure that no diagnosis explains."""
    if report.status != "graded" or report.score is None:
        yield _error(report, None, report.module, report.message or NOT_GRADED)
        return
    explained = set()
    for diagnosis in shown_diagnoses(report):
        explained.add(diagnosis.target)
        yield _error(report, diagnosis.line, diagnosis.target or report.module, diagnosis.message)
    for call in dict.fromkeys(report.forbidden):
        yield _error(report, call.line, call.target, f"{call.call} is not allowed: {call.why}")
    for item in items_of(report):
        if item.outcome != "passed" and item.target not in explained:
            yield _error(report, None, item.title, item.text or "not passed")


def _error(report: Report, line: int | None, title: str, message: str) -> str:
    properties = {"file": f"modules/{report.module}/{report.file}", "line": str(line or 1), "title": title}
    written = ",".join(f"{name}={_escaped(value, ':,')}" for name, value in properties.items())
    return f"::error {written}::{_escaped(message)}"


def _escaped(text: str, also: str = "") -> str:
    """Return a text as GitHub reads it in a command: on one line, so that it cannot begin another command."""
    for sign in f"%\r\n{also}":
        text = text.replace(sign, f"%{ord(sign):02X}")
    return text


def _texts(report: Report) -> Iterator[str]:
    yield report.message or (NOT_GRADED if report.score is None else "")
    for diagnosis in shown_diagnoses(report):
        yield diagnosis.message
    for item in items_of(report):
        if item.outcome != "passed" and item.text:
            yield f"{item.title}\n{item.text}"


def _block(text: str) -> str:
    return f"<pre>{escape(text)}</pre>\n" if text else ""


def _cell(text: str) -> str:
    """Return a text that is one cell of a Markdown table, and nothing else."""
    plain = " ".join(text.split())
    return "".join(f"&#{ord(sign)};" if sign in "&<>|`*_[]!\\~#@" else sign for sign in plain)


def _points(item: Item) -> str:
    return f"{item.points:g}" if item.earned is None else f"{item.earned:g} / {item.points:g}"
