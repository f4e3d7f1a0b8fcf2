"""Rosters, due dates, late penalties and marks."""

from __future__ import annotations

import dataclasses
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from grader.classroom.class_list import ClassList
from grader.classroom.lateness import Deadlines, LateError, read_due, read_penalty, read_times
from grader.classroom.marks import Mark, best_of, marks_lines
from grader.classroom.pseudonyms import Names, Pseudonyms
from grader.classroom.roster import Person, Roster, RosterError, read_roster
from grader.classroom.store.files import FileStore
from grader.core.csv_table import read_csv
from grader.core.times import TimeError, read_length, read_time, show_length
from grader.course.course import Course
from tests.pages.made import made_mark


def write(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


class TestRoster:
    """Rosters and the people on them."""

    def test_people_are_found_by_id_address_or_name_in_any_case(self, tmp_path: Path) -> None:
        text = 'Student,ID,SIS Login ID,Section,Email\nPoints Possible,,,,\n"Silva, Ana",1,asilva,A,ana.silva@uni.edu\n'
        text += "Ben,2,ben,B,\n"
        text += ",,,,Manual Posting\n".replace("Manual Posting", "")
        roster = read_roster(write(tmp_path / "class.csv", text))
        assert [person.section for person in roster.people] == ["A", "B"]
        for name in ("Ben_77_assignsubmission_file_", "benb_late_2_5551_softmax", "benb_2_5551_softmax"):
            assert roster.find(name) is roster.people[1]
        for name in ("1", "asilva", "ANA.SILVA@uni.edu", "ana.silva", "silva, ana"):
            assert roster.find(name) is roster.people[0]
        assert roster.find("carl") is None

    def test_first_and_last_names_make_a_name(self, tmp_path: Path) -> None:
        roster = read_roster(write(tmp_path / "class.csv", "username,first name,last name\nana,Ana,Silva\n"))
        assert roster.people == (Person("ana", "Ana Silva"),)

    def test_a_shared_name_finds_no_one(self) -> None:
        roster = Roster((Person("1", "Ana"), Person("2", "Ana")))
        assert roster.find("Ana") is None
        assert roster.find("2") == Person("2", "Ana")

    @pytest.mark.parametrize(
        ("text", "words"),
        [
            ("name\nAna\n", "line 2: there is no id"),
            ("id\nana\nben\nANA\n", "line 4: the id 'ANA' is already in line 2"),
            ("id,name\n", "lists no students"),
            ("", "lists no students"),
        ],
    )
    def test_an_unusable_roster_is_reported_with_its_line(self, tmp_path: Path, text: str, words: str) -> None:
        with pytest.raises(RosterError, match=words):
            read_roster(write(tmp_path / "class.csv", text))


class TestTimes:
    """Times and lengths of time."""

    def test_a_date_alone_ends_with_its_last_second(self) -> None:
        for text in ("2026-10-01", "20261001"):
            assert read_time(text).astimezone().strftime("%F %T.%f") == "2026-10-01 23:59:59.999999"

    @pytest.mark.parametrize(
        "text",
        ["2026-10-01 12:00:00.5 UTC", "2026-10-01T12:00:00.5Z", "2026-10-01T14:00:00.5+02:00"],
    )
    def test_times_with_time_zones(self, text: str) -> None:
        assert read_time(text) == datetime(2026, 10, 1, 12, 0, 0, 500_000, UTC)

    @pytest.mark.parametrize("zone", ["UTC", " UTC", "Z", "+00:00"])
    def test_a_date_alone_ends_with_its_last_second_in_its_time_zone(self, zone: str) -> None:
        assert read_time(f"2026-10-01{zone}") == datetime(2026, 10, 1, 23, 59, 59, 999_999, UTC)
        assert read_time("2026-10-01+02:00") == datetime(2026, 10, 1, 21, 59, 59, 999_999, UTC)

    @pytest.mark.parametrize("text", ["tomorrow", "", "2026-13-01", "2026-13-01 UTC", "01.10.2026", "2026-10-01 25:00"])
    def test_text_that_is_not_a_time_is_refused(self, text: str) -> None:
        with pytest.raises(TimeError, match="is not a date"):
            read_time(text)

    def test_lengths_of_time_are_read_and_shown(self) -> None:
        assert read_length("90m") == timedelta(minutes=90)
        assert read_length("1.5 days") == timedelta(hours=36)
        assert show_length(timedelta(days=1, hours=3, minutes=5)) == "1 d 3 h"
        assert show_length(timedelta(minutes=65)) == "1 h 5 min"
        for text in ("soon", "1month", "9999999999d", "1 mile"):
            with pytest.raises(TimeError):
                read_length(text)


class TestLateness:
    """Due dates, extensions, grace periods and penalties."""

    DUE = datetime(2026, 10, 1, 12, tzinfo=UTC)

    def test_each_started_period_costs(self) -> None:
        penalty = read_penalty("10%/day")
        assert penalty.points(timedelta(seconds=1), 46) == 4.6
        assert penalty.points(timedelta(days=1), 46) == 4.6
        assert penalty.points(timedelta(days=1, seconds=1), 46) == 9.2
        assert read_penalty("2/12h").points(timedelta(hours=13), 46) == 4.0

    @pytest.mark.parametrize("text", ["10", "10%", "%/day", "10%/", "10%/0h", "ten/day", "-1/day", "1%/month"])
    def test_text_that_is_not_a_penalty_is_refused(self, text: str) -> None:
        with pytest.raises(LateError, match="is not a late penalty"):
            read_penalty(text)

    def test_an_extension_is_for_one_student_and_never_shortens_the_time(self) -> None:
        later, earlier = self.DUE + timedelta(days=2), self.DUE - timedelta(days=2)
        extensions = {("ana", ""): later, ("ben", "01_softmax"): later, ("cy", ""): earlier}
        deadlines = Deadlines(due={("", ""): self.DUE}, extensions=extensions)
        assert deadlines.due_at(["ANA"], "04_masks") == later
        assert deadlines.due_at(["ben"], "01_softmax") == later
        assert deadlines.due_at(["ben"], "04_masks") == self.DUE
        assert deadlines.due_at(["cy"], "04_masks") == self.DUE
        both = Deadlines(due={("", ""): self.DUE}, extensions={("ana", "01_softmax"): self.DUE, ("ana", ""): later})
        assert both.due_at(["ana"], "01_softmax") == later
        assert Deadlines(extensions=extensions).due_at(["ana"], "04_masks") is None

    def test_lateness_after_the_grace_period_counts_from_the_due_date(self) -> None:
        deadlines = Deadlines(grace=timedelta(minutes=10))
        assert not deadlines.lateness(self.DUE, self.DUE + timedelta(minutes=10))
        assert deadlines.lateness(self.DUE, self.DUE + timedelta(minutes=11)) == timedelta(minutes=11)

    def test_files_of_times_are_read_and_checked(self, course: Course, tmp_path: Path) -> None:
        path = write(tmp_path / "more.csv", "id,module,until\nana,softmax,2026-10-01T12:00Z\nBen,,2026-10-01T12:00Z\n")
        assert read_times(course, str(path), path.read_bytes(), "until") == {
            ("ana", "01_softmax"): self.DUE,
            ("ben", ""): self.DUE,
        }
        with pytest.raises(LateError, match="line 2: it needs the columns id and until"):
            read_times(course, "no.csv", b"id,date\nana,x\n", "until")
        with pytest.raises(LateError, match="line 3: ana has a different until in a line above"):
            read_times(course, "no.csv", b"id,until\nana,2026-10-02\nana,2026-10-01\n", "until")
        with pytest.raises(LateError, match=r"no\.csv.*there is no module"):
            read_times(course, "no.csv", b"id,module,until\nana,x,2026-10-01\n", "until")

    def test_due_dates_by_module(self, course: Course) -> None:
        due = Deadlines(due=read_due(course, ["2026-10-01T12:00Z", "masks=2026-10-02T12:00Z"]))
        assert due.due_at(["ana"], "01_softmax") == self.DUE
        assert due.due_at(["ana"], "04_masks") == self.DUE + timedelta(days=1)
        with pytest.raises(LateError, match="two due dates"):
            read_due(course, ["1=2026-10-01", "softmax=2026-10-02"])


def mark(**fields: Any) -> Mark:
    plain = Mark(
        "1",
        "Ana",
        "A",
        "ana",
        "01_softmax",
        "graded",
        10.0,
        46.0,
        "2026-10-01T12:00:00+00:00",
        "",
        0.0,
        0.0,
        10.0,
        "",
        1,
        False,
    )
    return dataclasses.replace(plain, **fields)


def test_the_best_attempt_has_the_highest_final_mark_and_is_the_earliest() -> None:
    early = datetime(2026, 9, 1, tzinfo=UTC).isoformat()
    marks = {"a": mark(final=10.0), "b": mark(final=12.0), "c": mark(final=12.0, handed_in=early)}
    assert best_of(marks) == "c"
    assert best_of(marks | {"d": mark(final=None, score=None)}) == "d"  # it may have been the best


def test_a_class_list_keeps_every_name() -> None:
    names = ["Silva, Ana", 'A "B" C', "王小明", "=1+1", "-x"]
    text = "".join(marks_lines([mark(name=name, section=name) for name in names]))
    rows = read_csv(text.encode())
    assert [row["name"] for _, row in rows] == names
    assert [row["section"] for _, row in rows] == names


def test_the_platforms_word_counts_only_where_the_time_is_unknown() -> None:
    due = {"due": "2026-10-01"}
    marks = (
        made_mark("ana", time_known=True, marked_late=True, **due),
        made_mark("ben", time_known=False, marked_late=True, **due),
        made_mark("cy", time_known=False, **due),
    )
    said = "submission time unknown for 2 of 3: no late penalty; 1 of them the platform marked LATE"
    assert ClassList(FileStore(Path("reports")), marks).unknown_times() == said


def test_a_comment_on_a_mark_hides_names_as_the_rest_does() -> None:
    names = Pseudonyms("secret", (Names("ana", ("Ana Silva",)),))
    hidden = names.mark(made_mark("ana", name="Ana Silva", comment="as agreed with Ana Silva"))
    assert hidden.comment == f"as agreed with {names.of('ana')}"
    assert (hidden.name, hidden.id) == ("", names.of("ana"))
