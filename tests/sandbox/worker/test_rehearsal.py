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

tensors = sys.argv[1] == "torch"
rehearse(tensors=tensors, gradients=tensors and "no gradients" not in sys.argv, meters=True)
print(*sorted(seen))
"""
# As torch does with CUDA: its first backward pass starts a thread that never ends.
WITH_A_THREAD = """
import sys, threading, torch
from grader.sandbox.jail.zygote import gradients_start_threads, threads

original = torch.autograd.grad

def grad(*args, **kwargs):
    if "thread" in sys.argv:
        threading.Thread(target=threading.Event().wait, daemon=True).start()
    return original(*args, **kwargs)

torch.autograd.grad = grad
print(gradients_start_threads(), threads())
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
    ("words", "operations"),
    [
        (["numpy"], NUMPY),
        (["torch"], "call get load make measure probe vjp"),
        (["torch", "no gradients"], "call get load make measure probe"),
    ],
)
def test_every_request_of_a_rehearsal_is_answered(words: list[str], operations: str) -> None:
    assert _printed(ANSWERS, *words) == operations.split()


@pytest.mark.exhaustive
@pytest.mark.parametrize(("words", "found"), [(["thread"], "True"), ([], "False")])
def test_a_thread_of_a_backward_pass_is_found_before_the_zygote_has_it(words: list[str], found: str) -> None:
    """With a second thread, a zygote could not fork: on a machine with a GPU, nothing would be graded."""
    assert _printed(WITH_A_THREAD, *words) == [found, "1"]


def _printed(program: str, *words: str) -> list[str]:
    done = subprocess.run([sys.executable, "-c", program, *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()
