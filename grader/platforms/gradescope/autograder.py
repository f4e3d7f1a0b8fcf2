"""The autograder on Gradescope: reads one submission and always writes results.json.

`run_autograder` starts it as `python -m grader.platforms.gradescope.autograder ROOT`, where ROOT is laid out like
`/autograder`. This process uses little memory. It grades in a child process, so that it can still write results if that
process dies.
"""

from __future__ import annotations

import json
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grader.core.json_record import from_json, to_json
from grader.platforms.container.files import COURSE
from grader.platforms.container.job import Failure, Job, run_job
from grader.platforms.gradescope.results import GradescopeOptions, failed, results_of, write_results

SETTINGS = "autograder.json"


@dataclass(frozen=True)
class Settings:
    """The settings that were chosen when the zip was made."""

    module: str
    minutes: float
    options: GradescopeOptions

    def as_json(self) -> dict[str, Any]:
        """Return the settings as JSON data, in one flat object."""
        data = to_json(self)
        options = data.pop("options")
        return {**data, **options}


def read_settings(path: Path) -> Settings:
    """Return the settings that `as_json` wrote."""
    data = json.loads(path.read_text(encoding="utf-8"))
    return from_json(Settings, {**data, "options": data})


def main(root: Path) -> int:
    """Grade the submission in ROOT/submission; return 0 if it has a score, and 3 if not."""
    started = time.monotonic()
    source = root / "source"
    settings = read_settings(source / SETTINGS)
    outcome = run_job(Job(source / COURSE, root / "submission", settings.module, settings.minutes))
    if isinstance(outcome, Failure):
        data = failed(outcome.message, outcome.status)
    else:
        data = results_of(outcome, settings.options, seconds=time.monotonic() - started)
    write_results(root / "results" / "results.json", data)
    return 0 if "score" in data else 3


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve()))
