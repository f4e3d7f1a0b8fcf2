"""`attn export`: grades for other platforms."""

from __future__ import annotations

import click

from cli.instructor.export.canvas import canvas
from cli.instructor.export.classroom50 import classroom50
from cli.instructor.export.csv import csv
from cli.instructor.export.github import github
from cli.instructor.export.gradescope import gradescope
from cli.instructor.export.jplag import jplag
from cli.instructor.export.junit import junit
from cli.instructor.export.moodle import moodle
from cli.instructor.export.prairielearn import prairielearn


@click.group()
def export() -> None:
    """Export grades to other platforms (for instructors).

    \b
    attn export gradescope warm_up --out warm_up.zip   an autograder to upload
    attn grade class/ --to reports --roster class.csv
    attn export canvas reports --out canvas.csv        grades to import
    attn export moodle reports -m warm_up --worksheet Grades.csv --out moodle.csv
    attn export csv reports --out grades.csv           one line per student
    attn export junit reports --out reports.xml        test results as XML
    attn export github workflow warm_up --out checks.yml   checks in any job
    attn export classroom50 warm_up --out autograders/warm-up
    attn export prairielearn warm_up --out questions/warm_up --image NAME
    attn export jplag class/ --out similar             for a similarity check

    A submission that was not graded has no score anywhere, never a 0. The exit status is then 3, and a message names
    the student.
    """


for command in (canvas, classroom50, csv, github, gradescope, jplag, junit, moodle, prairielearn):
    export.add_command(command)
