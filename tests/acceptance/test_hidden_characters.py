"""Characters that could hide or forge text: from a class that uses all of them everywhere to everything we write."""

from __future__ import annotations

import csv
import io
import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from grader.core.csv_table import csv_text
from grader.core.json_record import json_text
from grader.core.report import Report, report_from
from grader.core.safe_text import plain_name, printable, visible, visible_line
from grader.course.course import Course
from grader.platforms.github_actions import error_commands, summary
from grader.platforms.gradescope.results import GradescopeOptions, results_of, write_results
from grader.platforms.nbgrader.scores import NotGradedError, scores_of
from grader.platforms.prairielearn import results as prairielearn
from tests.cli.conftest import EXECUTABLE
from tests.conftest import ROOT

pytestmark = pytest.mark.exhaustive  # every way to write, for every such character
HIDDEN = [
    *map(chr, (*range(1, 32), *range(0x7F, 0xA0))),  # C0, DEL, C1
    *"\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c",  # directions
    *"\u200b\u200c\u200d\u2060\ufeff\u00ad\u180e\u2061\u034f\u115f\u3164\uffa0",  # not seen at all
    *"\u2028\u2029",  # ends of lines
    *"\udc80\udcff",  # bytes that are not text, as Python reads a file name
    *"\U000e0001\U000e0041\U000e007f\U000e0100\ufe0f\ue000\U0010ffff",  # tags, selectors, private, not a character
]
IN_A_NAME = 8  # so that no name is cut before its last character
GROUPS = ["".join(HIDDEN[start : start + IN_A_NAME]) for start in range(0, len(HIDDEN), IN_A_NAME)]
WAYS = {
    "raises": "def tiny(x):\n    print(TEXT)\n    raise type('E' + TEXT, (ValueError,), {})(TEXT)  # TEXT\n",
    "lines": "def tiny(x):\n    raise ValueError('a\\n' + TEXT + '\\nscore 10 / 10')\n",
    "import": "raise ImportError(TEXT)\n",
    "name": "def tiny(x):\n    return {TEXT: TEXT}\ntiny.__name__ = tiny.__qualname__ = TEXT\n",
    "syntax": "def tiny(x):\n    return '# TEXT' +\n",
    "exits": "import sys\ndef tiny(x):\n    sys.stderr.write(TEXT)\n    sys.exit(TEXT)\n",
}


# It loops where no loop is allowed, so `attn profile` shows that line.
COSTLY = """
def softmax(x, axis=-1):
    total = [a for a in np.ravel(x)]  # TEXT
    return np.exp(x) / np.sum(np.exp(x), axis=axis, keepdims=True)
"""


def source_of(code: str, text: str) -> str:
    """Return a submission with a text in its names, messages, strings and comments."""
    raw = "".join(c for c in text if c not in "\r\n" and not 0xD800 <= ord(c) < 0xE000)  # else it is not Python
    return f"import numpy as np\nTEXT = {text!a} + '{raw}'\n" + code.replace("# TEXT", f"# {raw}")


@dataclass(frozen=True)
class Sinks:
    """Everything that was written, by name. `decoded` holds the strings of JSON that a platform shows."""

    texts: dict[str, str] = field(default_factory=dict)
    decoded: dict[str, Any] = field(default_factory=dict)
    reports: list[Report] = field(default_factory=list)


