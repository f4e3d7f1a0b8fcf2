"""`attn doctor`: the jail of this machine, and how to get a better one."""

from __future__ import annotations

import importlib.util
import json
import shutil
import sys

import click

from grader.core.machine import environment, gpu_name
from grader.sandbox.jail.tiers import TierAttempt, advice, best, survey
from grader.sandbox.jail.view import gpu_devices


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of text.")
def doctor(as_json: bool) -> None:
    """Show how well this machine jails other people's code.

    \b
    strict      own view of the file system, namespaces, Landlock, seccomp filter
    contained   Landlock and seccomp filter, for containers without namespaces
    none        a process with a time limit: only for code you trust

    Each tier is tested: a jail is built, and then tried from the inside.

    Exit status: 0 strict or contained, 1 none.
    """
    versions = environment()
    attempts = survey("numpy")
    tier = best(attempts)
    torch_tier = best(survey("torch")) if versions["torch"] else None
    gpu = survey("torch", gpu_devices()) if versions["torch"] and gpu_devices() else ()
    todo = advice(attempts)
    if as_json:
        found: dict[str, object] = {"tier": tier, "torch_tier": torch_tier, "tried": _tried(attempts), "advice": todo}
        found |= {"gpu": {"name": gpu_name(), "tried": _tried(gpu)} if gpu else None, "environment": versions}
        click.echo(json.dumps(found, indent=1))
    else:
        click.echo(_screen(tier, attempts, todo, versions))
        if torch_tier not in (None, tier):
            click.echo(f"Modules that need torch are jailed in the tier: {torch_tier}")
        if gpu:
            lines = [f"  {attempt.plan.tier:<10} {_found(attempt)}" for attempt in gpu]
            click.echo("\n".join(["", f"With its GPU ({gpu_name()}), for `attn grade --device cuda`:", *lines]))
            click.echo(f'Modules with needs = "cuda" are not jailed: Triton starts compilers. {_compilers()}')
    sys.exit("none" in (tier, torch_tier))


def _screen(
    tier: str, attempts: tuple[TierAttempt, ...], todo: tuple[str, ...], versions: dict[str, str | None]
) -> str:
    lines = [f"This machine jails graded code in the tier: {tier}", ""]
    lines += [f"  {attempt.plan.tier:<10} {_found(attempt)}" for attempt in attempts]
    if todo:
        lines += ["", "For a better jail:", *(f"  - {line}" for line in todo)]
    lines += ["", ", ".join(f"{name} {version or 'not installed'}" for name, version in versions.items())]
    return "\n".join(lines)


def _compilers() -> str:
    """Say whether this machine has what such a module needs."""
    lacking = [] if importlib.util.find_spec("triton") else ["triton"]
    lacking += [] if shutil.which("gcc") or shutil.which("clang") else ["a C compiler"]
    return f"Missing here: {', '.join(lacking)}." if lacking else "Triton and a C compiler are here."


def _tried(attempts: tuple[TierAttempt, ...]) -> list[dict[str, object]]:
    return [{"tier": one.plan.tier, "user": one.plan.uid, "problem": one.problem} for one in attempts]


def _found(attempt: TierAttempt) -> str:
    if attempt.problem:
        return f"no: {attempt.problem}"
    if not attempt.plan.layers:
        return "always"
    if attempt.plan.uid is not None:
        return f"yes, as user {attempt.plan.uid}"
    return "yes, as you" if attempt.plan.may_thread else "yes, as root without its rights, and without threads"
