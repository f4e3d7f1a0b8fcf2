"""The jail from outside: how workers end, what they leave, the tiers of a machine, and crashes during grading."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import psutil
import pytest

from grader.core.errors import StudentEndedError, StudentGoneError, StudentRaisedError
from grader.core.machine import Tier
from grader.core.report import Report
from grader.course.api import read_api
from grader.course.course import Course
from grader.course.module import CourseError
from grader.grading.grade import grade
from grader.grading.workers import NoJailError
from grader.sandbox.jail import seccomp
from grader.sandbox.jail.limits import Limits
from grader.sandbox.jail.plan import JailPlan
from grader.sandbox.jail.spawner import Exit, JailError, Process, WorkerLostError, ZygoteSpawner
from grader.sandbox.jail.tiers import TierAttempt, advice, open_spawner, planned, survey, without
from grader.sandbox.jail.zygote import CHANNEL
from grader.sandbox.session import Program, Session
from grader.sandbox.student import Student
from grader.submission.submission import Source, Submission
from tests.acceptance.attacks.surroundings import command, without_landlock, without_namespaces
from tests.conftest import LIMITS, ROOT, needs_tier, write
from tests.sandbox.jail.jails import zygote_of
from tests.waiting import wait_until

TIERS: tuple[Tier, ...] = ("strict", "contained")


@pytest.fixture(scope="module", params=[(tier, copied) for tier in TIERS for copied in (False, True)])
def jailed(request: pytest.FixtureRequest) -> Iterator[ZygoteSpawner]:
    """A zygote of each tier, and a copy of one."""
    tier, copied = request.param
    with zygote_of(tier) as zygote, zygote.copy() if copied else contextlib.nullcontext(zygote) as spawner:
        yield spawner


def session_of(spawner: ZygoteSpawner, source: str, limits: Limits = LIMITS) -> tuple[Session, Student]:
    files = {"work": {"file": "work.py", "cells": [source.encode()], "notebook": False}}
    api = read_api(source)
    session = Session(spawner, Program(files, "work", api.names), limits)
    assert session.load().errors == ()
    return session, Student(session, api)


def _below(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/task/{pid}/children").read_text().split()


def test_a_jail_that_is_closed_while_it_starts_leaves_no_process() -> None:
    needs_tier("strict")
    begun: list[psutil.Process] = []
    for _ in range(20):
        before = set(psutil.Process().children())
        spawner = ZygoteSpawner(planned("numpy", "strict"), wait=False)
        (outer,) = set(psutil.Process().children()) - before
        pids = wait_until("bubblewrap's second process", partial(_below, outer.pid), pause=0)
        spawner.close()  # at once: bubblewrap's two processes are not bound to each other yet
        with contextlib.suppress(psutil.NoSuchProcess):
            begun.append(psutil.Process(int(pids[0])))
    _, alive = psutil.wait_procs(begun, timeout=20)
    assert alive == []


def test_a_worker_keeps_no_open_file_but_its_channel(jailed: ZygoteSpawner) -> None:
    session, student = session_of(jailed, OPEN_FILES)
    assert student.f() == [CHANNEL]
    session.close()


def test_the_kernel_forgets_an_earlier_peak_of_a_workers_memory(jailed: ZygoteSpawner) -> None:
    session, student = session_of(jailed, "def f(size):\n    return len(bytearray(size))")
    try:
        student.f(64 << 20)
        assert session.worker.live is not None
        process = session.worker.live.process
        assert process.forget_peak()
        before = process.usage()
        student.f(16 << 20)
        after = process.usage()
        assert before is not None
        assert after is not None
        assert 12 << 20 < after[1] - before[1] < 24 << 20
    finally:
        session.close()


OPEN_FILES = """
import os

def is_open(number):
    try:
        os.fstat(number)
    except OSError:
        return False
    return True

def f():
    return [number for number in range(3, 1024) if is_open(number)]
