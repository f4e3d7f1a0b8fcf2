"""A folder and a database keep the same results: every test here runs on both."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from cli.main import attn
from grader.classroom.batch import Batch
from grader.classroom.decisions import DecisionRecord, Decisions
from grader.classroom.hand_marks import clear, give
from grader.classroom.journal import ReportKey
from grader.classroom.module_rules import SavedRules
from grader.classroom.overrides import Override, Overrides
from grader.classroom.results import Results
from grader.classroom.rules import Rules, read_rules
from grader.classroom.store import ResultsError
from grader.classroom.store.files import FileStore
from grader.classroom.store.maintenance import check_store, copy_results
from grader.classroom.store.opening import open_store
from grader.classroom.store.store import (
    DERIVED,
    EARLIER,
    RULES,
    ResultsStore,
    SavedMarksError,
    read_earlier_marks,
    read_marks,
)
from grader.core.report import ReviewItem, report_text
from grader.course.course import read_course
from grader.grading.executor import LocalPool
from grader.submission.finder import find_submissions
from tests.classroom.conftest import HALF, RIGHT, SQUARE
from tests.classroom.store.made import MODULE, class_marks, grade, mark, provenance, report
from tests.conftest import write
from tests.postgres import Database

StoreOf = Callable[[str], ResultsStore]
ANA, BEN = ReportKey(MODULE, "ana"), ReportKey(MODULE, "ben")
HOSTILE = ReportKey(MODULE, "o'neil; drop table report; --", "a\\u0000\\ud800\ud800\x00%s.zip")
WORDS = "\0 \ud800 \u2028 ✓ \\u0000"
CODE = DecisionRecord("ana", MODULE, "softmax", "cost", "svd", "code", "accepted", "fine \\ ok", "2026-10-01")
NAMES = (RULES, *DERIVED, *(f"{EARLIER}/{name}" for name in DERIVED))


@pytest.fixture(params=["files", "postgres"])
def store_of(request: pytest.FixtureRequest, tmp_path: Path) -> StoreOf:
    """Give a store by its name."""
    if request.param == "files":
        return lambda name: FileStore(tmp_path / name)
    database: Database = request.getfixturevalue("database")
    return lambda name: open_store(database.url, name)


@pytest.fixture
def store(store_of: StoreOf) -> ResultsStore:
    """An empty store."""
    return store_of("reports")


def everything(store: ResultsStore) -> dict[str, object]:
    """Return all that a store holds."""
    journal = store.journal()
    documents = {}
    for name in NAMES:
        try:
            documents[name] = store.document(name)
        except FileNotFoundError:
            continue
    return {
        "journal": dict(journal),
        "reports": {key: store.read(key) for key in journal},
        "earlier": {key: store.earlier(key) for key in journal},
        "documents": documents,
        "decisions": store.decisions(),
        "overrides": store.overrides(),
        "stored": [(one.name, one.data) for one in store.stored(MODULE)],
    }


def test_an_empty_store_has_nothing(store: ResultsStore) -> None:
    assert not store.is_begun
    assert list(store.stored(MODULE)) == []
    assert read_rules(store) == Rules()
    with pytest.raises(SavedMarksError, match=r"there are no grades in .*reports"):
        read_marks(store)


def test_a_report_is_kept_byte_for_byte_and_found_again(store: ResultsStore) -> None:
    with Results(store) as results:
        for key in (ANA, HOSTILE):
            results.write(key, report(key.student, message=WORDS), provenance())
    with Results(store) as results:
        assert results.kept(ANA, provenance()) == report("ana", message=WORDS)
        assert results.kept(ANA, provenance("other code")) is None
        assert results.kept(BEN, provenance()) is None
        assert results.kept(HOSTILE, provenance()) == report(HOSTILE.student, message=WORDS)
    assert store.read(ANA) == report_text(report("ana", message=WORDS)).encode()
    assert set(store.journal()) == {ANA, HOSTILE}
    assert [one.report() for one in store.stored(MODULE)] == [report("ana", message=WORDS)]  # not the attempt


def test_reports_come_in_the_order_of_the_files_of_a_folder(store: ResultsStore) -> None:
    students = ["b", "a", "a-b", "a.b", "Z", "é", "a b"]
    with Results(store) as results:
        for student in students:
            results.write(ReportKey(MODULE, student), report(student), provenance())
    found = [one.report().submission for one in store.stored(MODULE)]
    assert found == ["é", "Z", "a b", "a-b", "a.b", "a", "b"]


def test_without_a_class_list_the_grading_is_unfinished(store: ResultsStore) -> None:
    with Results(store) as results:
        grade(results, {"ana": 8.0, "ben": 10.0}, finish=False)
        assert len(results.writer.unmarked()) == 2
    with pytest.raises(SavedMarksError, match=r"did not finish.*--to .*reports --resume"):
        read_marks(store)
    with Results(store) as results:
        grade(results, {"ana": 8.0, "ben": 10.0})
        assert results.writer.unmarked() == []
    assert [(one.id, one.final) for one in read_marks(store)] == [("ana", 8.0), ("ben", 10.0)]


def changed_scores(store: ResultsStore) -> dict[str, tuple[float, float]]:
    """Return what the last round changed."""
    changes = json.loads(store.document("changes.json"))
    return {one["submission"]: (one["before"], one["after"]) for one in changes}


def test_a_new_round_keeps_what_it_changes(store: ResultsStore) -> None:
    with Results(store) as results:
        grade(results, {"ana": 8.0, "ben": 10.0})
    with Results(store) as results:
        grade(results, {"ana": 9.0, "ben": 10.0})
    assert json.loads(store.earlier(ANA) or b"")["score"] == 8.0
    assert store.earlier(BEN) is None  # only its timing can differ
    assert [one.final for one in read_earlier_marks(store)] == [8.0, 10.0]
    assert changed_scores(store) == {"ana": (8.0, 9.0)}
    with Results(store) as results:
        grade(results, {"ana": 9.0, "ben": 10.0})
    assert store.earlier(ANA) is None
    assert [one.final for one in read_earlier_marks(store)] == [9.0, 10.0]


def test_a_damaged_list_of_the_round_before_stops_nothing(tmp_path: Path) -> None:
    store = FileStore(tmp_path / "reports")
    for score in (8.0, 9.0):
        with Results(store) as results:
            grade(results, {"ana": score})
    earlier = tmp_path / "reports" / EARLIER / "grades.json"
    assert read_earlier_marks(store)
    earlier.write_text(earlier.read_text()[:-20])
    assert read_earlier_marks(store) == []


def test_a_round_that_was_cut_off_goes_on(store: ResultsStore) -> None:
    with Results(store) as results:
        grade(results, {"ana": 8.0, "ben": 10.0})
    for score in (7.0, 6.0):
        with Results(store) as results:
            grade(results, {"ana": score}, finish=False)
    with Results(store) as results:
        grade(results, {"ben": 10.0, "ana": 6.0})
    assert changed_scores(store) == {"ana": (8.0, 6.0)}


def test_reports_keep_the_order_in_which_they_came(store: ResultsStore) -> None:
    students = ["try9", "try10", "try11"]  # in another order by name
    for _ in range(2):
        with Results(store) as results:
            grade(results, dict.fromkeys(students, 8.0))
    assert [key.student for key in store.journal()] == students


def test_decisions_and_points_by_hand_are_kept(store: ResultsStore) -> None:
    with Results(store) as results:
        grade(results, {"ana": 8.0, "ben": 10.0})
        results.writer.save_decisions(Decisions((CODE, replace(CODE, student="ben"))))
        results.writer.put_document(RULES, [SavedRules(Rules(undecided="withhold", due=("2026-10-01",))).text])
    assert store.decisions().records == (CODE, replace(CODE, student="ben"))
    assert read_rules(store) == Rules(undecided="withhold", due=("2026-10-01",))
    new = give(store, read_marks(store)[0], 9.5, "so", "2026-10-01", extra=False)
    assert (new.final, new.override, new.comment) == (9.5, 9.5, "so")
    assert store.overrides() == Overrides((Override("ana", MODULE, 9.5, "so", False, 8.0, "2026-10-01"),))
    assert [one.final for one in read_marks(store)] == [9.5, 10.0]
    with Results(store) as results:
        grade(results, {"ana": 8.0, "ben": 10.0})
        item = ReviewItem("softmax", CODE.what, "softmax.py", 3, "svd", 0.0)
        found = results.writer.decisions().decide("ana", MODULE, "code", item)
        assert found == ("accepted", CODE.comment)
    assert [one.final for one in read_marks(store)] == [9.5, 10.0]
    clear(store, read_marks(store)[0])
    assert [one.final for one in read_marks(store)] == [8.0, 10.0]


def test_the_best_attempt_counts(store: ResultsStore) -> None:
    tries = [ReportKey(MODULE, "ana", name) for name in ("1.zip", "2.zip")]
    with Results(store) as results:
        for key, score in zip(tries, (9.0, 8.0), strict=True):
            results.write(key, report("ana", score), provenance(key.attempt))
            results.mark(key, mark("ana", score, key.attempt))
        results.count(tries[0])
        results.finish(class_marks(results), [ANA], [], [])
    assert [(one.final, one.attempt) for one in read_marks(store)] == [(9.0, "1.zip")]
    assert len(store.journal()) == 3
    assert [one.report().score for one in store.stored(MODULE)] == [9.0]
    with Results(store) as results, pytest.raises(ResultsError, match="ben"):
        results.count(ReportKey(MODULE, "ben", "1.zip"))


def test_a_check_finds_a_report_that_was_changed(store: ResultsStore) -> None:
    with Results(store) as results:
        grade(results, {"ana": 8.0, "ben": 10.0})
    assert check_store(store).problems == ()
    writer = store.open()
    writer.put(store.journal()[ANA], report_text(report("ana", 10.0)))  # the hash is that of the old text
    writer.close()
    (problem,) = check_store(store).problems
    assert "ana" in problem
    assert "was changed after it was written" in problem


def test_a_copy_is_the_same_in_every_store(store_of: StoreOf, store: ResultsStore, tmp_path: Path) -> None:
    with Results(store) as results:
        grade(results, {"ana": 8.0, "ben": 10.0, "cy": 3.0})
        results.writer.save_decisions(Decisions((CODE,)))
        results.writer.put_document(RULES, [SavedRules(Rules(undecided="withhold")).text])
    with Results(store) as results:
        grade(results, {"ana": 9.0, "ben": 10.0})
        results.write(HOSTILE, report(HOSTILE.student), provenance())
        results.writer.atomically(lambda: results.write_class_list(class_marks(results)), alone=True)
    give(store, read_marks(store)[0], 1.0, "so", "now", extra=False)
    folder = FileStore(tmp_path / "copy")
    assert copy_results(store, folder).reports == 4
    assert everything(folder) == everything(store)
    again = store_of("again")
    assert copy_results(folder, again).problems == ()
    assert everything(again) == everything(store)
    with pytest.raises(ResultsError, match="has results already"):
        copy_results(store, again)
    with pytest.raises(ResultsError, match="there are no results"):
        copy_results(store_of("nothing"), store_of("other"))


def test_a_class_is_graded_once_and_then_kept(store: ResultsStore, tiny: Path, tmp_path: Path) -> None:
    course = read_course(tiny)
    folder = write(tmp_path / "class", {"ana/tiny.py": RIGHT, "ben/tiny.py": SQUARE, "cy/tiny.py": HALF})
    work = find_submissions(course, [folder]).handed_in
    with Results(store) as results:
        batch = Batch(course, work, results)
        assert len(list(batch.grade(LocalPool(1, allow_unjailed=True)))) == 3
        first = batch.settle()
    with Results(store) as results:
        batch = Batch(course, work, results)
        assert batch.keep() == 3
        assert list(batch.grade(LocalPool(1))) == []
        assert list(batch.settle().marks) == list(first.marks)
    assert read_marks(store) == list(first.marks)


def test_a_copy_without_a_damaged_report_ends_with_1(tmp_path: Path) -> None:
    with Results(FileStore(tmp_path / "reports")) as results:
        grade(results, {"ana": 8.0, "ben": 9.0})
    (tmp_path / "reports" / MODULE / "ben.json").write_text("half a rep")
    done = CliRunner().invoke(attn, ["store", "copy", str(tmp_path / "reports"), str(tmp_path / "copy")])
    assert done.exit_code == 1
    assert f"{tmp_path / 'copy'}: 1 reports" in done.output
    again = CliRunner().invoke(attn, ["store", "copy", str(tmp_path / "copy"), str(tmp_path / "again")])
    assert again.exit_code == 0, again.output
