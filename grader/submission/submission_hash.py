"""The hash of a submission: two with the same hash get the same report."""

from __future__ import annotations

import hashlib
import json

from grader.submission.submission import Submission


def submission_hash(submission: Submission) -> str:
    """Return the hash of everything in a submission: its own module and the student's other modules."""
    sources = {
        slug: [source.file, source.notebook, *source.cells] for slug, source in sorted(submission.sources.items())
    }
    data = [submission.student, submission.module, submission.file, submission.problem, sources]
    return hashlib.sha256(json.dumps(data).encode()).hexdigest()