@pytest.fixture(scope="module")
def sinks(built: Course, tmp_path_factory: pytest.TempPathFactory) -> Sinks:
    """Grade one class of such submissions, and export it everywhere."""
    root = tmp_path_factory.mktemp("hidden")
    course = Path(shutil.copytree(built.root, root / "course"))
    folder, out = root / "class", root / "out"
    for number, group in enumerate(GROUPS):
        student = folder / f"s{number}{group}x"
        student.mkdir(parents=True)
        way = list(WAYS)[number % len(WAYS)]
        (student / f"tiny{group}.py").write_bytes(source_of(WAYS[way], group).encode("utf-8", "replace"))
    text = "".join(HIDDEN)
    cell = {"cell_type": "code", "source": f"def tiny(x): raise ValueError({text!a})", "metadata": {text: text}}
    notebook = {
        "nbformat": 4,
        "metadata": {"name": text, "student": text},
        "cells": [cell, {**cell, "outputs": [text]}],
    }
    (folder / "book").mkdir()
    (folder / "book" / "tiny.ipynb").write_text(json.dumps(notebook))
    (folder / f"z{GROUPS[4]}.zip").write_bytes(b"PK no")
    names = "".join(f'{number},"Roster {group}x"\n' for number, group in enumerate(GROUPS[1:]) if "\udcff" not in group)
    (root / "roster.csv").write_text(f'id,name\n"book","Book {GROUPS[10]}x"\n{names}', newline="")
    found = Sinks()

    def run(name: str, *arguments: object, cwd: Path = course) -> None:
        command = [os.fsencode(EXECUTABLE), *(os.fsencode(str(one)) for one in arguments)]
        done = subprocess.run(command, cwd=cwd, capture_output=True, check=False)
        assert done.returncode in (0, 1, 3) or name.startswith("refused"), (name, done.stderr)
        found.texts[f"{name}: stdout"] = done.stdout.decode()
        found.texts[f"{name}: stderr"] = done.stderr.decode()

    run("grade", "grade", folder, "-m", "tiny", "--to", out, "--roster", root / "roster.csv", "--allow-unjailed")
    assert "not on the roster" in found.texts["grade: stderr"]
    run("grade json", "grade", folder, "-m", "tiny", "--json", "--to", out, "--resume", "--allow-unjailed")
    first = next(path for path in sorted(folder.iterdir()) if path.is_dir())
    run("grade one", "grade", next(first.iterdir()), "-m", "tiny", "--allow-unjailed")
    run("refused", "grade", folder / f"no{GROUPS[5]}.py", folder / f"z{GROUPS[4]}.zip")
    run("stats", "stats", out, "--all")
    run("stats json", "stats", out, "--json")
    run("csv", "export", "csv", out, "--out", root / "students.csv")
    run("csv checks", "export", "csv", out, "--checks", "--out", root / "checks.csv")
    run("canvas", "export", "canvas", out, "--out", root / "canvas.csv")
    run("canvas roster", "export", "canvas", out, "--out", root / "canvas2.csv", "--roster", root / "roster.csv")
    run("junit", "export", "junit", out, "--out", root / "junit.xml")
    run("jplag", "export", "jplag", folder, "-m", "tiny", "--out", root / "jplag")
    for way in ("raises", "name"):
        (course / "modules" / "01_tiny" / "tiny.py").write_text(source_of(WAYS[way], text), newline="")
        run(f"test {way}", "test", "tiny")
    shutil.copytree(ROOT / "modules", root / "bundle" / "modules")
    (root / "bundle" / "modules" / "01_softmax" / "softmax.py").write_text(source_of(COSTLY, text), newline="")
    run("profile", "profile", "softmax", cwd=root / "bundle")
    run("profile json", "profile", "softmax", "--json", cwd=root / "bundle")
    assert "look at line 5: total" in found.texts["profile: stdout"]
    for path in [*out.rglob("*"), *root.glob("*.*"), *(root / "jplag").rglob("*.json")]:
        if path.is_file() and path != root / "roster.csv":
            found.texts[str(path.relative_to(root))] = path.read_bytes().decode()
    for path in sorted((out / "01_tiny").iterdir()):
        report = report_from(json.loads(path.read_text()))
        found.reports.append(report)
        write_results(root / "results.json", results_of(report, GradescopeOptions(), seconds=1.0))
        found.texts[f"gradescope {path.name}"] = (root / "results.json").read_text()
        found.decoded[f"gradescope {path.name}"] = json.loads((root / "results.json").read_text())
        found.decoded[f"report {path.name}"] = report.as_json()
        found.decoded[f"prairielearn {path.name}"] = json.loads(
            prairielearn.results_text(prairielearn.results_of(report, "shown"))
        )
        found.texts[f"github {path.name}"] = "\n".join([*error_commands(report), summary(report)])
        try:
            found.decoded[f"nbgrader {path.name}"] = [score.comment for score in scores_of(report)]
        except NotGradedError as error:
            found.decoded[f"nbgrader {path.name}"] = str(error)
    return found


def strings_in(data: Any) -> Iterator[str]:
    if isinstance(data, str):
        yield data
    elif isinstance(data, dict | list | tuple):
        for one in [*data, *data.values()] if isinstance(data, dict) else data:
            yield from strings_in(one)


def leaks(text: str) -> list[str]:
    return [hex(ord(c)) for c in HIDDEN if c in text]


def test_nothing_that_we_write_has_a_hidden_character(sinks: Sinks) -> None:
    assert len(sinks.reports) == len(GROUPS) + 1  # a broken zip has a reason and no report
    for name, text in sinks.texts.items():
        lines = text.replace("\r\n", "\n") if name.endswith(".csv") else text  # the line ends of RFC 4180
        own_print = name.startswith(("test ", "github "))  # a student's own print may have tabs
        allowed = ("0xa", "0x9") if own_print else ("0xa",)
        assert [one for one in leaks(lines) if one not in allowed] == [], name


