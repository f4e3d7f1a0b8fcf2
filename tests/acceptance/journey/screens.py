"""The student's main screens as text: `python -m tests.acceptance.journey.screens` rewrites them."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from grader.authoring.misconceptions import as_submission, read_misconceptions
from grader.course.course import read_course

ROOT = Path(__file__).parents[3]
FOLDER = Path(__file__).with_name("screens")
MISTAKES = {
    "softmax_over_axis_0": ("01_softmax", "axis_zero"),
    "no_scaling": ("02_loop_attention", "no_scaling"),
    "softmax_over_the_queries": ("03_attention", "softmax_over_queries"),
    "mask_after_softmax": ("04_masks", "mask_after_softmax"),
}


class _Bundle:
    """A student's bundle, without its wheel."""

    def __init__(self, root: Path) -> None:
        self.root = root
        shutil.copytree(ROOT / "modules", root / "modules", ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(ROOT / "course.toml", root)

    def file(self, name: str) -> Path:
        return self.root / "modules" / name / f"{name[3:]}.py"

    def solve(self, name: str) -> None:
        shutil.copy(ROOT / "solutions" / name / f"{name[3:]}.py", self.file(name))

    def spoil(self, name: str, mistake: str) -> None:
        course = read_course(ROOT)
        module = course.module(name)
        (way,) = [one for one in read_misconceptions(course, module) if one.name == mistake]
        (text,) = as_submission(course, module, way).sources[module.slug].cells
        self.file(name).write_text(text)

    def attn(self, *arguments: str) -> str:
        command = [str(Path(sys.executable).with_name("attn")), *arguments]
        done = subprocess.run(
            command, cwd=self.root, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
        )
        shown = done.stdout.replace(str(self.root.resolve()), "<the bundle>")
        return f"$ attn {' '.join(arguments)}\n{shown}[exit status {done.returncode}]\n"


def screens(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield the name and the text of every screen, in the order of a student's day."""
    bundle = _Bundle(folder)
    yield "help", bundle.attn("--help")
    yield "first_look", bundle.attn() + bundle.attn("status")
    yield "start", bundle.attn("start", "softmax") + bundle.attn("start", "attention")
    yield "stub", bundle.attn("test", "softmax")
    for title, (name, mistake) in MISTAKES.items():
        bundle.spoil(name, mistake)
        yield title, bundle.attn("test", name)
    yield "hint", bundle.attn("hint", "softmax") + bundle.attn("hint", "masks")
    yield "everything", bundle.attn("test", "softmax", "--all")
    bundle.solve("01_softmax")
    yield "passing", bundle.attn("test", "softmax") + bundle.attn("hint", "softmax")
    yield "complete", bundle.attn("complete", "softmax") + bundle.attn("next")
    bundle.solve("03_attention")
    yield "explain_and_show", bundle.attn("explain", "cat") + bundle.attn("show", "--causal")
    yield "reset", bundle.attn("reset", "masks", "--yes")
    yield (
        "submit",
        bundle.attn("submit", "--student", "ana") + bundle.attn("submit", "--anyway") + bundle.attn("status"),
    )


def main() -> None:
    """Write every screen into its file."""
    FOLDER.mkdir(exist_ok=True)
    for path in FOLDER.glob("*.txt"):
        path.unlink()
    with tempfile.TemporaryDirectory() as folder:
        for name, text in screens(Path(folder)):
            (FOLDER / f"{name}.txt").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
