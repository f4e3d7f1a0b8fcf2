"""The explorer's numbers: a student's own code under a grid of settings, beside the formula of the lessons."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from cli.attention.formula import EXPECTED, WHAT_IF, Case, Formula, Stages
from cli.attention.own_heads import own_heads
from cli.attention.own_steps import ARRAYS, LOOPS, MODULES, Maker, OwnSteps, right_mask
from cli.attention.sentences import Sentence
from grader.core.errors import StudentError
from grader.core.report import Diagnosis
from grader.core.safe_text import one_line
from grader.course.course import Course
from grader.course.module import Module
from grader.diagnosis.diagnose import Diagnoser
from grader.grading.load_student import load, program_of
from grader.sandbox.jail.limits import Limits
from grader.sandbox.jail.spawner import Spawner
from grader.sandbox.jail.tiers import open_spawner
from grader.sandbox.session import Session
from grader.sandbox.student import Student
from grader.submission.own_file import is_untouched
from grader.submission.submission import own_submission

SCALES = ("none", "√d_k", "d_k")
TEMPERATURES = (0.25, 0.5, 1.0, 2.0, 4.0)
WINDOWS = (None, 3, 2, 1)
HEADS = (1, 2)
POSITIONS = ("none", "sinusoidal", "RoPE")
LAYERS = ("heads", "masked heads")


@dataclass(frozen=True)
class Setting:
    """What the controls of the page say."""

    sentence: int = 0
    positions: str = "none"
    heads: int = 1
    causal: bool = False
    window: int | None = None
    scale: str = "√d_k"
    temperature: float = 1.0


@dataclass(frozen=True)
class View:
    """One head under one setting: the student's numbers, the expected ones, and those of a misconception."""

    asked: Case  # with the student's mask
    right: Case
    yours: Stages
    expected: Stages
    what_if: Stages | None


@dataclass(frozen=True)
class UsedModule:
    """A module that the student has begun: its file, what is wrong with it, and why it could not be loaded."""

    name: str
    file: str
    diagnoses: tuple[Diagnosis, ...] = ()
    problem: str = ""


@dataclass(frozen=True)
class Exploration:
    """All numbers of the page, by setting, and who made them."""

    sentences: tuple[Sentence, ...]
    positions: tuple[str, ...]
    views: dict[Setting, tuple[View, ...]]  # one for each head
    makers: tuple[Maker, ...]
    modules: tuple[UsedModule, ...]
    attention: str  # the module whose attention is shown: 02, 03 or none
    misconception: str = ""
    what_if: str = ""  # the misconception as a formula, in words

    @property
    def by_course(self) -> list[str]:
        """The steps that the course makes. Positions and layers are made by the student or not at all."""
        return [one.step for one in self.makers if not one.module and one.step not in (*POSITIONS, *LAYERS)]


def begun_modules(course: Course) -> list[Module]:
    """Return the modules that the explorer can use and the student has begun."""
    return [one for one in course.modules if one.name in MODULES and not is_untouched(one)]


def explore(course: Course, sentences: Sequence[Sentence]) -> Exploration:
    """Run the student's code under every setting. No step fails: what cannot be made is the course's, and noted."""
    begun = begun_modules(course)
    attention = next((one.name for one in reversed(begun) if one.name in (LOOPS, ARRAYS)), "")
    with _open(course, begun) as (students, modules):
        steps = OwnSteps(students, attention if attention in students else "")
        told = next((one for one in modules if one.name == attention), None)
        found = next((one.misconception for one in told.diagnoses if one.misconception in WHAT_IF), "") if told else ""
        name = found or ""
        words, formula = WHAT_IF.get(name, ("", None))
        positions, views = _views(steps, tuple(sentences), formula)
    return Exploration(
        tuple(sentences), positions, views, tuple(steps.makers.values()), modules, attention, name, words
    )


@contextmanager
def _open(course: Course, begun: Sequence[Module]) -> Iterator[tuple[dict[str, Student], tuple[UsedModule, ...]]]:
    """Load every module into a worker of its own, and look for what is wrong with it."""
    students: dict[str, Student] = {}
    used: list[UsedModule] = []
    with ExitStack() as stack:
        spawners: dict[str, Spawner] = {}
        for module in begun:
            submission = own_submission(course, module)
            if submission.problem:
                used.append(UsedModule(module.name, submission.file, (), one_line(submission.problem, 300)))
                continue
            if module.backend not in spawners:
                spawners[module.backend] = open_spawner(module.backend)
                stack.callback(spawners[module.backend].close)
            api = course.api(module)
            session = Session(
                spawners[module.backend], program_of(submission, module, api), Limits().with_cpu(module.cpu_s)
            )
            stack.callback(session.close)
            try:
                load(session, module)
                source = submission.sources[module.slug]
                diagnoses = Diagnoser(module).diagnose(session, source, (), frozenset()).diagnoses
            except StudentError as error:
                used.append(UsedModule(module.name, submission.file, (), one_line(str(error), 300)))
                continue
            students[module.name] = Student(session, api)
            used.append(UsedModule(module.name, submission.file, diagnoses))
        yield students, tuple(used)


