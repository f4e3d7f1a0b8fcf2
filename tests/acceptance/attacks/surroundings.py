"""Other machines, simulated on this one: an ordinary user, root with a Python that all can read, no namespaces."""

from __future__ import annotations

import errno
import os
import struct
import sys
from pathlib import Path

from grader.sandbox.jail import kernel, seccomp

USER = 1234
ROOT = Path(__file__).parents[3]

REFUSED = ("unshare", "setns", "mount", "umount2", "pivot_root", "fsopen", "fsmount", "open_tree", "move_mount")


def command(name: str, *words: str) -> list[str]:
    """Return the command that runs words in these surroundings: root, user, or root in an open home."""
    assert os.geteuid() == 0
    if name == "root":
        return list(words)
    private = Path.home()
    view = ["bwrap", "--bind", "/", "/", "--dev-bind", "/dev", "/dev", "--perms", "0755", "--tmpfs", str(private)]
    for path in (Path(sys.base_prefix), Path(sys.prefix), ROOT):
        if path.is_relative_to(private):
            for folder in reversed([parent for parent in path.parents if parent.is_relative_to(private)][:-1]):
                view += ["--dir", str(folder)]
            view += ["--bind", str(path), str(path)]
    view += ["--cap-add", "ALL"]
    if name == "root in an open home":
        return [*view, *words]
    assert name == "user"
    become = ["setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups"]
    return [*view, *become, "--bounding-set=-all", "--inh-caps=-all", *words]


def without_namespaces(*words: str) -> list[str]:
    """Return the command that runs words without namespaces, as in a default container."""
    return [sys.executable, "-m", "tests.acceptance.attacks.surroundings", "namespaces", *words]


def without_landlock(*words: str) -> list[str]:
    """Return the command that runs words as on a kernel without Landlock."""
    return [sys.executable, "-m", "tests.acceptance.attacks.surroundings", "landlock", *words]


def forget_landlock() -> None:
    """Make Landlock look missing to this process and everything that it starts."""
    unknown, allowed = 0x00050000 | errno.ENOSYS, 0x7FFF0000
    _load([(0x20, 0, 0, 0), (0x15, 0, 1, 444), (0x06, 0, 0, unknown), (0x06, 0, 0, allowed)])


def refuse_namespaces() -> None:
    """Refuse new namespaces and mounts to this process and everything that it starts."""
    number = seccomp.numbers()
    refused, allowed = 0x00050000 | errno.EPERM, 0x7FFF0000
    program = [(0x20, 0, 0, 0), (0x15, 0, 1, number["clone3"]), (0x06, 0, 0, 0x00050000 | errno.ENOSYS)]
    for name in REFUSED:
        program += [(0x15, 0, 1, number[name]), (0x06, 0, 0, refused)]
    flags = [(0x20, 0, 0, 16), (0x45, 0, 1, 0x7E020000), (0x06, 0, 0, refused), (0x06, 0, 0, allowed)]
    program += [(0x15, 0, len(flags), number["clone"]), *flags, (0x06, 0, 0, allowed)]
    _load(program)


def _load(program: list[seccomp.Instruction]) -> None:
    kernel.no_new_privileges()
    seccomp.load(b"".join(struct.pack("=HBBI", *instruction) for instruction in program))


if __name__ == "__main__":
    forget_landlock() if sys.argv[1] == "landlock" else refuse_namespaces()
    os.execvp(sys.argv[2], sys.argv[2:])
