"""The options of `attn grade`, and the request that they make."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from cli.ui.anonymous import anonymous_option
from cli.ui.arguments import module_named
from cli.ui.executors import WHERE_OPTIONS, Where
from cli.ui.store_options import NEW_RESULTS, require_name, store_option
from grader.classroom.rules import Rules
from grader.classroom.run_rules import Choice
from grader.classroom.store.store import ResultsStore
from grader.course.course import Course
from grader.course.module import Module
from grader.grading.pool import usable_cores
from grader.sandbox.jail.view import gpu_devices
from grader.submission.class_archive import is_tar

HELP = """\
Grade submissions with the visible and the hidden checks.

PATHS are scripts, notebooks, zips, folders laid out as <student>/<module>/<file>, or what a platform exported, as a
folder or as its zip: Canvas, Moodle, Blackboard, Brightspace, Sakai, Gradescope, GitHub Classroom or nbgrader.

\b
attn grade ana/warm_up.py                  the file name names the module
attn grade ana.py --module 01_warm_up      or you name it
attn grade hw.zip --student ana            or whose work it is
attn grade class.zip --class-zip           a folder or zip in it per student
attn grade class/ --dry-run                who handed in what, and when?
attn grade class/ --to reports             a report for each, and grades.csv
attn grade class/ --to reports --resume    go on after Ctrl-C or a crash
attn grade class/ --json > reports.json    the same as one JSON array
attn grade class/ --to reports --due 2026-10-01 --late-penalty 10%/day
attn stats reports                         what does the class fail at?
attn review reports                        what could not be decided?
attn grade class/ --to week1 --store postgresql://grader@db/classroom

A zip is one student's work, whatever is in it. It is a class only if you say so with --class-zip, or if it is
beyond doubt the export of a platform: Canvas, Moodle, Blackboard, Brightspace or Gradescope. If a zip could be both,
it is refused. A zip inside a folder or a class zip is always one student's work. A tar can only be a class.

Students are found on the roster by id, account, email address, GitHub name or, if it is unique, name. Where that
fails, --map says whose work a folder is. The last lines count every file and every person on the roster.

Each report is written as soon as it is ready. To grade again after you corrected a test, run the same command
again: it lists the grades that changed, through which checks and why, and keeps the old reports in reports/earlier.
With --resume, a submission is graded again only if something changed: the submission, the checks, or AttnLab.
Rules such as due dates and penalties are kept for each module, and --resume uses those of the module. A mark that
changes although the work did not is listed first. It is written if you agree at the terminal, or with --yes.

A student may have several attempts: zips, or folders inside their own (ana/try2/warm_up.py). The latest counts, or
with --policy best the one with the highest mark after its own penalty. If it is not clear which is the latest, or
whose they are, they are skipped.

The submission time is the one in --times, or that of the platform: Gradescope's list, the last commit, Sakai's or
nbgrader's timestamp.txt. Otherwise it is unknown: there is no penalty, and it is said. A file's own time is often that
of a download, so it counts only with --file-times.

With --device cuda, modules for the GPU are also graded on the GPU of this machine, one submission at a time. Those
checks have extra points of their own. Without it, the reports list them as not run.

With --store or ATTN_STORE, the results are in a PostgreSQL database, and --to is their name there. Several machines
can then grade one class at once. See docs/store.md.

With --anonymous, nothing that is printed names a student. The reports in --to have the names.

Student code runs in a jail. Its tier is printed with the results, and `attn doctor` says more. Without a jail,
nothing is graded unless you add --allow-unjailed.

