"""The reader of the documentation finds mistakes in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.acceptance.docs.blocks import blocks_of
from tests.acceptance.docs.running import ONCE, Reader, copy_of_bundle
from tests.acceptance.docs.spelling import misspelt

PAGE = """\
Some words.

<!-- not run: needs a network -->
```sh
make setup
```

<!-- by hand: touch made -->
```sh
cat <<'END' > text
# not a comment
END
ls made &&\\
  cd /      # two lines, one command
pwd
ls nothing  # exit status 2, as nothing is there

# a comment
```

Write `modules/NN_x/checks.py`:

```python file=modules/NN_x/checks.py
x = "NN"
```

- in a list

  ```console
  $ echo a
  a
  ```
"""


def test_blocks_are_found_with_what_is_said_of_them() -> None:
    network, commands, file, console = blocks_of("PAGE.md", PAGE)
    assert (network.not_run, network.line) == ("needs a network", 4)
    assert (commands.not_run, commands.by_hand) == ("", ("touch made",))
    assert [(one.line, one.status) for one in commands.commands] == [(10, 0), (13, 0), (15, 0), (16, 2)]
    assert (file.language, file.file, file.text) == ("python", "modules/NN_x/checks.py", 'x = "NN"\n')
    assert "`modules/NN_x/checks.py`" in file.above
    assert [one.text for one in console.commands] == ["echo a"]
    assert console.text == "$ echo a\na\n"
    with pytest.raises(ValueError, match="never closed"):
        blocks_of("PAGE.md", "```sh\nls\n")


def reader(folder: Path) -> Reader:
    (folder / "page" / "home").mkdir(parents=True)
    return Reader(folder / "page" / "home")


def test_a_block_is_typed_line_by_line(tmp_path: Path) -> None:
    someone = reader(tmp_path)
    for block in blocks_of("PAGE.md", PAGE)[:2]:
        someone.follow(block)
    assert someone.printed["pwd"] == "/\n"
    assert (someone.home / "text").read_text() == "# not a comment\n"


def test_a_file_is_written_over_that_of_a_new_module(tmp_path: Path) -> None:
    someone = reader(tmp_path)
    written = someone.home / "modules" / "09_x" / "checks.py"
    written.parent.mkdir(parents=True)
    block = blocks_of("PAGE.md", PAGE)[2]
    with pytest.raises(AssertionError, match=r"makes no checks\.py"):
        someone.follow(block)
    written.touch()
    someone.follow(block)
    assert written.read_text() == 'x = "09"\n'


@pytest.mark.parametrize("command", ["false", "true  # exit status 1", "attn tset", "attn grade nowhere.py"])
def test_a_command_that_ends_otherwise_is_noticed(command: str, tmp_path: Path) -> None:
    (block,) = blocks_of("PAGE.md", f"```sh\n{command}\n```\n")
    with pytest.raises(AssertionError, match=r"PAGE\.md:2"):
        reader(tmp_path).follow(block)


def test_what_several_pages_make_is_made_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    command = f"mkdir -p made && date +%N > made/{tmp_path.name}"
    monkeypatch.setitem(ONCE, command, "made")
    (block,) = blocks_of("PAGE.md", f"```sh\n{command}\n```\n")
    first, second, third = (reader(tmp_path / name) for name in "abc")
    (third.home / "made").mkdir()  # this page has made something else there before
    for someone in (first, second, third):
        someone.follow(block)
    times = [(someone.home / "made" / tmp_path.name).read_text() for someone in (first, second, third)]
    assert times[0] == times[1]
    assert times[0] != times[2]


def test_a_wrong_exit_status_is_noticed_where_a_page_gets_a_copy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = f"mkdir made && echo {tmp_path.name} && false"
    monkeypatch.setitem(ONCE, command, "made")
    right, wrong = (blocks_of("PAGE.md", f"```sh\n{command}{said}\n```\n")[0] for said in ("  # exit status 1", ""))
    reader(tmp_path / "a").follow(right)
    with pytest.raises(AssertionError, match="exit status 1, not 0"):
        reader(tmp_path / "b").follow(wrong)


def test_a_bundle_to_read_in_has_nothing_of_the_instructors(tmp_path: Path) -> None:
    assert {path.name for path in copy_of_bundle(tmp_path / "home").iterdir()} == {
        "modules",
        "constraints.txt",
        "course.toml",
    }


@pytest.mark.parametrize(
    ("command", "problem"),
    [
        ("attn grade class/ --module 1 --json > reports.json", ""),
        ("NO_COLOR=1 .venv/bin/attn dev check | tail -n 3 && make test", ""),
        ("attn --plain test softmax", ""),
        ("attn export github result report.json", ""),
        ("make bench PARTS=growth", ""),
        ("attn grad class/", "attn has no command grad"),
        ("attn --plain tset", "attn has no command tset"),
        ("attn dev chekc", "attn dev has no command chekc"),
        ("attn grade class/ --modul 1", "attn grade has no option --modul"),
        ("attn stats reports && attn test --to x", "attn test has no option --to"),
        ("attn grade class/ --to", "attn grade: Option '--to' requires an argument"),
        ("make tests", "make has no target tests"),
        ("python -m tests.nowhere", "there is no module tests.nowhere"),
        ("python examples/trem.py", "there is no examples/trem.py"),
    ],
)
def test_misspelt_commands_are_noticed(command: str, problem: str) -> None:
    assert misspelt(command).startswith(problem)
    assert bool(misspelt(command)) == bool(problem)