def _views(
    steps: OwnSteps, sentences: tuple[Sentence, ...], formula: Formula | None
) -> tuple[tuple[str, ...], dict[Setting, tuple[View, ...]]]:
    """Return the positions that can be shown, and the views of every setting."""
    placed = _placed(steps, sentences)
    positions = tuple(name for name in POSITIONS if all((at, name, 1) in placed for at in range(len(sentences))))
    masks = {
        (n, causal, window): (steps.mask(n, causal=causal, window=window), right_mask(n, causal=causal, window=window))
        for n, causal, window in product({len(one.tokens) for one in sentences}, (False, True), WINDOWS)
    }
    places: dict[Setting, list[int]] = {}  # the cases of each setting, one for each head
    cases: list[Case] = []
    right: list[Case] = []
    for setting in _settings(len(sentences), positions):
        sentence = sentences[setting.sentence]
        mine, wanted = masks[len(sentence.tokens), setting.causal, setting.window]
        for q, k, v in placed[setting.sentence, setting.positions, setting.heads]:
            width = q.shape[1]
            divisor = {"none": 1.0, "√d_k": None, "d_k": float(width)}[setting.scale]
            case = Case(q, k, v, mine, divisor, setting.temperature)
            places.setdefault(setting, []).append(len(cases))
            cases.append(case)
            right.append(replace(case, mask=wanted))
    own = steps.stages(cases)
    several = {setting: at for setting, at in places.items() if len(at) > 1}
    layers = own_heads(steps, [[cases[number] for number in at] for at in several.values()])
    by_layer = dict(zip(several, layers, strict=True))
    views: dict[Setting, tuple[View, ...]] = {}
    for setting, at in places.items():
        heads = by_layer.get(setting)
        found = []
        for head, number in enumerate(at):
            # The misconception is one of 02 or 03: it says nothing about a layer of 06.
            other = (
                formula.stages(right[number], through=steps.is_joint(cases[number])) if formula and not heads else None
            )
            yours = replace(own[number], weights=heads[head][0], output=heads[head][1]) if heads else own[number]
            found.append(View(cases[number], right[number], yours, EXPECTED.stages(right[number]), other))
        views[setting] = tuple(found)
    return positions, views


def _settings(sentences: int, positions: Sequence[str]) -> Iterator[Setting]:
    axes = (range(sentences), positions, HEADS, (False, True), WINDOWS, SCALES, TEMPERATURES)
    return (Setting(*values) for values in product(*axes))


Vectors = tuple[np.ndarray, np.ndarray, np.ndarray]


def _placed(steps: OwnSteps, sentences: Sequence[Sentence]) -> dict[tuple[int, str, int], list[Vectors]]:
    """Return the vectors of each sentence, by positions and number of heads. Positions come only from the student."""
    found: dict[tuple[int, str, int], list[Vectors]] = {}
    for at, sentence in enumerate(sentences):
        vectors = sentence.q, sentence.k, sentence.v
        for heads in HEADS:
            found[at, "none", heads] = _split(vectors, heads)
        if (signal := steps.sinusoidal(*sentence.q.shape)) is not None:
            for heads in HEADS:
                found[at, "sinusoidal", heads] = _split((sentence.q + signal, sentence.k + signal, sentence.v), heads)
        turned = {heads: [_turned(steps, one) for one in _split(vectors, heads)] for heads in HEADS}
        for heads, parts in turned.items():
            if all(one is not None for ones in turned.values() for one in ones):
                found[at, "RoPE", heads] = [one for one in parts if one is not None]
    return found


def _turned(steps: OwnSteps, vectors: Vectors) -> Vectors | None:
    """Return the vectors of a head with queries and keys turned by the student's RoPE; None if it cannot."""
    q, k = steps.rope(vectors[0]), steps.rope(vectors[1])
    return None if q is None or k is None else (q, k, vectors[2])


def _split(vectors: Vectors, heads: int) -> list[Vectors]:
    """Return the slices of features that each head gets."""
    parts = [np.split(one, heads, axis=1) for one in vectors]
    return [(parts[0][head], parts[1][head], parts[2][head]) for head in range(heads)]
