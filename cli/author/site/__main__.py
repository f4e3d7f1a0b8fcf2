"""`python -m cli.author.site FOLDER` builds the site."""

from __future__ import annotations

from pathlib import Path

import click

from cli.author.site.build import SiteError, build_site
from grader.course.course import find_course


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False), default="build/site")
def main(folder: Path) -> None:
    """Write the lessons and guides as static pages into FOLDER (build/site). What was there before is replaced."""
    try:
        pages = build_site(find_course(Path.cwd()), folder)
    except SiteError as error:
        raise click.ClickException(str(error)) from None
    click.echo(f"{pages} pages in {folder}: open {folder / 'index.html'}")


if __name__ == "__main__":
    main()
