"""The screen of a student's own file: what is wrong, where, and what to do next, in 24 rows of 80 characters."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from cli.ui.course_bar import with_bar
from cli.ui.report_screens import wrapped
from grader.core.first_thing import first_thing
from grader.core.machine import IN_BROWSER
from grader.core.report import Diagnosis
from grader.core.safe_text import visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grader.core.report import CheckResult, Report

WIDTH, ROWS = 80, 23  # of 24: the last one is for the prompt
BAR = 20  # characters
LONGEST = 8  # lines for one check
_WORDS = {
    "passed": "passed",
    "failed": "FAILED",
    "held_back": "held back",
    "not_run": "not run",
    "grader_fault": "GRADER FAULT",
}
_COUNTED = {"passed": "passed", "FAILED": "failed", "not written": "not written yet"}
# Python's own warnings: the line, and then the code
_WARNING = re.compile(r"^.*\b\w*Warning: .*$(?:\n  .*$)?\n?", re.MULTILINE)


def own_screen(
    report: Report, *, everything: bool = False, python: str = "", bar: str = "", then: str = "", rows: int = ROWS
) -> str:
    """Return a student's own report: the first thing to fix, in so many rows, or everything.

    `python` says where to paste the call of a diagnosis, to try it; `bar` how far the student is in the course; `then`
    what to do when nothing is wrong.
    """
    head = [with_bar(f"{report.module} · {report.file}", bar)]
    if report.status == "not_importable":
        end = ["", "No check could run. Fix this first, then run it again."]
        return "\n".join([*head, "", _indented(report.message, "  "), *_printed(report, rows), *end])
    head += [_bar(report.checks)]
    first, again = _first_lines(report), "\n".join(_try_lines(report, python)).splitlines()
    if everything:
        rest = [line for one in report.diagnoses[1:] for line in ("", f"Then: {_name(one)}", *one.message.splitlines())]
        lines = ["", *_all_checks(report.checks), "", *_properties(report), *first, *again, *rest, *_printed(report, 0)]
        return "\n".join([*head, *lines])
    end = _end(report, then)
    room = rows - len(head) - len(first) - len(end)
    again = again if len(again) <= room else []
    printed = _printed(report, room - len(again)) if room > len(again) else []
    return "\n".join([*head, *first, *again, *printed, *end])


def is_perfect(report: Report) -> bool:
    """Whether every visible check passes, and nothing else is known to be wrong."""
    return not report.diagnoses and bool(report.checks) and all(one.outcome == "passed" for one in report.checks)


def own_head(report: Report, bar: str = "") -> list[str]:
    """Return the file, how many checks pass, and how much of what the module states holds."""
    return [with_bar(f"{report.module} · {report.file}", bar), _bar(report.checks), *_properties(report)]


def own_word(check: CheckResult) -> str:
    """Return the word for a check's outcome."""
    unwritten = check.outcome == "failed" and "raised NotImplementedError" in check.message
    return "not written" if unwritten else _WORDS[check.outcome]


def _bar(checks: Sequence[CheckResult]) -> str:
    """Return how many checks pass, fail, and are about functions that are not written yet."""
    words = [own_word(check) for check in checks]
    counts = {_COUNTED.get(word, word): words.count(word) for word in dict.fromkeys([*_COUNTED, *words])}
    done = BAR * counts["passed"] // max(len(words), 1)
    told = " · ".join(f"{count} {word}" for word, count in counts.items() if count)
    return f"{'#' * done}{'-' * (BAR - done)}  {told}"


def _first_lines(report: Report) -> list[str]:
    """Return the first thing to do."""
    first = first_thing(report)
    if first is None:
        return []
    if isinstance(first, Diagnosis):
        word = {"not written": "Write next", "answer": "Look again"}.get(first.kind, "Fix first")
        message = first.message.removeprefix(f"{_name(first)} is not written yet\n")
        return ["", f"{word}: {_name(first)}", *message.splitlines()]
    lines = ["", f"Fix first: {first.target}", wrapped(first.property, f"  {own_word(first)}  ")]
    return [*lines, *_shortened(_indented(first.message, "    ").splitlines()), *_same_exception(first, report.checks)]


