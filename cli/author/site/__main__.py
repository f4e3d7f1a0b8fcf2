"""`python -m cli.author.site FOLDER` builds the site."""

from __future__ import annotations

from pathlib import Path

import click

from cli.author.site.build import SiteError, build_site
from cli.ui.here import course_here


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False), default="build/site")
def main(folder: Path) -> None:
    """Write the lessons and guides as static pages into FOLDER (build/site). What was there before is replaced."""
    try:
        pages = build_site(course_here(), folder)
    except SiteError as error:
        raise click.ClickException(str(error)) from None
    click.echo(f"{pages} pages in {folder}: open {folder / 'index.html'}")


if __name__ == "__main__":
    main()
