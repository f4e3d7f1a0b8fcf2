"""`attn review`: lists what is undecided, and decisions that survive grading again."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path
from typing import Any

import click.testing
import pytest

from cli.main import attn as command
from grader.classroom.decisions import FILE, DecisionRecord
from grader.classroom.results import Results
from grader.classroom.review import read_reviews
from grader.classroom.store.files import FileStore
from tests.cli.conftest import Attn
from tests.conftest import ROOT, UNDECIDED, needs_jail, write

UNKNOWN = "your code calls numpy.linalg.svd, whose cost is unknown"
NAME = "b\x1b[31m\u202een"  # a name that would change a terminal
SHOWN = "b\\u{1b}[31m\\u{202e}en"


@pytest.fixture(scope="module")
def graded(attn: Attn, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A class of two with undecided costs, and its reports."""
    needs_jail()
    folder = tmp_path_factory.mktemp("review")
    write(folder / "class", {"ana/softmax.py": UNDECIDED, f"{NAME}/softmax.py": UNDECIDED})
    done = attn("grade", folder / "class", "--to", folder / "reports")
    assert done.returncode == 1, done.stderr
    assert "provisional: 3 points not decided yet" in done.stdout
    assert "2 of them provisional" in done.stdout
    assert f"attn: 2 scores are provisional. To see what is undecided, run: attn review {folder}" in done.stderr
    return folder


