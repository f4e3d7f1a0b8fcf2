"""`attn dev`: the author's commands."""

from __future__ import annotations

from pathlib import Path

import click


@click.group()
def dev() -> None:
    """Write and maintain modules (for course authors)."""


@dev.command()
@click.argument("modules", nargs=-1)
def build(modules: tuple[str, ...]) -> None:
    """Make the stubs anew from the solutions.

    \b
    attn dev build              every module
    attn dev build 01_softmax   one module
    """
    from grader.build import build_module
    from grader.course import find_course

    course = find_course(Path.cwd())
    for module in [course.module(name) for name in modules] or course.modules:
        changed = build_module(course, module)
        click.echo(f"{module.name}: {'written' if changed else 'up to date'}")
