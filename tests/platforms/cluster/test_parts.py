"""The parts of a cluster, without one: addresses, certificates, options, keys and the spool."""

from __future__ import annotations

import json
import stat
from dataclasses import replace
from pathlib import Path

import pytest

from grader.classroom.provenance import Provenance
from grader.core.report import Report, report_text
from grader.platforms.cluster import ClusterError
from grader.platforms.cluster.certificates import CERTIFICATE, KEY, make_certificates, security_of
from grader.platforms.cluster.settings import read_address, read_plan
from grader.platforms.cluster.spool import Job, Spool, Spooled, differences, key_of, read_job
from grader.submission.submission import Source, Submission
from tests.conftest import GradeSource

PROVENANCE = Provenance("s", "c", "g", {"python": "3.11.7", "numpy": "2.4.6"})
SUBMISSION = Submission("ana", "01_tiny", "tiny.py", {"tiny": Source("tiny.py", ("x = 1\n", "é\u2028"), False)})


@pytest.mark.parametrize(
    ("text", "tls", "found"),
    [
        ("dask://node1:9000", True, "tls://node1:9000"),
        ("tls://node1", True, "tls://node1:8786"),
        ("node1:9000", True, "tls://node1:9000"),
        ("dask://127.0.0.1:9000", False, "tcp://127.0.0.1:9000"),
        ("dask://localhost", False, "tcp://localhost:8786"),
        ("tls://[2001:db8::1]:9000", True, "tls://[2001:db8::1]:9000"),
        ("dask://[::1]", False, "tcp://[::1]:8786"),
    ],
)
def test_an_address_becomes_one_of_dask(text: str, tls: bool, found: str) -> None:
    assert read_address(text, tls=tls) == found


@pytest.mark.parametrize(
    ("text", "tls", "words"),
    [
        ("dask://node1:9000", False, "anyone who can reach node1 could run code as you"),
        ("tls://127.0.0.1:9000", False, "needs certificates"),
        ("tcp://127.0.0.1:9000", True, "is not encrypted"),
        ("http://node1", True, "is not an address of a scheduler"),
        ("dask://node1:high", True, "is not an address of a scheduler"),
        ("dask://node1:99999", True, "is not an address of a scheduler"),
        ("dask://", True, "is not an address of a scheduler"),
        ("class/ana", True, "is not an address of a scheduler"),
    ],
)
def test_other_addresses_are_refused(text: str, tls: bool, words: str) -> None:
    with pytest.raises(ClusterError, match=words):
        read_address(text, tls=tls)


def test_certificates_are_secret_and_never_replaced(tmp_path: Path) -> None:
    folder = tmp_path / "certs"
    make_certificates(folder)
    assert stat.S_IMODE((folder / KEY).stat().st_mode) == 0o600
    before = (folder / KEY).read_bytes()
    with pytest.raises(ClusterError, match="has certificates already"):
        make_certificates(folder)
    assert (folder / KEY).read_bytes() == before
    security = security_of(folder)
    assert security is not None
    assert security.require_encryption
    (folder / CERTIFICATE).unlink()
    with pytest.raises(ClusterError, match=r"cert\.pem is missing"):
        security_of(folder)


@pytest.mark.parametrize(
    "other",
    [
        replace(PROVENANCE, submission="t"),
        replace(PROVENANCE, checks="d"),
        replace(PROVENANCE, grader="h"),
        replace(PROVENANCE, environment={"python": "3.11.8", "numpy": "2.4.6"}),
    ],
)
def test_everything_that_matters_changes_the_key(other: Provenance) -> None:
    assert key_of(PROVENANCE, "") == key_of(replace(PROVENANCE), "")
    assert key_of(PROVENANCE, "") != key_of(other, "")
    assert key_of(PROVENANCE, "") != key_of(PROVENANCE, "try2")


def test_differences_are_one_sentence() -> None:
    assert differences(PROVENANCE, PROVENANCE, "node1") == ""
    other = Provenance("s", "d", "h", {"python": "3.11.7", "numpy": "2.4.5", "torch": "2.13.0"})
    found = differences(PROVENANCE, other, "node1")
    assert found == (
        "the worker on node1 has another version of AttnLab, other checks for the module, numpy 2.4.5 instead of "
        "2.4.6, torch 2.13.0 instead of none: install the same on all machines and start it again"
    )


def test_a_job_is_plain_text() -> None:
    job = Job("/shared/course", "/shared/spool", "c1", "01_tiny", PROVENANCE, ("gpu",))
    assert read_job(job.text()) == job
    assert json.loads(job.text())["basis"]["checks"] == "c"


def test_a_report_written_twice_is_there_once(grade_source: GradeSource, tmp_path: Path) -> None:
    spool = Spool(tmp_path / "spool")
    spool.open()
    assert stat.S_IMODE((tmp_path / "spool").stat().st_mode) == 0o700
    key = key_of(PROVENANCE, "")
    spool.send("c1", [Spooled(key, SUBMISSION)])
    assert list(spool.submissions("c1")) == [Spooled(key, SUBMISSION)]
    report: Report = grade_source("def softmax(:\n")
    assert not spool.has(key)
    for _ in range(2):
        spool.write(key, report)
    assert spool.has(key)
    found = spool.report(key)
    assert found is not None
    assert report_text(found) == report_text(report)
    spool.write(key, replace(report, score=None))
    assert not spool.has(key)  # what could not be graded is tried again
    spool.forget("c1", [key])
    assert not [path for path in spool.folder.rglob("*") if path.is_file()]


def test_a_damaged_report_is_made_again(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "spool")
    key = key_of(PROVENANCE, "")
    place = tmp_path / "spool" / "reports" / key[:2] / f"{key}.json"
    place.parent.mkdir(parents=True)
    place.write_text('{"schema": 1, "mod')
    assert spool.report(key) is None
    assert not spool.has(key)


@pytest.mark.parametrize(
    ("option", "words"),
    [
        ("workers", "is not an option of a cluster"),
        ("colour=red", "is not an option of a cluster"),
        ("workers=many", "must be a number"),
        ("cores=0", "must be a number"),
        ("name=a\nb", "must be one line"),
    ],
)
def test_wrong_options_of_a_cluster_are_named(option: str, words: str) -> None:
    with pytest.raises(ClusterError, match=words):
        read_plan([option])
