"""Sessions: endings are classified, limits hold, and honest functions still work after dishonest ones."""

from __future__ import annotations

import io
import socket
import threading
from types import SimpleNamespace
from typing import Any

import psutil
import pytest

import grader
from grader.core.errors import StudentEndedError, StudentGoneError
from grader.course.api import read_api
from grader.sandbox.jail.cold_spawner import ColdSpawner
from grader.sandbox.jail.limits import Limits
from grader.sandbox.jail.plan import JailPlan
from grader.sandbox.jail.spawner import JailError, Spawner, WorkerLostError, ZygoteSpawner
from grader.sandbox.protocol.channel import Channel, ClosedError
from grader.sandbox.protocol.encoder import encode
from grader.sandbox.session import Program, Session
from grader.sandbox.student import Student
from tests.conftest import LIMITS, StudentOf
from tests.waiting import wait_until

# Every way to end a worker, with the kind and evidence to report.
ENDINGS = {
    "exit": ("os._exit(0)", "exit", "exit status 0"),
    "exit status": ("os._exit(7)", "exit", "exit status 7"),
    "segfault": ("import ctypes; ctypes.string_at(0)", "crash", "SIGSEGV"),
    "abort": ("os.abort()", "crash", "SIG"),
    "loop": ("while True: pass", "deadline", "CPU"),
    "loop in C": ("sum(iter(int, 1))", "deadline", "CPU"),
    "sleep": ("time.sleep(1000)", "deadline", "waited"),
    "close and return": ("os.close(3)", "exit", "exit status 1"),
    "close and keep running": ("os.close(3)\n    while True: pass", "protocol", "kept running"),
    "close and wait": ("os.close(3); time.sleep(1000)", "protocol", "kept running"),
    "garbage": ("rpc().sendall(b'x' * 100)", "protocol", "not an AttnLab frame"),
    "2^60": ("rpc().sendall(struct.pack('!4sIQ', b'ATN1', 4, 2**60))", "protocol", "over the limit"),
    "deep": ("rpc().sendall(frame(b'[' * 1000))", "protocol", "not JSON"),
    "no reply": ("rpc().sendall(frame(b'null'))", "protocol", "unknown form"),
    "an id that is an array": ("rpc().sendall(frame(odd(ARRAY, 'null'), bytes(16)))", "protocol", "unknown form"),
    "printed that is not text": ("rpc().sendall(frame(odd('3', 'null', '7')))", "protocol", "unknown form"),
    "an answer that is not a list": ("rpc().sendall(frame(odd('3', '7')))", "protocol", "unknown form"),
    "an answer of arrays": (
        "rpc().sendall(frame(odd('3', '[' + ARRAY + ']'), bytes(16)))",
        "protocol",
        "unknown form",
    ),
    "an error whose kind is an array": ("rpc().sendall(frame(fail(ARRAY), bytes(16)))", "protocol", "unknown form"),
    "an error with an array for a line": (
        "rpc().sendall(frame(fail('\"raised\"', ARRAY), bytes(16)))",
        "protocol",
        "unknown form",
    ),
    "other id": ("rpc().sendall(frame(reply(999)))", "protocol", "unknown form"),
    "half a frame": ("rpc().sendall(frame(b'null')[:-1]); time.sleep(1000)", "deadline", "waited"),
}

HELPERS = """
import os, socket, struct, time, json

def rpc():
    return socket.socket(fileno=os.dup(3))

def frame(header, body=b""):
    return struct.pack("!4sIQ", b"ATN1", len(header), len(body)) + header + body

def reply(number):
    return json.dumps({"$": "dict", "v": [["id", number], ["ok", None], ["printed", ""]]}).encode()

ARRAY = '{"$":"array","dtype":"<f8","shape":[2]}'

def odd(number, answer, printed='""'):
    return ('{"$":"dict","v":[["id",%s],["ok",%s],["printed",%s]]}' % (number, answer, printed)).encode()

def fail(kind, line='1'):
    error = '{"$":"dict","v":[["kind",%s],["types",["E"]],["message",""],["file",""],["line",%s],["traceback",""]]}'
    return ('{"$":"dict","v":[["id",3],["error",%s],["printed",""]]}' % (error % (kind, line))).encode()

def ok(x):
    return x + 1

def evil():
"""


