"""Rules belong to a module: what is kept, what an earlier AttnLab kept, and when the command asks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from grader.classroom.module_rules import ModuleRules, SavedRules, read_kept, read_saved_rules
from grader.classroom.rules import Extension, Rules, RulesError
from grader.classroom.run_rules import RunRules, UnclearRulesError
from grader.classroom.store.files import FileStore
from grader.course.course import Course
from tests.classroom.test_file_formats import BASIS, MARK
from tests.conftest import write

SOFTMAX, MASKS = "01_softmax", "04_masks"
OLD = Rules(due=("2026-10-01",), late_penalty="10%/day", name="Attention")


def run(course: Course, given: Rules, saved: SavedRules, **changes: Any) -> RunRules:
    return RunRules(course, given, Rules(), saved, **{"resume": True, **changes})


def old_folder(folder: Path, *modules: str, due: str = "") -> FileStore:
    """Return results as an earlier AttnLab left them: reports of some modules, and the rules of its last run."""
    lines = ""
    for module in modules:
        mark = json.dumps(MARK | {"module": module, "due": due})
        key = f'"module": "{module}", "student": "ben", "attempt": ""'
        lines += f'{{{key}, "report": "39", "basis": {BASIS}, "was": null, "mark": {mark}}}\n'
    write(folder, {"journal.jsonl": lines, "rules.json": SavedRules(OLD).text})
    return FileStore(folder)


def test_a_module_takes_its_own_due_date_and_its_own_extensions() -> None:
    both = (Extension("ana", MASKS, "2026-11-01"), Extension("ben", "", "2026-11-02"))
    rules = Rules(due=("2026-10-15", "softmax=2026-10-01", "4 = 2026-10-02"), extended=both)
    assert rules.only(SOFTMAX) == Rules(due=("2026-10-01",), extended=both[1:])
    assert rules.only(MASKS) == Rules(due=("2026-10-02",), extended=both)
    assert rules.only("08_positions").due == ("2026-10-15",)
    assert Rules(due=("softmax=2026-10-01",)).only(MASKS) == Rules()


def test_what_is_kept_is_read_again(tmp_path: Path) -> None:
    write(tmp_path, {"times.csv": "id,submitted\nana,2026-10-01\n"})
    (tmp_path / "times.csv").write_bytes(b"id,submitted\n\xff\xfeana,2026-10-01\n")
    kept = read_kept(str(tmp_path / "times.csv"))
    rules = {
        SOFTMAX: ModuleRules(Rules(times=kept.path, policy="best"), {"times": kept}, {"7": "softmax.py: not Python"})
    }
    saved = SavedRules().with_modules(OLD, rules).with_modules(Rules(), {MASKS: ModuleRules()})
    write(tmp_path, {"rules.json": saved.text})
    found = read_saved_rules(FileStore(tmp_path))
    assert found == saved
    assert found.modules[SOFTMAX].files["times"].data == (tmp_path / "times.csv").read_bytes()


def test_resume_takes_the_rules_of_the_module_only(course: Course) -> None:
    kept = {SOFTMAX: ModuleRules(OLD.only(SOFTMAX)), MASKS: ModuleRules(Rules(due=("2026-11-01",)))}
    resumed = run(course, Rules(grace="15m"), SavedRules(OLD, kept))
    assert resumed.of(SOFTMAX).rules == Rules(
        due=("2026-10-01",), late_penalty="10%/day", grace="15m", name="Attention"
    )
    assert resumed.of(MASKS).rules == Rules(due=("2026-11-01",), grace="15m")
    assert resumed.of("08_positions").rules == Rules(grace="15m")
    assert run(course, Rules(), SavedRules(OLD, kept), resume=False).of(SOFTMAX).rules == Rules()


def test_an_old_folder_of_one_module_has_its_rules(course: Course, tmp_path: Path) -> None:
    saved = read_saved_rules(old_folder(tmp_path, SOFTMAX, due="2026-10-01T22:00:00+00:00"))
    assert run(course, Rules(), saved).of(SOFTMAX).rules == OLD
    assert run(course, Rules(), saved).of(MASKS).rules == Rules()


def test_an_old_folder_of_two_modules_is_not_guessed(course: Course, tmp_path: Path) -> None:
    saved = read_saved_rules(old_folder(tmp_path, SOFTMAX, MASKS))
    words = (
        r"the rules of 01_softmax are not known\. .* \(--due 2026-10-01 --late-penalty 10%/day\).* 01_softmax, 04_masks"
    )
    with pytest.raises(UnclearRulesError, match=words):
        run(course, Rules(), saved).of(SOFTMAX)
    assert run(course, Rules(), saved, choice="kept").of(SOFTMAX).rules == OLD
    assert run(course, Rules(policy="best"), saved, choice="given").of(SOFTMAX).rules == Rules(policy="best")
    all_given = Rules(due=("2026-10-05",), late_penalty="5%/day")
    assert run(course, all_given, saved).of(SOFTMAX).rules.due == ("2026-10-05",)
    assert run(course, Rules(), saved).of("08_positions").rules == Rules()
    assert run(course, Rules(), saved, resume=False).of(SOFTMAX).rules == Rules()


def test_marks_with_a_due_date_that_was_not_kept_are_not_guessed(course: Course, tmp_path: Path) -> None:
    store = old_folder(tmp_path, SOFTMAX, MASKS, due="2026-10-01T22:00:00+00:00")
    write(tmp_path, {"rules.json": SavedRules(Rules()).text})
    with pytest.raises(UnclearRulesError, match=r"\(none\)"):
        run(course, Rules(), read_saved_rules(store)).of(MASKS)


def test_what_an_old_folder_keeps_is_not_lost_by_a_run_of_another_module(course: Course, tmp_path: Path) -> None:
    saved = read_saved_rules(old_folder(tmp_path, SOFTMAX, MASKS))
    later = saved.with_modules(Rules(), {MASKS: ModuleRules(Rules(due=("2026-11-01",)))})
    write(tmp_path, {"rules.json": later.text})
    again = read_saved_rules(FileStore(tmp_path))
    assert again.of(MASKS).rules.due == ("2026-11-01",)
    assert again.of(SOFTMAX).rules == OLD
    with pytest.raises(UnclearRulesError):
        run(course, Rules(), again).of(SOFTMAX)


def test_a_list_that_is_another_one_by_now_is_not_guessed(course: Course, tmp_path: Path) -> None:
    path = str(write(tmp_path, {"times.csv": "id,submitted\nana,2026-10-01\n"}) / "times.csv")
    first = run(course, Rules(times=path), SavedRules()).of(SOFTMAX)
    saved = SavedRules().with_modules(Rules(), {SOFTMAX: first})
    assert run(course, Rules(), saved).of(SOFTMAX) == first
    write(tmp_path, {"times.csv": "id,submitted\nben,2026-11-01\n"})
    with pytest.raises(
        UnclearRulesError, match=rf"has changed since 01_softmax was graded with it\. .* --times {path}"
    ):
        run(course, Rules(), saved).of(SOFTMAX)
    assert run(course, Rules(), saved, choice="kept").of(SOFTMAX) == first
    assert b"ben" in run(course, Rules(times=path), saved).of(SOFTMAX).files["times"].data
    Path(path).unlink()  # next term, or another machine
    assert run(course, Rules(), saved).of(SOFTMAX) == first


def test_modules_that_were_found_by_different_rules_are_not_graded_together(course: Course) -> None:
    kept = {SOFTMAX: ModuleRules(Rules(policy="best")), MASKS: ModuleRules(Rules(policy="latest"))}
    saved = SavedRules(OLD, kept)
    with pytest.raises(UnclearRulesError, match=r"were graded with different --policy\. Grade one of them at a time"):
        run(course, Rules(), saved).finding([SOFTMAX, MASKS])
    assert run(course, Rules(), saved).finding([MASKS]).rules.policy == "latest"
    assert run(course, Rules(policy="best"), saved).finding([SOFTMAX, MASKS]).rules.policy == "best"


@pytest.mark.parametrize(
    "text", ['{"modules": 3}', '{"modules": {"01_softmax": {"rules": 3}}}', '{"before": 1, "modules": {}}']
)
def test_damaged_rules_are_an_error(tmp_path: Path, text: str) -> None:
    write(tmp_path, {"rules.json": text})
    with pytest.raises(RulesError, match=r"cannot be read: .* restore it from a backup"):
        read_saved_rules(FileStore(tmp_path))
