"""The autograder in PrairieLearn's container: reads one submission and always leaves results.json.

`run.sh` starts it as `python -m grader.platforms.prairielearn.autograder ROOT`, where ROOT is laid out like `/grade`.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path

from grader.core.json_record import from_json
from grader.platforms.container.files import COURSE
from grader.platforms.container.job import Failure, Job, run_job
from grader.platforms.prairielearn.results import HiddenChecks, failed, results_of, write_results

SETTINGS = "autograder.json"


@dataclass(frozen=True)
class Settings:
    """The settings that were chosen when the question was made."""

    module: str
    minutes: float
    hidden: HiddenChecks


def main(root: Path) -> int:
    """Grade the submission in ROOT/student; return 0 if it has a score, and 3 if not."""
    tests = root / "tests"
    settings = from_json(Settings, json.loads((tests / SETTINGS).read_text(encoding="utf-8")))
    outcome = run_job(Job(tests / COURSE, root / "student", settings.module, settings.minutes))
    data = failed(outcome) if isinstance(outcome, Failure) else results_of(outcome, settings.hidden)
    write_results(root / "results" / "results.json", data)
    return 0 if data["gradable"] else 3


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve()))
