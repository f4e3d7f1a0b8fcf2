"""The rules of a register: it has every sentence and every check, and each wrong way that it names is caught."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from grader.authoring.marks import Mark, read_marks
from grader.authoring.proof import Proof
from grader.authoring.register import FILE, LESSON, Entry, Register, read_register, written_sentences
from grader.authoring.sentences import one_line
from grader.authoring.soundness_rules import Problem
from grader.course.course import Course
from grader.course.module import Module, read_text

SUGGESTED = 5  # wrong ways that a message names
Caught = Mapping[str, frozenset[str]]  # by misconception: the checks that it fails, and the limits that it breaks


def register_problems(course: Course, module: Module, proof: Proof) -> Iterator[Problem]:
    """Yield what is wrong with the register of a module, if it has one. Nothing is run."""
    register = read_register(course, module)
    if register is None:
        return
    marks = {mark.name: mark for mark in read_marks(course, module)}
    yield from _sentences(course, module, register)
    yield from _names(register, marks)
    if proof.not_passed:  # nothing is known of wrong ways where a mistake or a missing GPU stopped the proof
        caught = {name: frozenset(_breaks(proof, name)) for name in proof.not_passed}
        for entry in register.entries:
            yield from _wrong_ways(entry, marks, caught)


def _breaks(proof: Proof, wrong: str) -> Iterator[str]:
    """Yield the checks that a misconception fails, and the limits that it breaks."""
    yield from (name for name, outcome in proof.not_passed[wrong].items() if outcome == "failed")
    yield from proof.broken_limits.get(wrong, ())


def _sentences(course: Course, module: Module, register: Register) -> Iterator[Problem]:
    """Yield the sentences that are missing, and those that nobody reads."""
    written, lesson = written_sentences(course, module), _lesson(course, module)
    told = [(entry.place, text) for entry in register.entries for text in entry.sentences]
    for place, texts in written.items():
        for text in dict.fromkeys(texts):
            if (place, text) not in told:
                fix = 'Add it, with its checks, or with unchecked = "why not"'
                yield Problem(f"{FILE} does not have a sentence about {place}: {text}", fix)
    for place, text in dict.fromkeys(told):
        if place == LESSON and text not in lesson:
            yield Problem(
                f"{FILE} has a sentence that the lesson does not have: {text}", "Copy it from README.md or the stub"
            )
        elif place != LESSON and text not in written.get(place, ()):
            fix = "Copy the sentence from the docstring, and look whether the checks still verify it"
            yield Problem(f"{FILE} has a sentence that the stub does not say about {place}: {text}", fix)
        elif told.count((place, text)) > 1:
            yield Problem(f"{FILE} has a sentence twice: {text}", "Put its checks into one entry")


def _lesson(course: Course, module: Module) -> str:
    """Return what a student reads besides docstrings: the lesson, and the text between the cells of the stub."""
    cells = "\n".join(line.lstrip("# ") for line in course.stub_text(module).splitlines())
    return one_line(f"{read_text(module.lesson)}\n{cells}")


def _names(register: Register, marks: Collection[str]) -> Iterator[Problem]:
    """Yield the checks that are gone, and those without a sentence."""
    named = [name for entry in register.entries for name in entry.checks]
    excused = [name for one in register.unwritten for name in one.checks]
    for name in dict.fromkeys([*named, *excused]):
        if name not in marks:
            yield Problem(f"{FILE} names {name}, which is no check and no limit", "Name what verifies the sentence now")
    for name in marks:
        if name not in named and name not in excused:
            fix = "Name it in the entry of the sentence that it verifies; if there is none, write the sentence first"
            yield Problem(f"{name} can cost points, but verifies no sentence in {FILE}", fix)
    for name in excused:
        if name in named:
            yield Problem(f"{FILE} says that {name} is unwritten, and has a sentence for it", "Remove one of the two")


def _wrong_ways(entry: Entry, marks: Mapping[str, Mark], caught: Caught) -> Iterator[Problem]:
    """Yield the wrong ways of an entry that nothing catches, and its checks that catch none of them."""
    checks = [name for name in entry.checks if name in marks]
    for wrong in entry.wrong:
        if wrong not in caught:
            yield Problem(f"{FILE} names {wrong}, which is not a misconception", f"Name one that breaks: {entry.says}")
        elif not caught[wrong] & set(checks):
            what = f"the misconception {wrong} passes the checks of a sentence that it should break: {entry.says}"
            yield Problem(what, "Make one of these checks stricter, or name another wrong way")
    for name in checks if not entry.unproved else ():
        if marks[name].is_proved and not any(name in caught.get(wrong, ()) for wrong in entry.wrong):
            what = f"{name} fails for none of the wrong ways that break the sentence: {entry.says}"
            yield Problem(what, _suggestion(name, caught))


def _suggestion(name: str, caught: Caught) -> str:
    fitting = sorted((one for one in caught if name in caught[one]), key=lambda one: len(caught[one]))
    named = f", such as {', '.join(fitting[:SUGGESTED])}" if fitting else ""
    return f"Add one that breaks this sentence{named}"