def _name(diagnosis: Diagnosis) -> str:
    return diagnosis.function or diagnosis.target


def _end(report: Report, then: str) -> list[str]:
    """Return how to see the rest; if every check passes, how much of what the module states holds."""
    passed = sum(check.outcome == "passed" for check in report.checks)
    fallbacks = [wrapped(one.text("your"), "") for one in report.builds_on if one.used == "fallback"]
    slug = report.module.partition("_")[2] or report.module
    if passed == len(report.checks):
        ahead = [then or f"Next: attn complete {slug}"] if is_perfect(report) else []
        return ["", f"{passed} of {passed} visible checks pass.", *_properties(report), *fallbacks, *ahead]
    return ["", *fallbacks, f"All checks: attn test {slug} --all"]


def _all_checks(checks: Sequence[CheckResult]) -> list[str]:
    lines = []
    for check in checks:
        lines.append(wrapped(check.property, f"  {own_word(check):<12} "))
        if check.outcome != "passed":
            lines += _shortened(_indented(check.message, " " * 15).splitlines())
    return lines


def _same_exception(check: CheckResult, checks: Sequence[CheckResult]) -> list[str]:
    """Say how many other checks fail with the same exception, whichever function they call."""
    text = check.message.partition(" raised ")[2]
    same = sum(text != "" and one.message.partition(" raised ")[2] == text for one in checks) - 1
    return [f"    (the same in {same} other check{'s' if same > 1 else ''})"] if same > 0 else []


def _indented(text: str, indent: str) -> str:
    """Return a message behind an indent. A line that begins with spaces is code, and is not wrapped."""
    return "\n".join(
        _cut(indent + line) if line.startswith("  ") else wrapped(line, indent) for line in visible(text).splitlines()
    )


def _cut(line: str) -> str:
    return line if len(line) <= WIDTH else f"{line[: WIDTH - 1]}…"


def _properties(report: Report) -> list[str]:
    """Return how much of what the module states holds, and for which functions it does not."""
    hold, total = (sum(getattr(one, key) for one in report.properties) for key in ("hold", "total"))
    if not total:
        return []
    open_ones = [f"{one.function} {one.hold} of {one.total}" for one in report.properties if one.hold < one.total]
    text = f"{hold} of {total} stated properties hold" + (f" ({', '.join(open_ones)})" if open_ones else "")
    return wrapped(f"{text}.", "").splitlines()


def _shortened(lines: list[str]) -> list[str]:
    return lines if len(lines) <= LONGEST else [*lines[: LONGEST - 1], f"{' ' * 15}…"]


def _try_lines(report: Report, python: str) -> list[str]:
    """Return how to make the call of the first diagnosis again. What is to be copied stands at the left edge."""
    diagnosis = first_thing(report)
    if not python or not isinstance(diagnosis, Diagnosis) or not diagnosis.paste:
        return []
    if IN_BROWSER:  # it becomes a part of the file, which shows only what it prints
        return ["", f"To try it, paste the last lines {python}", *printing(diagnosis.paste)]
    if " ".join(diagnosis.paste.split()) in " ".join(diagnosis.message.split()):
        return ["", f"To try this call, paste it {python}"]
    return ["", f"To try it, paste the last lines {python}", *diagnosis.paste.splitlines()]


def printing(code: str) -> list[str]:
    """Return lines of Python that print the value of their last expression."""
    lines = code.splitlines()
    last = ast.parse(code).body[-1].lineno - 1
    lines[last] = f"print({lines[last]}"
    lines[-1] += ")"
    return lines


def _printed(report: Report, room: int) -> list[str]:
    """Return what the code printed, in so many rows at most, or with 0 all of it. Python's warnings are not of it."""
    said = _WARNING.sub("", f"{report.printed.rstrip()}\n").strip("\n").splitlines()
    if not said:
        return []
    head, lines = ["", "Your code printed:"], [_cut(f"  | {line}") for line in said]
    if not room or len(head) + len(lines) <= room:
        return [*head, *lines]
    if room > len(head) + 1:
        kept = room - len(head) - 1
        return [*head, *lines[:kept], f"  | … {len(lines) - kept} more lines"]
    return [f"Your code printed {len(lines)} lines." if len(lines) > 1 else "Your code printed a line."]