def test_cells_of_tables_are_single_lines(sinks: Sinks) -> None:
    tables = [name for name in sinks.texts if name.endswith(".csv")]
    assert len(tables) >= 5
    for name in tables:
        cells = [cell for row in csv.reader(io.StringIO(sinks.texts[name], newline="")) for cell in row]
        assert not any("\n" in cell or "\t" in cell for cell in cells), name


def test_nothing_that_a_platform_decodes_has_a_hidden_character(sinks: Sinks) -> None:
    assert {name.split()[0] for name in sinks.decoded} == {"report", "gradescope", "prairielearn", "nbgrader"}
    for name, data in sinks.decoded.items():
        for text in strings_in(data):
            assert [one for one in leaks(text) if one not in ("0xa", "0x9")] == [], (name, text)


def test_every_character_is_shown_as_an_escape(sinks: Sinks) -> None:
    for sink in ("grade: stdout", "out/grades.csv", "students.csv", "junit.xml"):
        for character in HIDDEN:
            escape = {"\n": "\\n", "\t": "\\t"}.get(character, f"\\u{{{ord(character):x}}}")
            assert escape in sinks.texts[sink], (sink, escape)


def test_students_stay_different(sinks: Sinks) -> None:
    assert len({report.submission for report in sinks.reports}) == len(sinks.reports)


def test_no_line_of_a_screen_is_forged(sinks: Sinks) -> None:
    for name in ("grade: stdout", "grade one: stdout", "test raises: stdout"):
        assert not any(line.startswith("score 10") for line in sinks.texts[name].splitlines())


SAFE: dict[str, str] = {
    "Persian with ZWNJ": "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
    "Hindi with ZWJ": "\u0915\u094d\u200d\u0937",
    "Sinhala with ZWJ": "\u0dc1\u0dca\u200d\u0dbb\u0dd3",
    "Bengali with ZWNJ": "\u0989\u09a6\u09cd\u200c\u09af",
    "Arabic": "\u0645\u062d\u0645\u062f",
    "Hebrew with points": "\u05e9\u05c1\u05b8\u05dc\u05d5\u05b9\u05dd",
    "Chinese with a variant": "\u845b\U000e0100\u57ce",
    "emoji with a selector": "\u2764\ufe0f",
    "emoji with a skin tone": "\U0001f44d\U0001f3fd",
    "decomposed accents": "Zoe\u0308",
    "Vietnamese": "Nguyễn Thị Ánh",
}


@pytest.mark.parametrize("name", SAFE.values(), ids=SAFE.keys())
def test_names_in_any_script_stay_as_they_are(name: str) -> None:
    for way in (visible, visible_line, plain_name, printable):
        assert way(name) == name
    assert json_text([name]) == json.dumps([name], indent=1, ensure_ascii=False)
    assert name in csv_text(["name"], [[name]])


@pytest.mark.parametrize(
    "text",
    [
        "an\u200da",  # Latin letters need no joiner
        "\u200d\u0915",
        "\u0915\u200d",
        "\u0915\u200d\u200d\u0915",
        "\u0915\u200da",
        "1\u200c2",
        "a\ufe0f",
        "1\ufe0f",
        "\u05d0\ufe0f",
        "\u845b\U000e0100\U000e0100",
        "\u2764\ufe0f\ufe0f",
        "\U0001f469\u200d\U0001f4bb",
    ],
)
@pytest.mark.parametrize("way", [visible, plain_name, printable])
def test_joiners_and_selectors_that_hide_are_shown(way: Callable[[str], str], text: str) -> None:
    assert "\\u{" in way(text)
    assert visible(way(text)) == way(text)


def test_formgrader_shows_hidden_characters_in_code(tmp_path: Path) -> None:
    pytest.importorskip("nbgrader")
    from grader.platforms.nbgrader.exporter import plain_notebook

    text = "".join(HIDDEN).replace("\n", "").replace("\t", "")
    cells: list[dict[str, Any]] = [
        {"cell_type": kind, "source": f"a\r\n\tb{text}", "metadata": {}} for kind in ("code", "markdown", "raw")
    ]
    (tmp_path / "tiny.ipynb").write_text(json.dumps({"nbformat": 4, "metadata": {}, "cells": cells}))
    shown = [cell.source for cell in plain_notebook(tmp_path / "tiny.ipynb", {}).cells]
    assert len(shown) == 3
    assert shown[0].startswith("a\n\tb\\u{1}")
    assert [one for cell in shown for one in leaks(cell) if one not in ("0xa", "0x9")] == []


def test_escaped_json_is_the_same_data() -> None:
    data = {character: [f"ä{character}ß", {"x": character * 2}] for character in HIDDEN}
    text = json_text(data)
    assert json.loads(text) == data
    assert [one for one in leaks(text) if one != "0xa"] == []
