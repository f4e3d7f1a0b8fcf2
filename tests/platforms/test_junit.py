"""JUnit XML: valid by its schema, with failures for the student's faults and errors for the grader's."""

from __future__ import annotations

from pathlib import Path
from xml.etree.ElementTree import Element, ParseError

import pytest

from grader.classroom.class_list import read_class
from grader.classroom.store.files import FileStore
from grader.platforms.junit import junit_bytes, junit_text
from tests.cli.conftest import Attn
from tests.conftest import ROOT
from tests.platforms.conftest import Graded
from tests.platforms.junit_rules import check_junit


def properties(suite: Element) -> dict[str, str]:
    return {one.attrib["name"]: one.attrib["value"] for one in suite.iter("property")}


def test_a_class_is_one_file(graded: Graded, tmp_path: Path) -> None:
    done = graded.export("junit", graded.reports, "--out", tmp_path / "j.xml")
    assert done.returncode == 3  # two were not graded
    root = check_junit((tmp_path / "j.xml").read_bytes())
    suites = {properties(suite)["student"]: suite for suite in root}
    assert len(suites) == 7
    assert suites["101"].attrib["failures"] == suites["101"].attrib["errors"] == "0"
    assert properties(suites["102"])["score"] == "10"
    assert properties(suites["102"])["final"] == "9"
    assert (suites["103"].attrib["failures"], suites["103"].attrib["errors"]) == ("1", "0")
    assert int(suites["zoe"].attrib["failures"]) > 0
    for who in ("104", "105"):
        assert int(suites[who].attrib["errors"]) > 0
        assert suites[who].attrib["failures"] == "0"
        assert not {"score", "final"} & properties(suites[who]).keys()


def test_each_student_can_have_a_file(graded: Graded, tmp_path: Path) -> None:
    graded.export("junit", graded.reports, "--out", tmp_path / "each", "--each")
    files = sorted((tmp_path / "each" / "01_tiny").iterdir())
    assert [path.stem for path in files] == ["ana", "ben", "cy", "dee", "eve", "gil", "zoe"]
    for path in files:
        assert len(check_junit(path.read_bytes())) == 1


def test_costs_are_cases(attn: Attn, tmp_path: Path) -> None:
    people = [ROOT / "examples" / "class" / name for name in ("ben", "farah", "hana")]
    attn("grade", *people, "--to", tmp_path / "reports")
    assert attn("export", "junit", tmp_path / "reports", "--out", tmp_path / "j.xml").returncode == 0
    root = check_junit((tmp_path / "j.xml").read_bytes())
    assert root.find(".//testcase[@name='softmax_steps']/failure[@type='cost']") is not None
    diagnoses = root.find(".//system-out")
    assert diagnoses is not None
    assert "Look at" in (diagnoses.text or "")


def test_it_has_no_text_for_instructors_only(graded: Graded, tmp_path: Path) -> None:
    graded.export("junit", graded.reports, "--out", tmp_path / "j.xml")
    assert "LookupError" in graded.report("dee").checks[-2].detail
    assert "LookupError" not in (tmp_path / "j.xml").read_text()


def test_any_text_gives_a_valid_file(graded: Graded) -> None:
    from dataclasses import replace

    mark, report = next(iter(read_class(FileStore(graded.reports)).reports()))
    nasty = "]]>\0\x1b[31m\ufffe<&\"' ‮ 李 \ud800"
    failing = replace(report.checks[0], outcome="failed", earned=0.0, message=nasty)
    text = junit_text([(replace(mark, id=nasty), replace(report, checks=(failing,)))], nasty)
    root = check_junit(junit_bytes(text))
    assert "李" in root.attrib["name"]


def test_the_rules_refuse_wrong_files(graded: Graded) -> None:
    text = junit_text(read_class(FileStore(graded.reports)).reports())
    for wrong in (
        text.replace(' tests="', ' test="', 1),
        text.replace("<properties>", "<property>", 1).replace("</properties>", "</property>", 1),
        text.replace('failures="0"', 'failures="3"', 1),
        text.replace("<testcase ", "<case ", 1),
    ):
        with pytest.raises((AssertionError, KeyError, ParseError)):
            check_junit(junit_bytes(wrong))


def test_a_folder_as_output_is_a_usage_error(graded: Graded, tmp_path: Path) -> None:
    done = graded.export("junit", graded.reports, "--out", tmp_path)
    assert (done.returncode, "--each" in done.stderr) == (2, True)
