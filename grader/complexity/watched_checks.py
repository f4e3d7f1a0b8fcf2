"""What the checks' calls call: they are made again with meters, and the names of what they call come back."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import groupby

from grader.complexity.known_names import known_name
from grader.core.errors import StudentError
from grader.sandbox.session import RecordedRequest, Session

CALL = "the calls of the checks"
MOST_NAMES = 100


def calls_in_checks(session: Session, recorded: Sequence[RecordedRequest]) -> Mapping[str, set[str]]:
    """Return the names of the library calls that each function or class made when the checks called it.

    A function that ends its process here did not do so in the checks: it earns nothing more, so what was seen counts.
    """
    found: defaultdict[str, set[str]] = defaultdict(set)
    for _, requests in groupby(recorded, lambda one: one.generation):
        of_one_worker = list(requests)
        message = {"op": "watch", "main": session.program.main, "requests": [one.message for one in of_one_worker]}
        try:
            answer = session.request(message, CALL, CALL)
        except StudentError:
            continue
        if type(answer) is not list or len(answer) != len(of_one_worker):
            raise session.malformed(CALL, CALL)
        for one, names in zip(of_one_worker, answer, strict=True):
            if type(names) is not list or len(names) > MOST_NAMES or not all(type(name) is str for name in names):
                raise session.malformed(CALL, CALL)
            found[one.owner] |= {known_name(name) for name in names}
    return found
