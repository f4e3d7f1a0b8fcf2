"""Advice on how to get a better tier on this machine, by the reason why that tier failed."""

from __future__ import annotations

import sys

from grader.sandbox.jail.tiers import TierAttempt

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
