"""The rehearsal of a zygote: every request of it is answered, and no worker can see that there was one."""

from __future__ import annotations

import subprocess
import sys

import pytest

from grader.course.module import Backend
from tests.conftest import StudentOf

LOOK = """
import gc, linecache, sys, threading

def look():
    finders = [one for one in sys.meta_path if type(one).__name__ in ("StudentModules", "MeteredModules")]
    return {
        "modules": sorted(name for name in sys.modules if name.split(".")[0] == "mylab"),
        "lines": [name for name in linecache.cache if "rehearsal" in name],
        "finders": len(finders),
        "deepest": sys.getrecursionlimit(),
        "threads": threading.active_count(),
        "metered": list(sys.modules["grader.sandbox.worker.meters.measure"].MeteredModules.meter.files),
        "compiled": list(sys.modules["grader.sandbox.worker.meters.measure"].MeteredModules.compiled),
    }
"""
# In a process of its own: it changes what a process has loaded.
ANSWERS = """
import sys
from grader.sandbox.worker import worker
from grader.sandbox.worker.warm_up import warm_up

class Noting(worker.Worker):
    def answer(self, request):
        reply = super().answer(request)
        errors = [one["error"] for one in reply.get("ok") or () if type(one) is dict and "error" in one]
        problem = reply.get("error") or (errors[0] if errors else None)
        wanted = request["ref"][1] in (["fails"], ["missing"]) if "ref" in request else False
        assert (problem is not None) == wanted, (request, reply)
        seen.add(request["op"])
        return reply

seen = set()
worker.Worker = Noting
warm_up(sys.argv[1])
from grader.sandbox.worker.rehearsal import rehearse

rehearse(tensors=sys.argv[1] == "torch", meters=True)
print(*sorted(seen))
"""
NUMPY = "call get load measure probe"


@pytest.mark.parametrize("backend", ["numpy", "torch"])
def test_nothing_is_left_of_a_rehearsal(student_of: StudentOf, backend: Backend) -> None:
    assert student_of(LOOK, backend).look() == {
        "modules": ["mylab.work"],
        "lines": [],
        "finders": 1,
        "deepest": sys.getrecursionlimit(),
        "threads": 1,
        "metered": [],
        "compiled": [],
    }


@pytest.mark.parametrize(
    ("backend", "operations"), [("numpy", NUMPY), ("torch", "call get load make measure probe vjp")]
)
def test_every_request_of_a_rehearsal_is_answered(backend: str, operations: str) -> None:
    done = subprocess.run([sys.executable, "-c", ANSWERS, backend], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == operations.split()
