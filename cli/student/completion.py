"""`attn completion`: the Tab key in bash, zsh and fish."""

from __future__ import annotations

import os
from pathlib import Path

import click
from click.shell_completion import get_completion_class

from grader.core.atomic_file import write_atomically

VARIABLE = "_ATTN_COMPLETE"
SHELLS = ("bash", "zsh", "fish")
MARK = "# Tab completion for attn"


@click.command()
@click.argument("shell", type=click.Choice(SHELLS), required=False)
@click.option("--install", is_flag=True, help="Set it up for your next shells.")
@click.pass_context
def completion(context: click.Context, shell: str | None, install: bool) -> None:
    """Set up the Tab key: it completes commands and modules.

    \b
    attn completion --install        for the shell you use
    attn completion zsh --install    for another one
    attn completion bash             only print the script

    The script is written below your home folder, and one line is added to .bashrc or .zshrc.

    Exit status: 0 done, 2 the shell is not known, 3 a file could not be written.
    """
    shell = shell or Path(os.environ.get("SHELL", "")).name
    maker = get_completion_class(shell) if shell in SHELLS else None
    if maker is None:
        raise click.UsageError(f"your shell is not known. Name one: {', '.join(SHELLS)}")
    script = maker(context.find_root().command, {}, "attn", VARIABLE).source()
    if not install:
        click.echo(script)
        return
    for path in _install(shell, script, Path.home()):
        click.echo(f"wrote {path}")
    click.echo("Open a new terminal, then type: attn te<Tab>")


def _install(shell: str, script: str, home: Path) -> list[Path]:
    """Write the script, and for bash and zsh the line that loads it. A second time changes nothing more."""
    if shell == "fish":  # it loads this by itself
        path = home / ".config" / "fish" / "completions" / "attn.fish"
        write_atomically(path, script)
        return [path]
    path = home / ".config" / "attnlab" / f"completion.{shell}"
    write_atomically(path, script)
    start = home / (".bashrc" if shell == "bash" else ".zshrc")
    text = start.read_text(encoding="utf-8") if start.is_file() else ""
    if MARK in text:
        return [path]
    begin = "" if not text or text.endswith("\n") else "\n"
    with start.open("a", encoding="utf-8") as file:  # append: it may be a link, and must stay one
        file.write(f'{begin}[ -f "{path}" ] && . "{path}"  {MARK}\n')
    return [path, start]
