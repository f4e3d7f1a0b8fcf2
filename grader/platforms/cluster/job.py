"""Jobs: what the command asks a worker to do, and the answer. Both travel as text; nothing else does."""

from __future__ import annotations

import json
from dataclasses import dataclass

from grader.classroom.provenance import Provenance
from grader.core.json_record import from_json, to_json

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
