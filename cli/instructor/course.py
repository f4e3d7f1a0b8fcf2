"""`attn course`: the course directory in which nbgrader grades through AttnLab."""

from __future__ import annotations

import json
from pathlib import Path

import click


@click.group()
def course() -> None:
    """Run a course with nbgrader: release, collect, grade, give feedback (for instructors).

    \b
    attn course init ../attention                make nbgrader's course directory
    attn release softmax --to ../attention       the assignment, by nbgrader's generate_assignment
    attn gradebook sync reports --course ../attention    or: what `attn grade --to reports` found
    cd ../attention
    nbgrader autograde 01_softmax                graded by AttnLab, in its jail; so does formgrader's button
    nbgrader generate_feedback 01_softmax        what students may read, and no line of a hidden test
    nbgrader export                              grades.csv
    """


@course.command()
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path, file_okay=False))
@click.option("--id", "name", default="", help="The course's name in nbgrader; that of the folder by default.")
@click.option("--db", default="", metavar="URL", help="The gradebook, as SQLAlchemy's URL; SQLite in DIR by default.")
@click.option("--late-penalty", default="", metavar="N[%]/PERIOD", help="Such as 10%/day, of the points possible.")
@click.option("--json", "as_json", is_flag=True, help="Print what was made as JSON.")
def init(folder: Path, name: str, db: str, late_penalty: str, as_json: bool) -> None:
    """Make a course directory for nbgrader, with its gradebook.

    \b
    attn course init ../attention
    attn course init ../attention --late-penalty 10%/day
    attn course init ../attention --id attention-2026 --db postgresql+psycopg2://prof@db/grades

    Its nbgrader_config.py puts AttnLab in the place where nbgrader would execute what students wrote. So whatever asks
    nbgrader to grade, the command or formgrader, has it graded in the jail, by hidden suites that stay where they are.

    Exit status: 0 made, 2 a folder or an option that cannot be used.
    """
    from grader.course.course import find_course
    from grader.platforms.nbgrader.course_dir import init_course_dir
    from grader.platforms.nbgrader.errors import CourseDirError

    found = find_course(Path.cwd())
    try:
        config = init_course_dir(found, folder, name, db, late_penalty)
    except CourseDirError as error:
        raise click.UsageError(str(error)) from None
    if as_json:
        click.echo(
            json.dumps({"folder": str(config.parent), "config": str(config), "course": str(found.root)}, indent=1)
        )
        return
    first = found.modules[0].slug
    click.echo(f"{folder} is a course of nbgrader's now, graded by AttnLab. Next: attn release {first} --to {folder}")