@pytest.mark.parametrize(("line", "kind", "evidence"), ENDINGS.values(), ids=ENDINGS.keys())
def test_each_ending_is_classified_and_the_honest_function_still_works(
    student_of: StudentOf, line: str, kind: str, evidence: str
) -> None:
    student = student_of(f"{HELPERS}    {line}\n")
    assert student.ok(1) == 2
    with pytest.raises(StudentEndedError) as caught:
        student.evil()
    assert caught.value.ending.kind == kind
    assert evidence in caught.value.ending.evidence
    assert student.ok(2) == 3


@pytest.mark.parametrize("body", ["while True: pass", "sum(iter(int, 1))"])
def test_a_call_that_takes_too_long_says_which_line_it_is_in(student_of: StudentOf, body: str) -> None:
    student = student_of(f"def helper():\n    {body}\n\ndef slow():\n    return helper()\n")
    with pytest.raises(StudentEndedError) as caught:
        student.slow()
    place = caught.value.ending.place
    assert place is not None
    assert (place[0], place[1]) == (next(iter(student._session.program.lines)), 2)


@pytest.mark.exhaustive
def test_a_line_that_does_not_exist_is_not_believed(student_of: StudentOf) -> None:
    lie = "b'File \"%s\", line 99999 in x\\n' % __file__.encode()"
    source = f"import os, signal\ndef slow():\n    signal.signal(signal.SIGUSR1, lambda *_: os.write(3, {lie}))\n"
    with pytest.raises(StudentEndedError) as caught:
        student_of(f"{source}    while True: pass\n").slow()
    assert caught.value.ending.place is None


def test_forged_reply_only_changes_the_return_value(student_of: StudentOf) -> None:
    forged = 'b\'{"$":"dict","v":[["id",%d],["ok",[{"$":"dict","v":[["value",41]]}]],["printed",""]]}\''
    student = student_of(f"{HELPERS}    rpc().sendall(frame({forged % 2}))\n")
    assert student.evil() == 41  # it chose its own result, which it could also have returned
    with pytest.raises(StudentEndedError):  # and its real reply now answers the wrong request
        student.ok(1)


def test_forged_arguments_after_a_call_are_refused(student_of: StudentOf) -> None:
    helpers = HELPERS.replace("def evil():", "def evil(x):")
    nothing = '{"$":"dict","v":[]}'
    result = f'{{"$":"dict","v":[["value",1],["args",[]],["kwargs",{nothing}]]}}'
    student = student_of(f"{helpers}    rpc().sendall(frame(odd('2', {'[' + result + ']'!r})))\n")
    with pytest.raises(StudentEndedError) as caught:
        student.evil.call(3)
    assert caught.value.ending.kind == "protocol"


def test_worker_runs_the_code_of_this_checkout(student_of: StudentOf) -> None:
    student = student_of("import grader\ndef where():\n    return grader.__file__\n")
    assert student.where() == grader.__file__


@pytest.mark.exhaustive
def test_worker_that_uses_little_cpu_is_stopped_in_the_end(student_of: StudentOf) -> None:
    sip = (
        "import time\ndef sip():\n    while True:\n        end = time.process_time() + 0.01\n"
        "        while time.process_time() < end: pass\n        time.sleep(0.2)\n"
    )
    with pytest.raises(StudentEndedError) as caught:
        student_of(sip, limits=Limits(cpu_s=60.0, wall_s=0.4, endings=2)).sip()
    assert caught.value.waited


def test_zygote_lost_during_a_call_is_a_worker_lost_error() -> None:
    named = "    ctypes.CDLL(None).prctl(15, b'at-work', 0, 0, 0)\n"
    source = f"import ctypes, time\ndef nap():\n{named}    time.sleep(1000)\n"
    files = {"work": {"file": "work.py", "cells": [source.encode()], "notebook": False}}
    with ZygoteSpawner(JailPlan("numpy")) as spawner:
        session = Session(spawner, Program(files, "work", ("nap",)), LIMITS)
        session.load()
        assert session.worker.live is not None
        worker = psutil.Process(session.worker.live.process.pid)

        def kill() -> None:
            wait_until("the call", lambda: worker.name() == "at-work")
            spawner._process.kill()

        killer = threading.Thread(target=kill)
        killer.start()
        with pytest.raises(WorkerLostError):
            Student(session, read_api(source)).nap()
        killer.join()


