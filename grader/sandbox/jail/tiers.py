"""Tiers: the jails that this machine supports, found by building one and trying to break out; advice on better ones."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from grader.core.machine import IN_BROWSER, Tier
from grader.course.module import Backend
from grader.sandbox.jail.cold_spawner import ColdSpawner
from grader.sandbox.jail.limits import memory_bytes
from grader.sandbox.jail.plan import CONTAINED, STRICT, JailPlan, Layer
from grader.sandbox.jail.spawner import CopiedSpawner, JailError, ZygoteSpawner
from grader.sandbox.jail.view import gpu_devices, gpu_files, view_for

if TYPE_CHECKING:
    from grader.sandbox.jail.same_process import SameProcessSpawner

# The user of a worker if we are root: one of the few numbers that neither Debian nor systemd assigns.
WORKER_UID = 65_530

CAN_FORK = not IN_BROWSER and hasattr(os, "fork") and hasattr(os, "wait4") and hasattr(socket, "send_fds")

_NO_BUBBLEWRAP = "Install bubblewrap (Debian, Ubuntu: apt-get install bubblewrap; Fedora: dnf install bubblewrap)."
_NO_LINUX = "The jail needs Linux: grade on a Linux machine, in a virtual machine or in a container."
# Part of the error message, and what to do about it.
_FIXES = {
    "amespace": "Allow bubblewrap to make namespaces: set the kernel's user.max_user_namespaces above 0. Where they "
    "exist, set kernel.unprivileged_userns_clone to 1 and kernel.apparmor_restrict_unprivileged_userns to 0. "
    "A container must be started with this right; most hosts do not give it.",
    "uid_map": "Allow nested user namespaces: see the kernel's user.max_user_namespaces.",
    "mount": "Allow mounts inside a user namespace: AppArmor or the container's filter forbids them.",
    "cannot read": "Only root can read this Python, perhaps because it is in a private home: install it for all users.",
    "syscall": "Landlock is missing: it needs Linux 5.13 or newer, with landlock among its security modules.",
    "no system call filter": "The jail supports x86_64 and aarch64: grade on one of these.",
}


@dataclass(frozen=True)
class TierAttempt:
    """A plan that was tried; `problem` says why it does not work, and is empty if it does."""

    plan: JailPlan
    problem: str


def begin_spawner(backend: Backend) -> ZygoteSpawner | None:
    """Start the spawner that `open_spawner` would try first, without waiting for it, and without meters.

    Students' own checks use this. The caller must close it if it does not pass it on to `open_spawner`.
    """
    for plan in plans(backend):
        try:
            return ZygoteSpawner(replace(plan, meters=False), wait=False)
        except JailError:
            return None
    return None


def open_gpu_spawner(*, compiles: bool = False) -> ZygoteSpawner:
    """Return a spawner of workers with the GPU, in the best tier that works; JailError if there is none.

    With `compiles`, they are not jailed: Triton starts programs (a C compiler and ptxas) and loads what they wrote.
    """
    problems: list[str] = []
    devices = gpu_devices()
    for plan in [JailPlan("torch", devices=devices, compiles=True)] if compiles else plans("torch", devices):
        try:
            return ZygoteSpawner(plan)
        except JailError as error:
            problems.append(f"{plan.tier}: {error}")
    raise JailError("; ".join(problems) or "this system cannot start workers with a GPU")


def open_spawner(
    backend: Backend, begun: ZygoteSpawner | None = None
) -> ZygoteSpawner | ColdSpawner | SameProcessSpawner:
    """Return a spawner of the best tier on this machine: the one already begun, if its jail holds.

    In a browser there is one process. The page is the student's own, and nothing is graded there.
    """
    if IN_BROWSER:
        from grader.sandbox.jail.same_process import SameProcessSpawner  # the worker's code, which no grader imports

        return SameProcessSpawner(backend)
    meters = begun is None or begun.plan.meters
    if isinstance(begun, CopiedSpawner):  # if its zygote was lost, that says nothing about the tier
        with contextlib.suppress(JailError):
            begun.confirm()
            return begun
        begun = None
    for plan in plans(backend):
        try:
            if begun is None:
                return ZygoteSpawner(replace(plan, meters=meters))
            first, begun = begun, None
            first.confirm()
        except JailError:
            if not plan.layers:
                raise
        else:
            return first
    return ColdSpawner(backend)


def survey(backend: Backend, devices: tuple[str, ...] = ()) -> tuple[TierAttempt, ...]:
    """Try every plan for this machine, the best first."""
    return tuple(TierAttempt(plan, _problem(plan)) for plan in plans(backend, devices))


def best(attempts: tuple[TierAttempt, ...]) -> Tier:
    """Return the best tier that worked."""
    return next((attempt.plan.tier for attempt in attempts if not attempt.problem), "none")


def advice(attempts: tuple[TierAttempt, ...]) -> tuple[str, ...]:
    """Return what to do for each tier that is better than the best one available."""
    if sys.platform != "linux":
        return (_NO_LINUX,)
    lines = [] if any(attempt.plan.tier == "strict" for attempt in attempts) else [_NO_BUBBLEWRAP]
    for attempt in attempts:
        if not attempt.problem:
            break
        fixes = [fix for word, fix in _FIXES.items() if word in attempt.problem]
        lines += fixes or [
            f"No advice for: {attempt.problem}. Please report it, with the output of `attn doctor --json`."
        ]
    return tuple(dict.fromkeys(lines))


def plans(backend: Backend, devices: tuple[str, ...] = ()) -> Iterator[JailPlan]:
    """Yield the plans to try on this machine, the best first; none if it cannot fork."""
    if sys.platform == "linux":
        strict = planned(backend, "strict", devices)
        if shutil.which("bwrap"):
            yield strict
        yield planned(backend, "contained", devices)
        if strict.uid is not None:  # perhaps only root can read Python
            yield without(planned(backend, "contained", devices), "user")
    if CAN_FORK:
        yield JailPlan(backend, devices=devices)


def planned(backend: Backend, tier: Tier, devices: tuple[str, ...] = ()) -> JailPlan:
    """Return the plan of a tier for this machine."""
    if tier == "none":
        return JailPlan(backend, devices=devices)
    view = view_for(backend)
    layers = STRICT if tier == "strict" else CONTAINED
    readable = view.readable + (gpu_files() if devices else ())
    plan = JailPlan(
        backend, tier, layers, readable=readable, listable=view.listable, memory=memory_bytes(), devices=devices
    )
    if os.geteuid() == 0 and _is_mapped(WORKER_UID):
        return replace(plan, uid=WORKER_UID)
    return replace(plan, may_thread=os.geteuid() != 0)


def without(plan: JailPlan, layer: Layer) -> JailPlan:
    """Return a plan without one of its layers."""
    plan = replace(plan, layers=tuple(one for one in plan.layers if one != layer))
    return replace(plan, uid=None, may_thread=False) if layer == "user" and plan.uid is not None else plan


def _problem(plan: JailPlan) -> str:
    try:
        ZygoteSpawner(plan).close()
    except JailError as error:
        return str(error) or "no reason given"
    return ""


def _is_mapped(uid: int) -> bool:
    """Whether our user namespace has a user with this number."""
    try:
        ranges = [list(map(int, line.split())) for line in Path("/proc/self/uid_map").read_text().splitlines()]
    except (OSError, ValueError):
        return False
    return any(first <= uid < first + count for first, _, count in ranges)
