"""What travels between the command and the workers: jobs as text, submissions and reports through the spool.

The spool is a folder that all machines see. A report has the hash of everything it depends on as its key. So writing
it twice changes nothing, and what a lost machine has finished need not be graded again. To keep reports elsewhere,
replace `write`, `has` and `report`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from grader.classroom.provenance import Provenance
from grader.core.atomic_file import write_atomically
from grader.core.json_record import from_json, to_json
from grader.core.report import Report, report_from, report_text
from grader.submission.submission import Submission

# Answers, in addition to the failures of a grading process.
KEYS, REFUSED, FAILED, ABANDONED = "keys", "refused", "failed", "abandoned"


@dataclass(frozen=True)
class Job:
    """One chunk of submissions for one module. Both folders must be the same on all machines."""

    course: str
    spool: str
    chunk: str
    module: str
    basis: Provenance  # of the command, without a submission: a worker that differs must not grade
    flags: tuple[str, ...] = ()

    def text(self) -> str:
        """Return the job as it travels."""
        return json.dumps(to_json(self))


def read_job(text: str) -> Job:
    """Return the job of a text."""
    return from_json(Job, json.loads(text))


def differences(here: Provenance, there: Provenance, worker: str) -> str:
    """Return a sentence that says what is different on a worker; empty if nothing that matters to a report is."""
    found = [
        words
        for name, words in (("grader", "another version of AttnLab"), ("checks", "other checks for the module"))
        if getattr(here, name) != getattr(there, name)
    ]
    for name in dict.fromkeys([*here.environment, *there.environment]):
        mine, other = here.environment.get(name), there.environment.get(name)
        if mine != other:
            found.append(f"{name} {other or 'missing'} instead of {mine or 'none'}")
    if not found:
        return ""
    return f"the worker on {worker} has {', '.join(found)}: install the same on all machines and start it again"


@dataclass(frozen=True)
class Spooled:
    """One submission of a chunk, with the key of its report."""

    key: str
    submission: Submission


def key_of(provenance: Provenance, attempt: str) -> str:
    """Return the key of a report: it depends on the submission, the suite, AttnLab and the environment."""
    data = json.dumps([to_json(provenance), attempt], sort_keys=True)
    return hashlib.sha256(data.encode()).hexdigest()


class Spool:
    """The chunks that are being graded, and the reports that the class does not have yet."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def open(self) -> None:
        """Make the folder, for this user only: it has students' work in it."""
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)

    def send(self, chunk: str, submissions: Iterable[Spooled]) -> None:
        """Write the submissions of a chunk."""
        lines = (json.dumps(to_json(one)) + "\n" for one in submissions)
        write_atomically(self._chunk(chunk), "".join(lines), durable=False)

    def submissions(self, chunk: str) -> Iterator[Spooled]:
        """Yield the submissions of a chunk, one at a time."""
        with self._chunk(chunk).open("rb") as lines:
            for line in lines:
                yield from_json(Spooled, json.loads(line))

    def write(self, key: str, report: Report) -> None:
        """Keep a report."""
        write_atomically(self._place(key), report_text(report), durable=False)  # a damaged one is made again

    def has(self, key: str) -> bool:
        """Whether there is a report with a score. One without a score is made again."""
        report = self.report(key)
        return report is not None and report.score is not None

    def report(self, key: str) -> Report | None:
        """Return a report; None if it is missing or damaged."""
        try:
            return report_from(json.loads(self._place(key).read_bytes()))
        except (FileNotFoundError, ValueError):
            return None

    def forget(self, chunk: str, keys: Iterable[str]) -> None:
        """Remove a chunk and its reports: the class has them."""
        for path in (self._chunk(chunk), *map(self._place, keys)):
            path.unlink(missing_ok=True)

    def _chunk(self, chunk: str) -> Path:
        return self.folder / "work" / f"{chunk}.jsonl"

    def _place(self, key: str) -> Path:
        return self.folder / "reports" / key[:2] / f"{key}.json"