Exit status: 0 all full marks, 1 some are not or work was skipped, 2 nothing to grade or no jail, 3 a fault of the
grader. With --dry-run: 0, or 1 if work would be skipped.
"""
_FILE = click.Path(path_type=Path, exists=True, dir_okay=False)
_OPTIONS = (
    click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path)),
    click.option("--module", "-m", "module_name", help="Which module the files are for: 01_warm_up, warm_up or 1."),
    click.option("--student", metavar="NAME", help="Everything at PATHS is the work of this student."),
    click.option("--class-zip", is_flag=True, help="Each zip in PATHS is a class, not one student's work."),
    click.option("--map", type=_FILE, help="Whose work a folder is, as CSV: folder, student, module if known."),
    click.option(
        "--dry-run", is_flag=True, help="Only print who handed in what and when, and what is skipped and why."
    ),
    click.option("--to", type=NEW_RESULTS, help="Keep reports and grades.csv in this folder."),
    store_option,
    click.option("--resume", is_flag=True, help="Continue in --to: grade only what is missing or out of date."),
    click.option(
        "--rules",
        "choice",
        type=click.Choice(["kept", "given"]),
        help="With --resume, if it is unclear which rules are meant: those kept in --to, or only those given here.",
    ),
    click.option("--yes", "-y", is_flag=True, help="Also write marks that change although the work did not."),
    click.option(
        "--jobs", "-j", type=click.IntRange(1, 256), help="Grading processes side by side; by default one per core."
    ),
    click.option("--roster", type=_FILE, help="The class as CSV: id, name, section."),
    click.option("--policy", type=click.Choice(["latest", "best"]), help="Which of several attempts counts."),
    click.option("--due", multiple=True, metavar="[MODULE=]WHEN", help="Such as 2026-10-01 or 2026-10-01T12:00+02:00."),
    click.option("--extensions", type=_FILE, help="Later due dates as CSV: id, until, and module if not for all."),
    click.option(
        "--times", type=_FILE, help="When work was handed in, as CSV: id, submitted, and module if not for all."
    ),
    click.option("--file-times", is_flag=True, help="Use the files' own times as the times of submission."),
    click.option(
        "--late-penalty", metavar="N[%]/PERIOD", help="10%/day: a tenth of the possible points for each day begun."
    ),
    click.option("--grace", metavar="TIME", help="Not late until this much time after the due date, such as 15m."),
    click.option(
        "--undecided",
        type=click.Choice(["count", "withhold"]),
        help="Whether points that are not decided yet count until you decide; by default they do. See attn review.",
    ),
    click.option(
        "--device", type=click.Choice(["cpu", "cuda"]), default="cpu", help="cuda: also run the checks that need a GPU."
    ),
    *WHERE_OPTIONS,
    anonymous_option,
    click.option("--json", "as_json", is_flag=True, help="Print one JSON array of reports instead of text."),
    click.option("--allow-unjailed", is_flag=True, help="Grade even without a jail: only for code you trust."),
)


@dataclass(frozen=True)
class Work:
    """What is to be graded: paths, and what they do not say themselves."""

    paths: tuple[Path, ...]
    module_name: str | None
    student: str | None
    class_zip: bool

    def check(self) -> None:
        """Stop if it is not clear whose work this is."""
        if self.student is not None and not self.student.strip():
            raise click.UsageError("--student needs a name")
        if self.class_zip and self.student is not None:
            raise click.UsageError("--class-zip is for many students, --student for one: use only one of them")
        if self.class_zip and not any(path.suffix.lower() == ".zip" or is_tar(path) for path in self.paths):
            raise click.UsageError("--class-zip needs a zip or a tar among the PATHS")


@dataclass(frozen=True)
class Existing:
    """What to do with results that are there: continue them, by which rules, and whether to change their marks."""

    resume: bool
    choice: Choice | None
    yes: bool


@dataclass(frozen=True)
class GradeRequest:
    """One run of `attn grade`, as its options ask for it. The rules of the course and of earlier runs are not in it."""

    work: Work
    given: Rules
    where: Where
    to: ResultsStore | None
    existing: Existing
    dry_run: bool
    anonymous: bool
    as_json: bool

    @property
    def is_of_one(self) -> bool:
        """Whether the paths name no folder, so that a single submission is shown in full."""
        return not any(path.is_dir() for path in self.work.paths)

    def check(self) -> None:
        """Stop if the options contradict each other, or ask for what this machine does not have."""
        self.where.check(self.to)
        if self.where.cuda and not self.where.on_gpu and not gpu_devices():
            raise click.UsageError(
                "this machine has no NVIDIA GPU; without --device, checks that need one are reported as not run"
            )
        require_name(self.to)
        self.work.check()

    def module(self, course: Course) -> Module | None:
        """Return the module that the options name; stop unless they also allow what one for the GPU needs."""
        if not self.work.module_name:
            return None
        module = module_named(course, self.work.module_name)
        if module.needs_gpu and not (self.where.cuda or self.where.on_gpu):
            fix = "Add --device cuda on a machine that has one"
            raise click.UsageError(f"{module.name}: not run: it needs a GPU. {fix}")
        if module.needs_gpu and not self.where.allow_unjailed:
            why = "Triton starts compilers, so code for this module cannot be jailed"
            raise click.UsageError(f"{module.name}: {why}. To grade code that you trust, add --allow-unjailed")
        return module


def grade_options(command: Callable[[GradeRequest], None]) -> Callable[..., None]:
    """Add the options to a command, which gets them as one request."""

    @functools.wraps(command)
    def run(**options: Any) -> None:
        command(_request(options))

    for option in reversed(_OPTIONS):
        run = option(run)
    return run


def _request(options: dict[str, Any]) -> GradeRequest:
    work = Work(**{name: options[name] for name in ("paths", "module_name", "student", "class_zip")})
    rules = {name: options[name] for name in ("policy", "due", "late_penalty", "grace", "undecided", "file_times")}
    rules |= {name: _full(options[name]) for name in ("roster", "extensions", "times", "map")}
    where = Where(
        **{name: options[name] for name in ("on", "on_gpu", "certs", "cluster", "plan", "spool", "allow_unjailed")},
        jobs=options["jobs"] or usable_cores(),
        cuda=options["device"] == "cuda",
    )
    others = {name: options[name] for name in ("to", "dry_run", "anonymous", "as_json")}
    existing = Existing(options["resume"], options["choice"], options["yes"])
    return GradeRequest(work, Rules(**rules), where, existing=existing, **others)


def _full(path: Path | None) -> str | None:
    return str(path.resolve()) if path else None
