"""`attn release`: what students receive."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from cli.dev import chosen


@click.command()
@click.argument("modules", nargs=-1, required=True)
@click.option("--bundle", is_flag=True, help="A folder students unpack: stubs, lessons, visible checks, the tool.")
@click.option("--to", required=True, type=click.Path(path_type=Path), help="A new folder for it.")
def release(modules: tuple[str, ...], bundle: bool, to: Path) -> None:
    """Make what students receive of some modules; solutions and hidden suites stay here.

    \b
    attn release --bundle softmax --to ../week1

    The bundle is searched for lines of the solutions and for hidden checks before it appears; if one is found, there
    is no bundle.
    """
    from cli.screens import soundness_lines
    from grader.bundle import BundleError, make_bundle
    from grader.course import find_course
    from grader.soundness import check_module

    if not bundle:
        raise click.UsageError("say --bundle: bundles are what can be released so far")
    course = find_course(Path.cwd())
    kept = [course.root / name for name in ("modules", "solutions", "tests", "grader", "cli")]
    if any(to.resolve().is_relative_to(folder) for folder in kept):
        raise click.UsageError(f"{to} is inside the course itself; name a folder elsewhere")
    if to.exists() and (not to.is_dir() or any(to.iterdir())):
        raise click.UsageError(f"{to} is there already; name a new folder, or remove it first")
    wanted = chosen(course, modules)
    for module in wanted:
        click.echo(f"checking {module.name} ...", err=True)
        result = check_module(course, module)
        if result.problems:
            click.echo("\n".join(soundness_lines(result)), err=True)
            click.echo("attn: nothing was released: a module that is not sound is not for students", err=True)
            sys.exit(3)
    click.echo("building the wheel ...", err=True)
    try:
        made = make_bundle(course, wanted, to)
    except BundleError as error:
        click.echo(f"attn: {error}", err=True)
        sys.exit(3)
    click.echo(f"{made}: {len(modules)} module(s), no solution, no hidden suite. Students start with its README.md.")
