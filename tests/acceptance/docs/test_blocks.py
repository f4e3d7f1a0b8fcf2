"""Every block of commands in the documentation is run, or says why it cannot be."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from tests.acceptance.docs.blocks import OTHERS, PAGES, SHELL, all_blocks, blocks_of, inline_code
from tests.acceptance.docs.running import Reader, copy_of_bundle, copy_of_clone
from tests.acceptance.docs.spelling import misspelt, wrong_attn
from tests.acceptance.own_course import foreign_files
from tests.conftest import ROOT, needs_jail

AUTHORING = "docs/authoring.md"
FOR_STUDENTS = {"docs/student.md"}  # read in a bundle; everything else in a clone
NOT_RUN = 17  # a handful, and those that need other machines; more would mean that the pages are not tested any more


def reader_of(page: str, folder: Path) -> Reader:
    needs_jail()
    home = folder / page.replace("/", "_") / "attnlab"
    return Reader(copy_of_bundle(home) if page in FOR_STUDENTS else copy_of_clone(home))


def runnable(page: str) -> bool:
    return any(block.file or (block.is_shell and not block.not_run) for block in blocks_of(page))


# These pages play a term with nbgrader, grade classes, and make and run what other platforms take: minutes each.
LONG = {
    "README.md",
    "docs/cluster.md",
    "docs/nbgrader.md",
    "docs/export.md",
    "docs/grading.md",
    "docs/instructor.md",
    "docs/pages.md",
    "docs/student.md",
}
RUNNABLE = [
    pytest.param(page, marks=pytest.mark.exhaustive if page in LONG else ())
    for page in PAGES
    if runnable(page) and page != AUTHORING
]


@pytest.mark.parametrize("page", RUNNABLE)
def test_the_commands_of_a_page_work(page: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    reader = reader_of(page, tmp_path_factory.mktemp("page"))
    for block in blocks_of(page):
        reader.follow(block)


@pytest.mark.exhaustive
def test_following_the_authoring_guide_ends_with_a_sound_module(tmp_path: Path) -> None:
    needs_jail()
    reader = Reader(tmp_path / "home")
    reader.home.mkdir()
    for block in blocks_of(AUTHORING):
        if block.file:
            assert f"`{block.file}`" in block.above, f"{block.place}: the reader is not told which file this is"
        reader.follow(block)
        if (reader.home / "signals").is_dir():
            reader.home /= "signals"  # as the page says
    (promised,) = (block.text for block in blocks_of(AUTHORING) if block.language == "text")
    assert re.sub(r"^\d\d_", "NN_", reader.printed["attn dev check rms_norm"]) == promised
    assert (reader.home.parent / "week1" / "modules" / "02_rms_norm" / "rms_norm.py").is_file()
    assert list(foreign_files(tmp_path)) == []


def test_few_blocks_are_not_run_and_their_commands_exist() -> None:
    left_out = [block for block in all_blocks() if block.not_run]
    for block in left_out:
        print(f"{block.place} is not run: {block.not_run}")
        assert block.is_shell, block.place
        for command in block.commands:
            assert not (problem := misspelt(command.text)), f"{block.page}:{command.line}: {problem}"
    assert len(left_out) <= NOT_RUN
    assert all(len(block.not_run) > 10 for block in left_out)


def test_every_block_says_what_it_is() -> None:
    for block in all_blocks():
        assert block.language in SHELL | OTHERS, f"{block.place}: {block.language!r} is not a known language"


@pytest.mark.parametrize("page", [*PAGES, "CHANGELOG.md"])
def test_what_is_mentioned_exists(page: str) -> None:
    """Commands and options in sentences, and in the examples of the commands' own help."""
    mentions = [code for code in inline_code(page) if code.startswith("attn ")]
    if page == "docs/commands.md":
        examples = "\n".join(block.text for block in blocks_of(page))
        mentions = re.findall(r"^ *(attn \w.*?)(?:  .*| \\)?$", examples, re.MULTILINE)
    for code in mentions:
        words = shlex.split(re.sub(r"\[|\]|…|\.\.\.$", "", code))[1:]
        assert not (problem := wrong_attn(words, strict=False)), f"{page}: `{code}`: {problem}"


@pytest.mark.parametrize("page", PAGES)
def test_files_that_are_mentioned_are_there(page: str) -> None:
    for code in inline_code(page):
        mentioned = re.fullmatch(r"(cli|docs|examples|grader|modules|solutions|tests)/[\w./-]*", code)
        if mentioned and not re.search("NN_|rms_norm", code):  # what the guide's reader makes
            assert (ROOT / code).exists(), f"{page}: there is no {code}"


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page: str) -> None:
    text = (ROOT / page).read_text()
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text):
        if "://" not in target:
            assert ((ROOT / page).parent / target).exists(), f"{page}: {target}"


def test_the_index_names_every_page() -> None:
    index = (ROOT / "docs" / "README.md").read_text()
    for path in sorted((ROOT / "docs").iterdir()):
        if path.name != "README.md" and path.suffix in (".md", ".json"):
            assert f"]({path.name})" in index, f"docs/README.md does not name {path.name}"