def test_workers_die_with_their_zygote() -> None:
    with ZygoteSpawner(JailPlan("numpy")) as spawner:
        worker = spawner.spawn()
        process = psutil.Process(worker.pid)
        spawner._process.kill()
        wait_for_the_end_of(process)
        worker.sock.close()


def test_zygote_that_cannot_start_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "grader.sandbox.jail.spawner.clean_environment",
        lambda **_: {"PYTHONPATH": "/nowhere", "PYTHONHOME": "/nowhere"},
    )
    with (
        pytest.raises(JailError, match="ModuleNotFoundError: No module named 'encodings'"),
    ):
        ZygoteSpawner(JailPlan("numpy"))


def test_function_uses_up_only_its_own_chances(student_of: StudentOf) -> None:
    student = student_of(f"{HELPERS}    os._exit(1)\n")
    for _ in range(LIMITS.endings):
        with pytest.raises(StudentEndedError):
            student.evil()
    with pytest.raises(StudentGoneError, match="evil has ended its process 2 times"):
        student.evil()
    assert student.ok(1) == 2


def test_waiting_is_distinguished_from_computing(student_of: StudentOf) -> None:
    student = student_of(f"{HELPERS}    time.sleep(1000)\n")
    with pytest.raises(StudentEndedError) as caught:
        student.evil()
    assert caught.value.waited
    busy = student_of(f"{HELPERS}    while True: pass\n")
    with pytest.raises(StudentEndedError) as caught:
        busy.evil()
    assert not caught.value.waited


def test_slow_honest_call_is_not_ended(student_of: StudentOf) -> None:
    student = student_of("import time\ndef nap():\n    time.sleep(0.7)\n    return 'awake'\n")
    assert student.nap() == "awake"


def test_closing_a_session_ends_its_worker_and_its_children(unjailed: Spawner) -> None:
    source = "import subprocess\nchild = subprocess.Popen(['/bin/sleep', '1000'])\ndef pid():\n    return child.pid\n"
    files = {"work": {"file": "work.py", "cells": [source.encode()], "notebook": False}}
    session = Session(unjailed, Program(files, "work", ("pid",)), LIMITS)
    session.load()
    student = Student(session, read_api(source))
    started = psutil.Process(student.pid())
    session.close()
    wait_for_the_end_of(started)
    assert session.worker.cpu_s is not None
    assert session.worker.cpu_s > 0


def _ended(process: psutil.Process) -> bool:
    """Whether a process is gone, or is a zombie that we cannot reap."""
    try:
        status: str = process.status()
    except psutil.NoSuchProcess:
        return True
    return status == "zombie"


def wait_for_the_end_of(process: psutil.Process) -> None:
    wait_until(f"the end of {process}", lambda: _ended(process))


def test_closing_the_spawner_ends_every_worker() -> None:
    spawner = ZygoteSpawner(JailPlan("numpy"))
    workers = [spawner.spawn() for _ in range(3)]
    processes = [psutil.Process(worker.pid) for worker in workers]
    spawner.close()
    for process in processes:
        wait_for_the_end_of(process)
    for worker in workers:
        worker.sock.close()


def test_lost_zygote_is_a_worker_lost_error() -> None:
    files = {"work": {"file": "work.py", "cells": [b"x = 1"], "notebook": False}}
    with ZygoteSpawner(JailPlan("numpy")) as spawner:
        spawner.spawn().sock.close()
        spawner._process.kill()
        spawner._process.wait()
        # A dying worker that was ready may still be returned. Then the loss shows when it gets its first request.
        with pytest.raises(WorkerLostError):
            Session(spawner, Program(files, "work", ("x",)), LIMITS).load()


