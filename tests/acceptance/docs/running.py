"""The commands of a page, run one after another in a fresh copy, as a reader would."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from tests.acceptance.docs.blocks import Block, Command
from tests.conftest import ROOT, prove_once

BIN = Path(sys.executable).parent
NOT_COPIED = (
    ".git",
    ".venv",
    ".bench",
    "reports",
    "build",
    "dist",
    "__pycache__",
    "*.egg-info",
    ".*_cache",
)
LIMIT_S = 400
# What several pages do with the same files, and the folder that it makes. It is done once; the others get a copy.
ONCE = {"attn grade examples/class --to reports": "reports"}
_kept: dict[tuple[str, int], Path] = {}  # by command and exit status


def copy_of_clone(folder: Path) -> Path:
    """Copy the repository, with an environment that is already installed."""
    prove_once("01_softmax")  # what the pages release; the copy has the same proofs
    shutil.copytree(ROOT, folder, ignore=shutil.ignore_patterns(*NOT_COPIED))
    environment = folder / ".venv"
    environment.mkdir()
    for path in Path(sys.prefix).iterdir():
        if path.name != "ready":
            (environment / path.name).symlink_to(path)
    (environment / "ready").touch()
    return folder


def copy_of_bundle(folder: Path) -> Path:
    """Make a student's bundle without the wheel, which is already installed here."""
    folder.mkdir(parents=True)
    shutil.copytree(ROOT / "modules", folder / "modules", ignore=shutil.ignore_patterns("__pycache__", "*.ipynb"))
    shutil.copy(ROOT / "constraints.txt", folder)
    shutil.copy(ROOT / "course.toml", folder)
    return folder


class Reader:
    """A reader who types what a page says. Each block begins in the same folder; `cd` holds within a block."""

    def __init__(self, home: Path) -> None:
        self.home = home  # a clone or a bundle, in a folder of its own
        self.typed: list[str] = []
        self.printed: dict[str, str] = {}  # by command, the last time it was typed

    def follow(self, block: Block) -> None:
        """Do what a block says: run it, or write its file."""
        for text in block.by_hand:
            self._type(Command(text, block.line, 0), block, self.home)
        if block.file:
            self._write(block)
        if block.is_shell and not block.not_run:
            where = self.home
            for command in block.commands:
                where = self._type(command, block, where)

    def _type(self, command: Command, block: Block, where: Path) -> Path:
        words = re.sub(r"\s+#.*", "", command.text).strip()
        self.typed.append(words)
        made = self.home / ONCE[words] if words in ONCE and where == self.home else None
        made = None if made is None or made.exists() else made
        if made is not None and (words, command.status) in _kept:
            shutil.copytree(_kept[words, command.status], made)
            return where
        note = self.home.parent / ".where"
        script = f"{command.text}\nstatus=$?; pwd > {note}; exit $status"
        done = subprocess.run(
            ["bash", "-c", script],
            cwd=where,
            env=_environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
            check=False,
        )
        self.printed[words] = done.stdout
        said = f"{block.page}:{command.line}: {command.text}\n{done.stdout[-3000:]}{done.stderr[-3000:]}"
        assert done.returncode == command.status, f"exit status {done.returncode}, not {command.status}: {said}"
        if made is not None:
            kept = self.home.parent.with_name(f"{self.home.parent.name}_kept")
            _kept[words, command.status] = Path(shutil.copytree(made, kept))
        return Path(note.read_text().strip())

    def _write(self, block: Block) -> None:
        """Write a file of a new module; NN on the page stands for its number."""
        slug = block.file.partition("NN_")[2].partition("/")[0].removesuffix(".py")
        (module,) = self.home.glob(f"modules/??_{slug}")
        number = module.name[:2]
        path = self.home / block.file.replace("NN", number)
        assert path.is_file(), f"{block.place}: `attn dev new` makes no {path.name}"
        text = block.text.replace("order = NN", f"order = {int(number)}").replace("NN", number)
        path.write_text(text, encoding="utf-8")


def _environment() -> dict[str, str]:
    """Return an environment without paths outside the copy, such as the OLDPWD of the shell that runs the tests."""
    inherited = {name: value for name, value in os.environ.items() if name not in ("OLDPWD", "PWD")}
    return {**inherited, "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}", "CLONE": str(ROOT), "NO_COLOR": "1"}
