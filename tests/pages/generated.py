"""A generated class of 1 000 students and 12 modules, for the size and the speed of a dashboard."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import replace
from itertools import cycle

from grader.classroom.class_results import AttemptResult, CheckInfo, ClassResults, StudentResult
from grader.course.course import Course
from grader.course.golden import read_golden
from tests.pages.made import made_mark

STUDENTS, MODULES, SECTIONS, CHECKS = 1_000, 12, 10, 40
TO_LOOK_AT = (
    "provisional: 1 point not decided yet; function_3, line 14: your code calls numpy.linalg.svd, whose cost is"
)
TO_LOOK_AT += " unknown: an instructor must check"
FIRST = ("Ana", "Ben", "Chloé", "Dev", "Emil", "Farah", "Goran", "Hana", "Inès", "Jun", "Åsa", "李娜")
LAST = ("Okoro", "Silva", "Åström-Ünal", "van der Berg", "Nguyễn", "O'Neill", "Sánchez Martínez", "Kim")


def generated_class(course: Course) -> ClassResults:
    """Return results as a real class has them: strong and weak students, broken checks, late and missing work."""
    chance = random.Random(28)
    modules = [f"{number:02}_{course.modules[number % len(course.modules)].slug}" for number in range(1, MODULES + 1)]
    wrong = {
        name: list(read_golden(course.modules[at % len(course.modules)]).misconceptions)[:12]
        for at, name in enumerate(modules, 1)
    }
    checks = {name: _checks(name) for name in modules}
    results: list[StudentResult] = []
    for number in range(STUDENTS):
        strength = chance.random()
        mark = made_mark(
            f"s{number:04}",
            name=f"{chance.choice(FIRST)} {chance.choice(LAST)}",
            section=f"Section {number % SECTIONS + 1}",
            max_score=float(CHECKS),
            handed_in=f"2026-10-{chance.randint(1, 28):02}T12:00:00+00:00",
        )
        for name in modules:
            if chance.random() < 0.03:
                results.append(StudentResult(replace(mark, module=name, status="missing", score=None, final=None)))
                continue
            failed = {one for at, one in enumerate(checks[name]) if _fails(chance, at, strength)}
            score = float(CHECKS - len(failed))
            late = 3_600.0 * chance.randint(1, 72) if chance.random() < 0.05 else 0.0
            has = tuple(one for one in wrong[name] if chance.random() > 0.9 + strength / 10)
            to_look_at = TO_LOOK_AT if chance.random() < 0.03 else ""
            line = replace(mark, module=name, score=score, final=score, late_s=late)
            if chance.random() < 0.01:
                line = replace(line, override=score + 1, final=score + 1, comment="the right idea, on the wrong axis")
            changed = "the checks of the module changed; function_3_is_right: failed → passed"
            points = float(bool(to_look_at))
            results.append(StudentResult(line, frozenset(failed), has, to_look_at, points, changed))
    before = tuple(replace(one.mark, final=(one.mark.final or 0.0) / 2) for one in results[: 12 * 100])
    attempts = tuple(
        AttemptResult(f"s{number:04}", modules[0], f"2026-10-0{day}", 1.0, tuple(wrong[modules[0]][:1]))
        for number in range(50)
        for day in range(1, 5)
    )
    ordered = sorted(results, key=lambda one: (one.mark.module, one.mark.id))
    functions = {name: dict(zip(wrong[name], cycle(_targets(checks[name])), strict=False)) for name in modules}
    return ClassResults(tuple(ordered), checks, attempts, before, functions)


def _targets(checks: Mapping[str, CheckInfo]) -> list[str]:
    return sorted({one.target for one in checks.values()})


def _checks(module: str) -> dict[str, CheckInfo]:
    infos = [
        CheckInfo(
            f"{module}_check_number_{at}",
            ("visible", "hidden", "cost")[at % 3],
            f"function_{at % 5}",
            f"property {at}: each row of the result is a probability distribution, however large its scores are",
            1.0,
        )
        for at in range(CHECKS)
    ]
    return {info.name: info for info in infos}


def _fails(chance: random.Random, at: int, strength: float) -> bool:
    """Whether a student fails a check: nobody fails the first, everybody the second, and the third tells nothing."""
    return (False, True, chance.random() < 0.3)[at] if at < 3 else chance.random() > 0.4 + strength / 2 + at / 100
