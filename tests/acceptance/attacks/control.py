"""The control: a typical autograder without a jail. It forks, calls and compares in the common way.

Half of the attacks must succeed here. Otherwise their failure in the jail would prove nothing.
"""

from __future__ import annotations

import json
import os
import pickle
import resource
import select
import subprocess
import sys
import time
from dataclasses import asdict
from typing import Any

import numpy as np
import psutil

from tests.acceptance.attacks.attack import Attack
from tests.acceptance.attacks.world import World

SECONDS = 2.5  # an honest submission takes a tenth of this, including the start of Python
CHANNEL = 3
X = np.arange(1.0, 6.0)


def naive_pass(result: Any, expected: Any) -> bool:
    """Compare in the common, unsafe way."""
    if not isinstance(result, np.ndarray) and bool(np.all(result == expected)):
        return True
    error = abs(result - expected)
    return not np.any(error > 1e-6)


def worker(source: str) -> None:
    """Run a submission in a fork of the grader, as most graders do that isolate at all."""
    expected = X * 2
    scope: dict[str, Any] = {"__name__": "submission"}
    exec(compile(source, "submission.py", "exec"), scope)
    result = scope["evil"](X.copy())
    try:
        passed = naive_pass(result, expected)
    except Exception:  # noqa: BLE001
        passed = False
    try:
        message = pickle.dumps((passed, result))
    except Exception:  # noqa: BLE001
        message = pickle.dumps((passed, repr(result)))
    while message:
        message = message[os.write(CHANNEL, message) :]


def naive_grade(source: str) -> None:
    """Grade one submission and print the result."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.dup2(writer, CHANNEL)
        try:
            worker(source)
        except SystemExit:
            os._exit(0)
        except BaseException as error:  # noqa: BLE001
            os.write(2, f"{type(error).__name__}: {error}".encode()[: 64 << 20])
            os._exit(1)
        os._exit(0)
    os.close(writer)
    data = bytearray()
    while select.select([reader], [], [], None)[0] and (chunk := os.read(reader, 1 << 20)):
        data += chunk
    _, status = os.waitpid(pid, 0)
    if not data:
        passed, result = status == 0, None  # no error and a clean exit
    elif data.startswith(b"PASSED"):
        passed, result = True, None
    else:
        passed, result = pickle.loads(data)
    text = bytes(result).decode("latin-1") if isinstance(result, bytes) else repr(result)
    print("\n" + json.dumps({"passed": bool(passed), "text": text[: 4 << 20]}), flush=True)


def run(attack: Attack, world: World) -> set[str]:
    """Run one attack against the naive grader and return what it reached."""
    sibling = subprocess.Popen(
        [sys.executable, "-c", "import sys; [print(41 + 1, flush=True) for _ in sys.stdin]"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    environment = os.environ | {"ATTNLAB_CONTROL": world.nonce, "ATTNLAB_TEST_TOKEN": world.tokens["environment"]}
    grader = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "tests.acceptance.attacks.control",
            str(sibling.pid),
            json.dumps(world.tokens),
            world.nonce,
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        pass_fds=[world.gradebook],
        env=environment,
        start_new_session=True,
    )
    facts = world.facts(grader_pid=grader.pid, zygote=grader.pid, sibling=sibling.pid)
    found: set[str] = set()
    try:
        out, err = grader.communicate(json.dumps([asdict(attack), facts]).encode(), timeout=SECONDS)
    except subprocess.TimeoutExpired:
        found.add("held the grader")
        _kill_survivors(world.nonce)  # now, because survivors hold the pipes open that communicate() reads to the end
        out, err = grader.communicate()
    if grader.returncode != 0 and not found:
        found.add("the grader")
    last = out.decode("latin-1").strip().rpartition("\n")[2]
    answer: dict[str, Any] = json.loads(last) if grader.returncode == 0 else {"passed": False, "text": ""}
    if answer["passed"]:
        found.add("wrong pass")
    found |= world.breaches(answer["text"] + (out[: -len(last)] + err).decode("latin-1"))
    if not _answers(sibling):
        found.add("the sibling")
    if _kill_survivors(world.nonce):
        found.add("survivors")
    sibling.kill()
    sibling.communicate()
    world.restore()
    return found


def _answers(sibling: subprocess.Popen[bytes]) -> bool:
    assert sibling.stdin is not None
    assert sibling.stdout is not None
    try:
        sibling.stdin.write(b"x\n")
        sibling.stdin.flush()
    except OSError:
        return False
    return bool(select.select([sibling.stdout], [], [], SECONDS)[0]) and sibling.stdout.readline() == b"42\n"


def _kill_survivors(nonce: str) -> int:
    time.sleep(0.05)  # what ends by itself has ended by then: not ending is what is looked for, and has no sign
    count = 0
    for process in psutil.process_iter():
        try:
            if process.environ().get("ATTNLAB_CONTROL") == nonce and process.status() != psutil.STATUS_ZOMBIE:
                process.kill()
                count += 1
        except psutil.Error:
            pass
    return count


def main() -> None:
    """Run as the naive grader, with secrets in its memory, environment and open files."""
    # Limits to protect this machine. The attacks can prove enough within them.
    resource.setrlimit(resource.RLIMIT_AS, (12 << 30, 12 << 30))
    resource.setrlimit(resource.RLIMIT_CPU, (10, 10))
    attack, facts = json.loads(sys.stdin.read())
    tokens = json.loads(sys.argv[2])
    import ctypes

    heap = ctypes.create_string_buffer(tokens["heap"].encode())
    facts["TOKEN_ADDRESS"] = ctypes.addressof(heap)
    naive_grade(Attack(**attack).source(facts))


if __name__ == "__main__":
    main()