@pytest.fixture
def folder(graded: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the class and its reports."""
    monkeypatch.chdir(ROOT)
    return Path(shutil.copytree(graded, tmp_path / "copy"))


def review(folder: Path, *arguments: object) -> click.testing.Result:
    """Run `attn review` in this process."""
    return click.testing.CliRunner().invoke(command, ["review", str(folder / "reports"), *map(str, arguments)])


def report(folder: Path, student: str = "ana") -> dict[str, Any]:
    data: dict[str, Any] = json.loads((folder / "reports" / "01_softmax" / f"{student}.json").read_text())
    return data | {"timing": None}


def grades(folder: Path) -> dict[str, dict[str, str]]:
    with (folder / "reports" / "grades.csv").open(newline="", encoding="utf-8") as file:
        return {row["submission"]: row for row in csv.DictReader(file)}


def test_the_list_shows_what_is_undecided_for_whom_and_where(folder: Path) -> None:
    done = review(folder)
    assert done.exit_code == 1
    assert "ana · 01_softmax · 26 / 46 (provisional)" in done.output
    assert "  softmax: cost, 3 points, open\n    softmax.py:6  np.linalg.svd(np.ones((2, 2)))\n" in done.output
    assert UNKNOWN in " ".join(done.output.split())
    assert "--student ana -m 01_softmax --accept" in done.output
    assert "6 points in 2 reports are not decided. They count until you decide." in done.output
    assert grades(folder)["ana"]["provisional"] == grades(folder)["ana"]["needs_review"] == "yes"


def test_names_and_comments_cannot_change_the_terminal(folder: Path) -> None:
    assert SHOWN in review(folder).output
    done = review(folder, "-s", SHOWN, "--reject", "--comment", "not\n\x1b[2J so")
    assert (done.exit_code, "26 → 23 of 46" in done.output) == (0, True)
    for output in (done.output, review(folder, "--all").output, (folder / "reports" / FILE).read_text()):
        assert not {"\x1b", "\u202e"} & set(output)
    assert "comment: not \\u{1b}[2J so" in review(folder, "--all").output


def test_json_has_every_item(folder: Path) -> None:
    items = json.loads(review(folder, "--json", "-s", "ana").output)
    assert [(one["student"], one["target"], one["what"], one["line"], one["points"]) for one in items] == [
        ("ana", "softmax", "cost", 6, 1.0)
    ] * 3
    assert [one["parts"] for one in items] == [["softmax steps"], ["softmax work"], ["softmax mem"]]
    assert {(one["decision"], one["earlier"]) for one in items} == {("open", None)}
    review(folder, "-s", "ana", "--accept")
    assert json.loads(review(folder, "--json", "-s", "ana").output) == []
    decided = json.loads(review(folder, "--json", "-s", "ana", "--all").output)
    assert [one["decision"] for one in decided] == ["accepted"] * 3


def test_a_rejection_changes_report_and_grades_and_can_be_undone(folder: Path, attn: Attn) -> None:
    before = (folder / "reports" / "01_softmax" / "ana.json").read_bytes()
    listed = (folder / "reports" / "grades.csv").read_bytes()
    done = review(folder, "-s", "ana", "--reject", "--comment", "too much work")
    assert done.exit_code == 0
    assert f"rejected: softmax, 3 points: {UNKNOWN}" in done.output
    assert "ana · 01_softmax: 26 → 23 of 46" in done.output
    data = report(folder)
    assert (data["score"], data["needs_review"]) == (23.0, False)
    assert {cost["verdict"] for cost in data["costs"][:3]} == {"fail"}
    assert "[rejected by the instructor: too much work]" in data["costs"][0]["message"]
    row = grades(folder)["ana"]
    assert (row["score"], row["final"], row["needs_review"], row["provisional"]) == ("23", "23", "no", "no")
    exported = attn("export", "csv", folder / "reports", "--out", folder / "class.csv")
    assert exported.returncode == 0, exported.stderr
    assert "1 of 2 grades are provisional" in exported.stderr
    assert '"ana","","",23,' in (folder / "class.csv").read_text()
    assert review(folder, "-s", "ana", "--undo").exit_code == 0
    assert (folder / "reports" / "01_softmax" / "ana.json").read_bytes() == before
    assert (folder / "reports" / "grades.csv").read_bytes() == listed


@pytest.mark.exhaustive
def test_a_decision_holds_until_the_code_changes(folder: Path, attn: Attn) -> None:
    review(folder, "-s", "ana", "--reject", "--comment", "too much work")
    decided = report(folder)
    again = ("grade", folder / "class" / "ana", "--to", folder / "reports")
    (folder / "reports" / "01_softmax" / "ana.json").unlink()
    done = attn(*again)
    assert "changed since" not in done.stdout
    assert report(folder) == decided
    assert grades(folder)["ana"]["score"] == "23"
    assert "1 of 1 are in" in attn(*again, "--resume").stderr
    assert report(folder) == decided

    own = folder / "class" / "ana" / "softmax.py"
    own.write_text(f"{UNDECIDED}\n# a remark\n")
    changed = attn(*again, "--resume")
    assert "ana 01_softmax: 23 → 26" in changed.stdout
    assert "the submission changed; a decision was made, changed, or does not" in changed.stdout
    assert report(folder)["needs_review"] is True
    listed = review(folder, "-s", "ana")
    assert listed.exit_code == 1
    assert "for other code: the submission changed since" in listed.output
    assert "The comment was: too much work" in " ".join(listed.output.split())

    own.write_text(UNDECIDED)
    attn(*again, "--resume")
    assert report(folder) == decided


def test_withheld_points_count_when_they_are_accepted(folder: Path, attn: Attn) -> None:
    again = ("grade", folder / "class" / "ana", "--to", folder / "reports", "--resume")
    done = attn(*again, "--undecided", "withhold", "--yes")
    assert "1 of 1 are in" in done.stderr
    assert "ana 01_softmax: 26 → 23" in done.stdout
    assert "undecided points count differently (--undecided)" in done.stdout
    assert (grades(folder)["ana"]["score"], grades(folder)["ana"]["provisional"]) == ("23", "yes")
    assert "as before: --undecided withhold" in attn(*again).stderr
    assert "They do not count until you accept them." in review(folder).output
    assert "23 → 26 of 46" in review(folder, "-s", "ana", "--accept").output
    assert (grades(folder)["ana"]["score"], grades(folder)["ana"]["provisional"]) == ("26", "no")
    assert "26 → 23 of 46" in review(folder, "-s", "ana", "--undo").output


def test_a_single_report_shows_a_provisional_score(attn: Attn, folder: Path) -> None:
    path = folder / "class" / "ana" / "softmax.py"
    assert "score 26 / 46 (provisional, graded, " in attn("grade", path).stdout
    assert "score 23 / 46 (provisional, graded, " in attn("grade", path, "--undecided", "withhold").stdout


def test_a_run_that_was_killed_after_the_decision_is_completed(folder: Path, attn: Attn) -> None:
    (one,) = (one for one in read_reviews(FileStore(folder / "reports")) if one.student == "ana")
    item = one.report.reviews[0]
    record = DecisionRecord(
        "ana", "01_softmax", "softmax", "cost", item.reason, one.submission, "rejected", "no", "2026-11-16"
    )
    with Results(FileStore(folder / "reports")) as results:
        results.writer.save_decisions(results.writer.decisions().with_records([record]))
    assert "The report does not have your last decision" in review(folder, "--all").output
    with_resume = shutil.copytree(folder, folder.with_name("resumed"))
    attn("grade", with_resume / "class", "--to", with_resume / "reports", "--resume", "--yes")
    assert review(folder, "-s", "ana", "--reject", "--comment", "no").exit_code == 0
    for place in (folder, with_resume):
        assert report(place)["score"] == 23.0
        assert grades(place)["ana"]["score"] == "23"


def test_damaged_decisions_stop_every_command_and_stay(folder: Path, attn: Attn) -> None:
    review(folder, "-s", "ana", "--accept")
    path = folder / "reports" / FILE
    half = path.read_bytes()[:-30]
    path.write_bytes(half)
    before = {one: one.read_bytes() for one in (folder / "reports").rglob("*") if one.is_file()}
    for done in (review(folder), review(folder, "-s", "ana", "--undo")):
        assert done.exit_code == 2
        assert "cannot be read, so nothing was changed" in done.output
    again = attn("grade", folder / "class", "--to", folder / "reports")
    assert again.returncode == 2
    assert "Correct the file or restore it from a backup" in " ".join(again.stderr.split())
    unchanged = {one: one.read_bytes() for one in (folder / "reports").rglob("*") if one.is_file()}
    assert unchanged == before


def test_a_changed_report_is_not_decided(folder: Path) -> None:
    path = folder / "reports" / "01_softmax" / "ana.json"
    path.write_text(path.read_text().replace('"score": 26.0', '"score": 46.0'))
    done = review(folder, "-s", "ana", "--accept")
    assert done.exit_code == 2
    assert "is missing or was changed" in done.output
    assert not (folder / "reports" / FILE).exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--accept"], "--accept needs a student"),
        (["-s", "ana", "--reject"], "say why, with --comment"),
        (["-s", "ana", "--comment", "x"], "--comment belongs to --accept or --reject"),
        (["-s", "nobody", "--accept"], "nothing of nobody is undecided"),
        (["-s", "ana", "--undo"], "nothing of ana is decided"),
        (["-s", "ana", "--target", "log_softmax", "--accept"], "nothing of ana is undecided"),
        (["-s", "ana", "--accept", "--json"], "--json is for the list"),
        (["-m", "sotfmax"], "Did you mean softmax?"),
    ],
)
def test_usage_mistakes_exit_2_and_change_nothing(folder: Path, arguments: list[str], words: str) -> None:
    before = (folder / "reports" / "01_softmax" / "ana.json").read_bytes()
    done = review(folder, *arguments)
    assert done.exit_code == 2
    assert words in " ".join(done.output.split())
    assert (folder / "reports" / "01_softmax" / "ana.json").read_bytes() == before
    assert not (folder / "reports" / FILE).exists()


def test_nothing_undecided_exits_0(folder: Path) -> None:
    for student in ("ana", SHOWN):
        assert review(folder, "-s", student, "--accept").exit_code == 0
    done = review(folder)
    assert (done.exit_code, done.output) == (0, "Nothing is undecided.\n")


def test_a_report_whose_doubt_is_no_item_is_not_lost(folder: Path) -> None:
    """Such a report exists: a check that was undecided, and then failed."""
    path = folder / "reports" / "01_softmax" / "ana.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"reviews": []}))
    done = review(folder, "-s", "ana")
    assert done.exit_code == 1, done.output
    assert "ana · 01_softmax" in done.output
    assert "nothing here can be accepted or rejected" in done.output


def test_a_folder_without_reports_exits_2(tmp_path: Path) -> None:
    (tmp_path / "reports").mkdir()
    done = review(tmp_path)
    assert done.exit_code == 2
    assert "there are no reports in" in done.output


@pytest.mark.exhaustive
def test_two_targets_must_be_told_apart(folder: Path, attn: Attn) -> None:
    both = UNDECIDED + "\n\ndef log_softmax(x, axis=-1):\n    return np.log(softmax(x, axis))\n"
    (folder / "class" / "ana" / "softmax.py").write_text(both)
    attn("grade", folder / "class" / "ana", "--to", folder / "reports")
    done = review(folder, "-s", "ana", "--accept")
    assert done.exit_code == 2
    assert "choose one with --module and --target: ana 01_softmax softmax; ana 01_softmax log_softmax" in done.output
    assert "--target log_softmax --accept" in review(folder).output
    assert review(folder, "-s", "ana", "--target", "log_softmax", "--accept").exit_code == 0
    assert review(folder, "-s", "ana", "--target", "log_softmax").output == "Nothing is undecided.\n"
    assert "3 points in 1 report" in review(folder, "-s", "ana", "--target", "softmax").output
    assert review(folder, "-s", "ana", "--accept").exit_code == 0  # one is left
    assert not report(folder)["needs_review"]


@pytest.mark.exhaustive
def test_the_best_attempt_is_chosen_again(folder: Path, attn: Attn) -> None:
    slow = UNDECIDED.replace("np.linalg.svd(np.ones((2, 2)))", "for _ in x: pass")  # too many steps
    write(folder / "class", {"ana/slow/softmax.py": slow})
    shutil.rmtree(folder / "class" / NAME)
    again = ("grade", folder / "class", "--to", folder / "reports", "--policy", "best", "--yes")
    attn(*again)
    assert (grades(folder)["ana"]["score"], grades(folder)["ana"]["provisional"]) == ("26", "yes")
    done = review(folder, "-s", "ana", "--reject", "--comment", "no")
    assert "another may count now" in done.output
    assert grades(folder)["ana"]["score"] == "23"
    attn(*again, "--resume")
    assert grades(folder)["ana"]["score"] == "25"