"""
ENDINGS = {
    "killing oneself": ("os.kill(os.getpid(), 9)", "syscall", "SIGSYS"),
    "killing the parent": ("os.kill(os.getppid() or 2, 9)", "syscall", "SIGSYS"),
    "tracing": ("ctypes.CDLL(None).ptrace(16, 1, 0, 0)", "syscall", "SIGSYS"),
    "a namespace": ("ctypes.CDLL(None).unshare(0x10000000)", "syscall", "SIGSYS"),
    "a null pointer": ("ctypes.string_at(0)", "crash", "SIGSEGV"),
    "leaving": ("os._exit(3)", "exit", "exit status 3"),
    "leaving as if out of memory": ("os._exit(12)", "memory", "exit status 12"),
    "for ever": ("while True: pass", "deadline", "CPU time"),
    "waiting": ("time.sleep(1000)", "deadline", "waited"),
}


@pytest.mark.parametrize(("line", "kind", "evidence"), ENDINGS.values(), ids=ENDINGS.keys())
def test_ending_of_a_worker_is_classified_by_the_kernel(
    jailed: ZygoteSpawner, line: str, kind: str, evidence: str
) -> None:
    session, student = session_of(jailed, f"import ctypes, os, time\ndef evil():\n    {line}\n")
    with pytest.raises(StudentEndedError) as caught:
        student.evil()
    session.close()
    assert caught.value.ending.kind == kind
    assert evidence in caught.value.ending.evidence


@pytest.mark.parametrize("line", ["np.ones(3 << 27)", "b'x' * (3 << 30)"])
def test_out_of_memory_is_an_ending_even_if_the_process_lives(jailed: ZygoteSpawner, line: str) -> None:
    session, student = session_of(jailed, f"import numpy as np\ndef evil():\n    {line}\ndef ok():\n    return 1\n")
    with pytest.raises(StudentRaisedError) as caught:
        student.evil()
    assert student.ok() == 1
    session.close()
    assert caught.value.ending is not None
    assert caught.value.ending.kind == "memory"
    assert caught.value.public == "your code asked for more memory than allowed"


def test_worker_killed_from_outside_is_a_worker_lost_error(jailed: ZygoteSpawner) -> None:
    session, student = session_of(jailed, "import time\ndef nap():\n    time.sleep(1000)\n")
    assert session.worker.live is not None
    psutil.Process(session.worker.live.process.pid).kill()
    with pytest.raises(WorkerLostError, match="killed by another process"):
        student.nap()


HONEST = {
    "threads": "import threading\ndef f():\n    t = threading.Thread(target=print); t.start(); t.join(); return 1\n",
    "more modules": "import fractions, json, zoneinfo, unittest, email, xml.dom.minidom\ndef f():\n    return 1\n",
    "recursion": "def f(n=900):\n    return 1 if n == 0 else f(n - 1)\n",
    "linear algebra": "import numpy as np\ndef f():\n    return int(np.linalg.det(np.eye(200)).round())\n",
    "half a gigabyte": "import numpy as np\ndef f():\n    return int(np.ones(1 << 26)[5])\n",
    "who am I": "import getpass, os\ndef f():\n    return len([getpass.getuser(), os.getcwd(), os.uname()]) // 3\n",
    "a signal of one's own": (
        "import signal\nheard = []\nsignal.signal(signal.SIGUSR1, lambda *_: heard.append(1))\n"
        "def f():\n    signal.raise_signal(signal.SIGUSR1)\n    return sum(heard)\n"
    ),
    "the clock": "import time\ndef f():\n    time.sleep(0.01); return int(time.gmtime().tm_year > 2000)\n",
    "printing": "import sys\ndef f():\n    print('hello', flush=True); sys.stderr.write('x'); return 1\n",
    "asyncio": (
        "import asyncio\nasync def g():\n    await asyncio.sleep(0)\n    return 1\n"
        "def f():\n    return asyncio.run(g())\n"
    ),
    "nowhere to print to": "import os\ndef f():\n    return open(os.devnull, 'w').write('x')\n",
    "a subprocess it can do without": (
        "import subprocess\ndef f():\n    try:\n        subprocess.run(['ls'])\n    except OSError:\n        return 1\n"
    ),
}


@pytest.mark.parametrize("source", HONEST.values(), ids=HONEST.keys())
def test_honest_code_works_in_the_jail(jailed: ZygoteSpawner, source: str) -> None:
    if "threading" in source and not jailed.plan.may_thread:
        pytest.skip("root's threads cannot be limited, so they are not allowed")
    session, student = session_of(jailed, source, Limits())
    assert student.f() == 1
    session.close()


def test_strict_worker_has_its_own_folder() -> None:
    needs_tier("strict")
    source = (
        "import os, tempfile\ndef leave():\n    open('mine', 'w').write('x' * 1000)\n"
        "    with tempfile.TemporaryFile() as file:\n        file.write(b'x')\n    return os.listdir('.')\n"
    )
    with ZygoteSpawner(planned("numpy", "strict")) as spawner:
        for _ in range(2):  # the second worker finds no file of the first
            session, student = session_of(spawner, source)
            assert student.leave() == ["mine"]
            session.close()


def test_file_opened_for_reading_is_not_truncated() -> None:
    """Landlock refuses this only since Linux 6.2. A worker may write in its own folder, so the filter must refuse."""
    needs_tier("strict")
    source = (
        "import os\ndef empty():\n    open('mine', 'w').write('x')\n"
        "    for mode in (os.O_RDONLY, os.O_ACCMODE):\n        try:\n            os.open('mine', mode | os.O_TRUNC)\n"
        "        except PermissionError:\n            pass\n    return open('mine').read()\n"
    )
    with ZygoteSpawner(planned("numpy", "strict")) as spawner:
        session, student = session_of(spawner, source)
        assert student.empty() == "x"
        session.close()


def test_jail_that_fails_later_is_a_worker_lost_error(jailed: ZygoteSpawner, monkeypatch: pytest.MonkeyPatch) -> None:
    """The trial went well, but then a worker cannot enter its jail: it never sends the first byte."""
    ours, theirs = socket.socketpair()
    theirs.close()
    dead = Process(2**22 + 1, ours, lambda: None, lambda _: Exit(1, 0.0), lambda: None)
    monkeypatch.setattr(jailed, "spawn", lambda: dead)
    files = {"work": {"file": "work.py", "cells": [b"x = 1"], "notebook": False}}
    with pytest.raises(WorkerLostError, match="before it received the submission"):
        Session(jailed, Program(files, "work", ("x",)), LIMITS).load()


def test_zygote_that_restarts_late_costs_only_one_submission(course: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    """The zygote is lost, cannot restart for one submission, and can for the next."""
    real = ZygoteSpawner.again
    failed: list[int] = []

    def again(self: ZygoteSpawner) -> ZygoteSpawner:
        if not failed:
            failed.append(1)
            raise JailError("not now")
        return real(self)

    monkeypatch.setattr(ZygoteSpawner, "again", again)
    others = set(psutil.Process().children(recursive=True))  # the zygotes that all tests share must survive

    def class_of() -> Iterator[Submission]:
        yield submission(course, "ana")
        for process in set(psutil.Process().children(recursive=True)) - others:
            with contextlib.suppress(psutil.Error):
                process.kill() if "grader.sandbox.jail.zygote" in process.cmdline() else None
        yield submission(course, "eve")
        yield submission(course, "zoe")

    reports: list[Report] = []
    grade(course, course.modules[0], class_of(), reports.append, LIMITS)
    assert [report.status for report in reports] == ["graded", "not_graded", "graded"]


def test_standard_streams_are_not_shared_between_workers(jailed: ZygoteSpawner) -> None:
    source = (
        "import fcntl, os\nbefore = fcntl.fcntl(0, fcntl.F_GETFL)\nfcntl.fcntl(0, fcntl.F_SETFL, os.O_APPEND)\n"
        "def flags():\n    return before & os.O_APPEND\n"
    )
    for _ in range(2):
        session, student = session_of(jailed, source)
        assert student.flags() == 0
        session.close()


def test_total_time_of_a_submission_is_limited(jailed: ZygoteSpawner) -> None:
    files = {"work": {"file": "work.py", "cells": [b"def f():\n    return 1\n"], "notebook": False}}
    session = Session(jailed, Program(files, "work", ("f",)), replace(LIMITS, session_s=0.0))
    session.load()
    with pytest.raises(StudentGoneError, match="more than 0 s in total"):
        Student(session, read_api("def f(): ...\n")).f()
    session.close()


def test_worker_of_a_numpy_module_cannot_read_torch(jailed: ZygoteSpawner) -> None:
    source = (
        "import sys, importlib.util\nimport numpy as np\ndef load():\n    sys.meta_path[:] = sys.meta_path[1:]\n"
        "    import pathlib; folder = pathlib.Path(np.__file__).parent.parent / 'torch'\n"
        "    return (folder / '__init__.py').read_text()[:10]\n"
    )
    session, student = session_of(jailed, source)
    with pytest.raises(StudentRaisedError, match="PermissionError"):
        student.load()
    session.close()


@pytest.mark.exhaustive
def test_a_thousand_sessions_leak_nothing(jailed: ZygoteSpawner) -> None:
    session, student = session_of(jailed, "def f():\n    return 1\n")

    def again(times: int) -> dict[str, int]:
        for _ in range(times):
            session.close()
            assert student.f() == 1
        assert session.worker.live is not None
        zygote = psutil.Process(psutil.Process(session.worker.live.process.pid).ppid())
        return {
            "descriptors": zygote.num_fds(),
            "children": len(zygote.children(recursive=True)),
            "memory": zygote.memory_info().rss,
            "ours": psutil.Process().num_fds(),
        }

    before, after = again(20), again(1000)
    session.close()
    # The next worker may be on its way: it takes two descriptors while it is passed on.
    assert after["descriptors"] <= before["descriptors"] + 2
    assert after["ours"] <= before["ours"] + 1
    assert after["children"] <= before["children"] + 1
    assert after["memory"] <= before["memory"] + (1 << 20)


class TestTiers:
    """The tier of a machine is found by trying it."""

    def run(self, *words: str) -> list[str]:
        code = "from grader.sandbox.jail.tiers import survey\n"
        code += "for one in survey('numpy'): print(one.plan.tier, one.problem)"
        done = subprocess.run(
            [*words, sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
        )
        return done.stdout.splitlines()

    def test_container_without_namespaces_gives_the_contained_tier(self) -> None:
        needs_tier("contained")
        found = [line.partition(" ") for line in self.run(*without_namespaces())]
        assert next(tier for tier, _, problem in found if not problem) == "contained"
        assert "amespace" in found[0][2]

    def test_missing_bubblewrap_gives_the_contained_tier(self, monkeypatch: pytest.MonkeyPatch) -> None:
        needs_tier("contained")
        monkeypatch.setattr("shutil.which", lambda _: None)
        with open_spawner("numpy") as spawner:
            assert spawner.tier == "contained"
        assert "bubblewrap" in advice(survey("numpy"))[0]

    def test_bubblewrap_that_binds_nothing_is_not_strict(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """The program runs its command but makes no view, so nothing can be mounted at /box."""
        needs_tier("contained")
        fake = tmp_path / "bwrap"
        fake.write_text('#!/bin/sh\nwhile [ "$1" != "--chdir" ]; do shift; done\nshift 2\nexec "$@"\n')
        fake.chmod(0o755)
        monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
        with open_spawner("numpy") as spawner:
            assert spawner.tier == "contained"
        assert survey("numpy")[0].problem

    def test_bubblewrap_that_cannot_run_is_not_strict(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        fake = tmp_path / "bwrap"
        fake.write_bytes(b"\0not a program")
        fake.chmod(0o755)
        monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
        assert survey("numpy")[0].problem

    def test_missing_landlock_gives_no_jail(self) -> None:
        found = [line.partition(" ") for line in self.run(*without_landlock())]
        assert [tier for tier, _, problem in found if not problem] == ["none"]
        assert "Landlock" in advice((TierAttempt(planned("numpy", "strict"), found[0][2]),))[0]

    def test_ordinary_user_gets_the_strict_tier(self) -> None:
        needs_tier("strict")
        if os.geteuid() != 0:
            pytest.skip("the tests already run as an ordinary user")
        assert self.run(*command("user"))[0] == "strict "

    @pytest.mark.parametrize(
        ("problem", "word"),
        [
            ("bwrap: No permissions to create new namespace", "user.max_user_namespaces"),
            ("user 64297 cannot read the module 'this' of the Python in /root", "install it for all users"),
            ("[Errno 38] syscall: Function not implemented", "Landlock"),
            ("[Errno 1] mount: Operation not permitted", "AppArmor"),
        ],
    )
    def test_every_problem_has_advice(self, problem: str, word: str) -> None:
        assert word in "".join(advice((TierAttempt(planned("numpy", "strict"), problem),)))


def test_system_call_numbers_agree_with_libseccomp() -> None:
    libseccomp = pytest.importorskip("pyseccomp", exc_type=ImportError)
    for machine in ("x86_64", "aarch64"):
        architecture = getattr(libseccomp.Arch, machine.upper())
        for name, number in seccomp.numbers(machine).items():
            assert libseccomp.resolve_syscall(architecture, name) == number, (machine, name)


class TestNoJail:
    """Other people's code is not run without a jail, unless the option allows it."""

    @pytest.fixture(autouse=True)
    def _no_jail(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("grader.grading.workers.open_spawner", lambda backend: ZygoteSpawner(JailPlan(backend)))

    def test_grading_is_refused(self, course: Course) -> None:
        with pytest.raises(NoJailError):
            grade(course, course.modules[0], [submission(course, "ana")], print, LIMITS)

    def test_grading_is_allowed_if_asked_for(self, course: Course) -> None:
        reports: list[Report] = []
        grade(course, course.modules[0], [submission(course, "ana")], reports.append, LIMITS, allow_unjailed=True)
        assert (reports[0].score, reports[0].sandbox) == (46.0, "none")


def test_course_inside_the_libraries_is_refused(course: Course) -> None:
    library = Path(np.__file__).parent
    with pytest.raises(CourseError, match="is inside a folder of libraries"):
        grade(Course(library, course.modules), course.modules[0], [], print)


def submission(course: Course, student: str, extra: str = "") -> Submission:
    source = course.solution(course.modules[0]).read_text() + extra
    return Submission(student, "01_softmax", "softmax.py", {"softmax": Source("softmax.py", (source,), False)})


# A check is trusted, so it can do what a submission cannot: it kills a process, once or every time it grades eve.
KILLS = """

import os, pathlib, psutil


@worth(1, "kills")
def test_kills(student):
    student.softmax(np.zeros(3))
    worker = psutil.Process(student._session.worker.live.process.pid)
    mark = pathlib.Path({mark!r})
    eve = b"eve = 1" in student._session.program.files["softmax"]["cells"][0]
    if eve and ({always} or not mark.exists()):
        mark.touch()
        psutil.Process(worker.pid if {child} else worker.ppid()).kill()
        psutil.wait_procs([worker], timeout=5)  # the death of a zygote reaches its children a moment later
    student.softmax(np.zeros(3))
"""


@pytest.mark.exhaustive
@pytest.mark.parametrize("child", [True, False], ids=["a child", "the zygote"])
@pytest.mark.parametrize("always", [True, False], ids=["every time", "once"])
def test_kill_during_grading_costs_no_other_student_a_grade(
    course_copy: Course, tmp_path: Path, *, child: bool, always: bool
) -> None:
    suite = course_copy.hidden_suite(course_copy.modules[0])
    kills = KILLS.format(mark=str(tmp_path / "mark"), always=always, child=child)
    checks = suite.read_text()
    assert checks.count("@worth(1,") >= 2
    suite.write_text(checks.replace("@worth(1,", "@worth(0.5,", 2) + kills)  # the module's total points stay the same
    class_of = [submission(course_copy, name, "\neve = 1\n" if name == "eve" else "") for name in ("ana", "eve", "zoe")]
    reports: list[Report] = []
    started = set(psutil.Process().children(recursive=True))
    grade(course_copy, course_copy.modules[0], class_of, reports.append, LIMITS)
    by_name = {report.submission: report for report in reports}
    assert by_name["ana"].score == by_name["zoe"].score == by_name["ana"].max_score
    eve = by_name["eve"]
    assert (eve.status, eve.score) == (("not_graded", None) if always else ("graded", eve.max_score))
    assert set(psutil.Process().children(recursive=True)) <= started


def _at_work(family: list[psutil.Process]) -> bool:
    """Whether a process has started the submission, which changes the process name."""
    for process in family:
        with contextlib.suppress(psutil.Error):
            if process.name() == "at-work":
                return True
    return False


@pytest.mark.parametrize("count", [1, 4], ids=["one process", "forked processes"])
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT], ids=["killed", "interrupted"])
def test_no_process_outlives_the_grader(tmp_path: Path, count: int, how: signal.Signals) -> None:
    text = "import ctypes, time\nctypes.CDLL(None).prctl(15, b'at-work', 0, 0, 0)\ntime.sleep(1000)\n"
    write(tmp_path, {f"s{number}/softmax.py": text for number in range(count)})
    grader = subprocess.Popen(
        [Path(sys.executable).with_name("attn"), "grade", str(tmp_path), "-j", "2", "--to", str(tmp_path / "out")],
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    family: list[psutil.Process] = []

    def started() -> bool:
        family[:] = psutil.Process(grader.pid).children(recursive=True)
        return _at_work(family)

    wait_until("a submission at work", started, by=grader)
    grader.send_signal(how)
    grader.wait()
    gone, alive = psutil.wait_procs(family, timeout=30)
    assert alive == []
    assert len(gone) == len(family)


def test_doctor_reports_the_tier() -> None:
    done = doctor("--json")
    found = json.loads(done.stdout)
    assert found["tier"] in ("strict", "contained", "none")
    assert done.returncode == (found["tier"] == "none")
    assert next(one["tier"] for one in found["tried"] if not one["problem"]) == found["tier"]


@pytest.mark.exhaustive
def test_doctor_says_the_tier() -> None:
    tier = json.loads(doctor("--json").stdout)["tier"]
    assert f"in the tier: {tier}" in doctor().stdout


def doctor(*options: str) -> subprocess.CompletedProcess[str]:
    attn = Path(sys.executable).with_name("attn")
    return subprocess.run([attn, "doctor", *options], cwd=ROOT, capture_output=True, text=True, check=False)


def test_without_removes_exactly_one_layer() -> None:
    plan = planned("numpy", "strict")
    assert set(plan.layers) - set(without(plan, "seccomp").layers) == {"seccomp"}