def test_worker_has_a_clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRADEBOOK_TOKEN", "secret")
    with ZygoteSpawner(JailPlan("numpy")) as spawner:
        source = "import os\ndef look():\n    return dict(os.environ), sorted(map(int, os.listdir('/proc/self/fd')))\n"
        files = {"work": {"file": "work.py", "cells": [source.encode()], "notebook": False}}
        session = Session(spawner, Program(files, "work", ("look",)), LIMITS)
        session.load()
        environment, descriptors = Student(session, read_api(source)).look()
        session.close()
    assert "secret" not in environment.values()
    assert set(environment) <= {
        "PYTHONHASHSEED",
        "PYTHONDONTWRITEBYTECODE",
        "PYTHONPATH",
        "MALLOC_PERTURB_",
        "MIMALLOC_ARENA_RESERVE",
        "HOME",
        "PATH",
        "TMPDIR",
        "USER",
        "LANG",
        "LC_CTYPE",
        "CUDA_VISIBLE_DEVICES",
    } | {name for name in environment if name.endswith("_THREADS")}
    assert environment["CUDA_VISIBLE_DEVICES"] == ""  # even if the machine has a GPU
    assert descriptors == [0, 1, 2, 3, 4]  # standard streams, its channel, and the folder that it lists


def test_cold_spawner_behaves_like_the_zygote() -> None:
    source = "import os\nimport numpy as np\ndef f(x):\n    return np.sum(x)\ndef die():\n    os._exit(4)\n"
    files = {"work": {"file": "work.py", "cells": [source.encode()], "notebook": False}}
    with ColdSpawner("numpy") as spawner:
        session = Session(spawner, Program(files, "work", ("f",)), Limits())
        student = Student(session, read_api(source))
        session.load()
        assert student.f([1, 2]) == 3
        with pytest.raises(StudentEndedError) as caught:
            student.die()
        assert caught.value.ending.evidence == "exit status 4"
        assert student.f([4]) == 4
        session.close()


class TestChannel:
    """A peer that is slow, silent or gone cannot block the reader."""

    def test_peer_that_sends_byte_by_byte_runs_out_of_time(self) -> None:
        ours, theirs = socket.socketpair()
        stop = threading.Event()

        def drip() -> None:
            for byte in encode("x" * 10_000):
                if stop.wait(0.01):  # a slow peer: what it sends at once would be a message
                    return
                theirs.send(bytes([byte]))

        thread = threading.Thread(target=drip)
        thread.start()
        asked: list[int] = []

        def patience() -> None:
            asked.append(1)
            if len(asked) > 2:
                raise TimeoutError("enough")

        with pytest.raises(TimeoutError, match="enough"):
            Channel(ours, tensors=False).receive(patience)
        stop.set()
        thread.join()
        ours.close()
        theirs.close()

    def test_peer_that_never_reads_runs_out_of_time(self) -> None:
        ours, theirs = socket.socketpair()
        with ours, theirs, pytest.raises(TimeoutError, match="enough"):
            Channel(ours, tensors=False).send({"big": b"x" * 10_000_000}, patience=_impatient)

    def test_closed_peer_raises_closed_error(self) -> None:
        ours, theirs = socket.socketpair()
        theirs.close()
        with ours, pytest.raises(ClosedError):
            Channel(ours, tensors=False).receive()

    def test_messages_arrive_complete(self) -> None:
        ours, theirs = socket.socketpair()
        with ours, theirs:
            message: dict[str, Any] = {"a": [1, (2.5, None)]}
            Channel(ours, tensors=False).send(message)
            assert Channel(theirs, tensors=False).receive() == message


def _impatient() -> None:
    raise TimeoutError("enough")


def test_torch_cannot_be_imported_in_a_numpy_module(student_of: StudentOf) -> None:
    honest = "try:\n    import torch\nexcept ImportError:\n    torch = None\ndef f():\n    return torch is None\n"
    assert student_of(honest).f() is True


def test_the_last_error_of_a_zygote_says_why_it_could_not_start() -> None:
    """Python prints the first one of a chain first, and lines that explain nothing."""
    said = "KeyError: 'a cause'\n\nDuring handling:\nOSError: [Errno 1] mount: not permitted\n\n"
    spawner: Any = object.__new__(ZygoteSpawner)
    spawner._process = SimpleNamespace(wait=lambda _: 1, stderr=io.BytesIO(said.encode()))
    assert spawner._last_words() == "OSError: [Errno 1] mount: not permitted"
