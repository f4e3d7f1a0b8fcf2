"""The benchmark: `make bench`, or `python -m docs.bench [PART]...`, prints a table of ratios and writes it as JSON."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import click

from docs.bench.cluster import cluster
from docs.bench.command import CommandFailedError
from docs.bench.diagnosis import diagnosis
from docs.bench.engine import engine
from docs.bench.gradebook import gradebook
from docs.bench.growth import growth
from docs.bench.loop import loop
from docs.bench.peers.environment import FOLDER, NoPeersError, PeerFailedError
from docs.bench.peers.race import race
from docs.bench.profiles import profiles
from docs.bench.row import Row
from docs.bench.sandbox import jail
from docs.bench.startup import startup
from docs.bench.table import as_json, as_text, is_busy, machine
from docs.bench.torch_modules import torch_modules
from docs.bench.verdicts.compare import verdicts

PARTS: dict[str, Callable[[], Iterator[Row]]] = {
    "startup": startup,
    "loop": loop,
    "engine": engine,
    "profiles": profiles,
    "diagnosis": diagnosis,
    "jail": jail,
    "torch": torch_modules,
    "gradebook": gradebook,
    "growth": growth,
    "cluster": cluster,
    "peers": race,
    "verdicts": verdicts,
}
CLONE = "A checkout of stanford-cs336/assignment1-basics, to compare verdicts with its tests, too."


@click.command()
@click.argument("parts", nargs=-1, type=click.Choice(list(PARTS)))
@click.option("--json", "file", type=click.Path(path_type=Path, dir_okay=False), default=FOLDER / "bench.json")
@click.option("--clone", type=click.Path(path_type=Path, exists=True, file_okay=False), help=CLONE)
def main(parts: tuple[str, ...], file: Path, clone: Path | None) -> None:
    """Measure all PARTS, or some; exit status 1 if a limit is missed or a part could not be measured."""
    measures = PARTS | {"verdicts": partial(verdicts, clone)}
    rows: list[Row] = []
    missing: dict[str, str] = {}
    words, busy = machine(), is_busy()
    for name in dict.fromkeys(parts or PARTS):
        click.echo(f"==> {name}", err=True)
        try:
            rows += measures[name]()  # what was measured before a failure stays
        except (NoPeersError, PeerFailedError, CommandFailedError, subprocess.CalledProcessError) as error:
            missing[name] = str(error)
    click.echo(as_text(rows, words))
    if busy:
        click.echo("The machine was busy when this run began, so times may be too long.")
    for name, reason in missing.items():
        click.echo(f"NOT measured: {name}: {reason}")
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(as_json(rows, words, missing))
    sys.exit(bool(missing) or any(row.verdict == "NOT" for row in rows))


if __name__ == "__main__":
    main(prog_name="python -m docs.bench")
