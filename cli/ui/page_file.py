"""Files for pages: one that is not a page of ours is never replaced."""

from __future__ import annotations

from pathlib import Path

import click

from grader.pages.rendering import is_page


def page_file(path: Path) -> Path:
    """Return a path to write a page to; a usage mistake if something else is there."""
    if path.suffix.lower() not in (".html", ".htm"):
        raise click.UsageError(f"{path} must end in .html")
    if not path.parent.is_dir():
        raise click.UsageError(f"there is no folder {path.parent}")
    if path.exists() and not is_page(path):
        raise click.UsageError(f"{path} already exists and is not a page of attn. Choose another name with --to")
    return path
