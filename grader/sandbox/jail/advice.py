"""Advice: what would give this machine a better tier, told from why the better ones failed."""

from __future__ import annotations

import sys

from grader.sandbox.jail.tiers import TierAttempt

_NO_BUBBLEWRAP = "Install bubblewrap (Debian, Ubuntu: apt-get install bubblewrap; Fedora: dnf install bubblewrap)."
_NO_LINUX = "Only Linux has what the jail is made of: grade on a Linux machine, in a virtual machine or in a container."
# A word of the problem, and what to do about it.
_MENDS = {
    "amespace": "Let bubblewrap make namespaces: set the kernel's user.max_user_namespaces above 0, and "
    "kernel.unprivileged_userns_clone to 1 or kernel.apparmor_restrict_unprivileged_userns to 0 where they exist. "
    "A container has to be started with that right; most hosts do not give it.",
    "uid_map": "Let user namespaces be nested: see the kernel's user.max_user_namespaces.",
    "mount": "Let a user namespace mount what is its own: AppArmor or the container's own filter forbids it.",
    "cannot read": "Python lies where only root can read it, in a private home for one: install it for everybody.",
    "syscall": "Landlock is missing: it needs Linux 5.13 or newer, started with landlock among its security modules.",
    "no system call filter": "The jail knows x86_64 and aarch64: grade on one of these.",
}


def advice(attempts: tuple[TierAttempt, ...]) -> tuple[str, ...]:
    """Return what to do for each tier that is better than the best one to be had."""
    if sys.platform != "linux":
        return (_NO_LINUX,)
    lines = [] if any(attempt.plan.tier == "strict" for attempt in attempts) else [_NO_BUBBLEWRAP]
    for attempt in attempts:
        if not attempt.problem:
            break
        mends = [mend for word, mend in _MENDS.items() if word in attempt.problem]
        lines += mends or [f"We have no advice on: {attempt.problem}. Please report it, with `attn doctor --json`."]
    return tuple(dict.fromkeys(lines))
