"""`attn export junit`: test results as XML."""

from __future__ import annotations

from pathlib import Path

import click

from cli.ui.anonymous import anonymous_option
from cli.ui.class_files import class_of, finish_export, json_option, modules_option, new_folder
from cli.ui.store_options import RESULTS, store_option
from grader.classroom import ClassError
from grader.classroom.class_list import ExportError
from grader.classroom.store.store import ResultsStore
from grader.core.atomic_file import file_name, write_bytes_atomically
from grader.platforms.junit import junit_bytes, junit_text


@click.command()
@click.argument("reports", type=RESULTS)
@store_option
@click.option("--out", required=True, type=click.Path(path_type=Path), help="The file to write; with --each, a folder.")
@modules_option
@click.option("--each", is_flag=True, help="One file per student and module, in a new folder.")
@anonymous_option
@json_option
def junit(
    reports: ResultsStore, out: Path, modules: tuple[str, ...], each: bool, anonymous: bool, as_json: bool
) -> None:
    """Write JUnit XML, which most tools that show test results can read.

    \b
    attn export junit reports --out class.xml
    attn export junit reports --out xml --each      xml/01_warm_up/ana.xml, ...

    A suite is a submission, a case is a check or a cost. A failure is the student's, an error is the grader's, and a
    check that did not run is skipped. The messages are those that students may read.

    Exit status: 0 written, 2 a wrong argument or option, 3 written, but a student was not graded.
    """
    try:
        found = class_of(reports, modules, anonymous=anonymous)
        if not each:
            if out.is_dir():
                raise ExportError(f"{out} is a folder: name a file, or use --each")
            write_bytes_atomically(out, junit_bytes(junit_text(found.reports())))
        else:
            with new_folder(out) as folder:
                for mark, report in found.reports():
                    path = folder / mark.module / f"{file_name(mark.submission)}.xml"
                    write_bytes_atomically(path, junit_bytes(junit_text([(mark, report)])))
    except ClassError as error:
        raise click.UsageError(str(error)) from None
    count = sum(1 for _ in found.reports())
    finish_export(
        {"file": str(out), "modules": list(found.modules), "reports": count}, found.problems(), as_json=as_json
    )
