"""Sentences about findings, for the student: what happened in which line, and what to do about it."""

from __future__ import annotations

from collections.abc import Sequence

from grader.device.found import Copy, Finding, Kind

STEPS: dict[Kind, str] = {
    "mixed_devices": "Make every tensor where the input lives, with device=q.device or torch.full_like(q, ...), and "
    "move one that was given on another device once, with .to(q.device).",
    "host_sync": "Keep the numbers in tensors: the CPU queues work for the GPU and must not wait for its results.",
    "round_trip": "Stay on the GPU: torch has the operation there, too.",
    "made_on_cpu": "Make it where the input lives from the start: device=q.device.",
    "moved_more_than_once": "Move it once, before it is first used, and keep the result.",
    "left_on_cpu": "Return every tensor on the device of the input.",
}
WAITS = "the CPU waits for the GPU"


def say(finding: Finding) -> str:
    """Return what happened, where, and the next step."""
    what = f"{finding.what}: {WAITS}" if finding.kind == "host_sync" else finding.what
    if finding.kind == "left_on_cpu":
        what = f"{what} is on the CPU, though the input is on the GPU"
    return f"{place_of(finding)}{what}. {STEPS[finding.kind]}"


def say_all(findings: Sequence[Finding]) -> str:
    """Return the first finding in full, and the lines of the others."""
    first, *others = findings
    if not others:
        return say(first)
    more = "; ".join(f"{place_of(one)}{one.what}" for one in others[:3])
    rest = f"; and {len(others) - 3} more" if len(others) > 3 else ""
    return f"{say(first)} Also: {more}{rest}."


def place_of(where: Finding | Copy) -> str:
    """Return the place as the beginning of a sentence."""
    return f"line {where.line} of {where.file}: " if where.line else ""
