"""`attn explain` and `attn show` with attention that is right, wrong or not written yet."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from cli.attention import sentences as example
from grader.course.notebook import make_notebook
from tests.cli.conftest import EXECUTABLE, Attn
from tests.conftest import ROOT
from tests.modules import lessons

LOOPS = "02_loop_attention"
ARRAYS = "03_attention"
HEAD = "\n\nclass ScaledDotProductAttention(ScaledDotProductAttention):\n    "
Work = Callable[..., Path]


@pytest.fixture
def work(bundle: Path) -> Work:
    """Write a solution and some code of a student after it into the bundle, and return the file."""

    def write(module: str, more: str = "") -> Path:
        file = f"{module}/{module[3:]}.py"
        path = bundle / "modules" / file
        path.write_text((ROOT / "solutions" / file).read_text() + more)
        return path

    return write


def numbers(line: str) -> list[float]:
    return [float(word) for word in line.split()[1:4]]


def test_the_example_is_that_of_the_lessons() -> None:
    assert list(example.TOKENS) == lessons.TOKENS
    for ours, theirs in ((example.Q, lessons.Q), (example.K, lessons.K), (example.V, lessons.V)):
        assert np.array_equal(ours, theirs)


@pytest.mark.parametrize("module", [LOOPS, ARRAYS])
def test_a_token_is_followed_through_every_stage(attn: Attn, bundle: Path, work: Work, module: str) -> None:
    work(module)
    done = attn("explain", "CAT", cwd=bundle)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == f"{module} ({module[3:]}.py): what cat looks at"
    assert lines[2].split() == ["token", "raw", "scaled", "weight"]
    weights = lessons.weights(lessons.Q, lessons.K)[1]
    for line, token, raw, weight in zip(lines[3:8], lessons.TOKENS, lessons.Q[1] @ lessons.K.T, weights, strict=True):
        assert line.split()[0] == token
        assert numbers(line) == pytest.approx([raw, raw / 2, weight], abs=5e-5)
        assert line.count("#") == round(30 * weight)
    assert "  output  [0.4602 0.1475 0.3018 0.2058]" in lines
    assert max(map(len, lines)) <= 80
    assert attn("explain", "2", "--module", module[3:], cwd=bundle).stdout == done.stdout


@pytest.mark.exhaustive
def test_the_latest_module_that_was_begun_is_looked_at(attn: Attn, bundle: Path, work: Work) -> None:
    assert attn("explain", "cat", cwd=bundle).stdout.startswith(LOOPS)  # none was
    work(ARRAYS)
    assert attn("explain", "cat", cwd=bundle).stdout.startswith(ARRAYS)
    work(LOOPS)
    assert attn("explain", "cat", cwd=bundle).stdout.startswith(ARRAYS)
    assert attn("explain", "cat", "-m", "2", cwd=bundle).stdout.startswith(LOOPS)


def test_a_notebook_is_looked_at_too(attn: Attn, bundle: Path) -> None:
    notebook = bundle / "modules" / LOOPS / "loop_attention.ipynb"
    notebook.write_text(make_notebook((ROOT / "solutions" / LOOPS / "loop_attention.py").read_text(), "loop_attention"))
    done = attn("show", "--causal", cwd=bundle)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("02_loop_attention (loop_attention.ipynb): who looks at whom, causal mask\n")


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("module", "stages"),
    [
        (LOOPS, ["attention_scores", "scale_factor", "scaled_dot_product_attention"]),
        (ARRAYS, ["compute_scores", "scale_scores", "compute_weights", "compute_output"]),
    ],
)
def test_the_trace_ends_where_nothing_is_written(
    attn: Attn, bundle: Path, work: Work, module: str, stages: list[str]
) -> None:
    for reached, stage in enumerate(stages):
        indent = "" if module == LOOPS else "    "
        begin = "\n\n" if module == LOOPS else HEAD.removesuffix("    ")
        work(module, f"{begin}{indent}def {stage}(*args, **kwargs):\n{indent}    raise NotImplementedError\n")
        done = attn("explain", "cat", cwd=bundle)
        assert done.returncode == 1
        assert f"  {stage} is not written yet: the trace ends here.\n" in done.stdout
        shown = [name for name in ("raw", "scaled", "weight") if f"  {name}  " in done.stdout]
        assert shown == ["raw", "scaled", "weight"][:reached]
        assert ("  The  " in done.stdout) == (reached > 0)
        assert "output  [" not in done.stdout
        assert f"`attn test {module[3:]}` says more." in done.stdout


def test_an_untouched_stub_says_what_comes_first(attn: Attn, bundle: Path) -> None:
    for module, first in ((LOOPS, "attention_scores"), (ARRAYS, "compute_scores")):
        done = attn("explain", "cat", "--module", module, cwd=bundle)
        assert done.returncode == 1
        assert f"{first} is not written yet: the trace ends here." in done.stdout
        done = attn("show", "--module", module, cwd=bundle)
        assert done.returncode == 1
        assert "scaled_dot_product_attention is not written yet: there is no map to show." in done.stdout


def test_what_is_missing_below_is_named(attn: Attn, bundle: Path, work: Work) -> None:
    work(ARRAYS, f"{HEAD}def compute_weights(self, scaled, mask=None):\n        raise NotImplementedError\n")
    done = attn("show", cwd=bundle)
    assert done.returncode == 1
    told = " ".join(done.stdout.split())
    assert "scaled_dot_product_attention needs compute_weights, which is not written yet" in told


WRONG = [
    (LOOPS, "\ndef attention_scores(Q, K):\n    return (Q @ K.T)[:4]\n", "has the shape (4, 5), expected (5, 5)"),
    (LOOPS, "\ndef attention_scores(Q, K):\n    return [1] * 1000\n", "of shape (5, 5), got a list of length 1000"),
    (LOOPS, "\ndef scale_factor(d_k):\n    return 0.0\n", "should be a number to divide by, got 0.0"),
    (LOOPS, "\ndef scale_factor(d_k):\n    return 1e-320\n", "holds 22 values that are NaN or infinite"),
    (LOOPS, "\ndef scale_factor(d_k):\n    return np.ones(d_k)\n", "to divide by, got an array of shape (4,)"),
    (LOOPS, "\ndef scaled_dot_product_attention(Q, K, V):\n    return V\n", "the pair (output, weights), got an"),
    (LOOPS, "\ndef scaled_dot_product_attention(Q, K, V):\n    return V, V\n", "(weights) of scaled_dot_product"),
    (ARRAYS, "\ndef ScaledDotProductAttention(d_k):\n    return 3\n", "an object with methods, got 3"),
    (ARRAYS, f"{HEAD}def compute_scores(self, Q, K):\n        return Q * 1j\n", "has the shape (5, 4)"),
    (ARRAYS, f"{HEAD}def scale_scores(self, s):\n        return s / 0\n", "values that are NaN or infinite"),
    (ARRAYS, f"{HEAD}def compute_weights(self, s):\n        return s @ 'x'\n", "compute_weights raised"),
    (
        ARRAYS,
        f"{HEAD}def compute_output(self, w, V):\n        import os; os._exit(3)\n",
        "ended the Python process",
    ),
    (ARRAYS, f"{HEAD}def compute_output(self, w, V):\n        raise ValueError('\\x1b[2J' * 999)\n", "\\u{1b}[2J"),
    (ARRAYS, f"{HEAD}def __init__(self, d):\n        raise NotImplementedError('later')\n", "Error: later"),
]


@pytest.mark.exhaustive
@pytest.mark.parametrize(("module", "more", "told"), WRONG)
def test_wrong_code_is_told_in_words(attn: Attn, bundle: Path, work: Work, module: str, more: str, told: str) -> None:
    work(module, more)
    done = attn("explain", "mat", cwd=bundle)
    assert done.returncode == 1, done.stderr
    assert told in " ".join(done.stdout.split())
    assert "the trace ends here." in " ".join(done.stdout.split())
    assert "\x1b" not in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80


@pytest.mark.exhaustive
def test_weights_that_are_no_shares_are_said(attn: Attn, bundle: Path, work: Work) -> None:
    work(ARRAYS, f"{HEAD}def compute_weights(self, s, mask=None):\n        return s\n")
    done = attn("explain", "cat", cwd=bundle)
    assert done.returncode == 0
    assert "  The weights of cat sum to 3.25, not to 1.\n" in done.stdout
    done = attn("show", cwd=bundle)
    assert done.returncode == 0
    assert done.stdout.count("not to 1.") == 5
    work(ARRAYS, f"{HEAD}def compute_weights(self, s, mask=None):\n        return -4e307 * (s + 1)\n")
    done = attn("show", cwd=bundle)
    assert done.returncode == 0
    assert done.stderr == ""
    assert "cat has negative weights: The" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert json.loads(attn("show", "--json", cwd=bundle).stdout, parse_constant=pytest.fail)["sums"] == [None] * 5


@pytest.mark.exhaustive
@pytest.mark.parametrize("module", [LOOPS, ARRAYS])
@pytest.mark.parametrize("causal", [False, True])
def test_the_map_has_every_weight_and_its_sum(
    attn: Attn, bundle: Path, work: Work, module: str, causal: bool, tmp_path: Path
) -> None:
    work(module)
    flags = ["--causal"] if causal else []
    done = attn("show", *flags, "--svg", tmp_path / "map.svg", cwd=bundle)
    assert done.returncode == 0, done.stderr
    assert "map.svg" in done.stderr
    lines = done.stdout.splitlines()
    assert lines[2].split() == ["query", *lessons.TOKENS, "sum"]
    weights = lessons.weights(lessons.Q, lessons.K, np.tri(5) if causal else None)
    for line, token, row in zip(lines[3:8], lessons.TOKENS, weights, strict=True):
        assert [word for word in line.split() if word[0] in "0123456789"] == [f"{w:.2f}" for w in (*row, 1)]
        assert line.split()[0] == token
    assert max(map(len, lines)) <= 80
    picture = ElementTree.parse(tmp_path / "map.svg").getroot()
    texts = [element.text for element in picture.findall("{*}text")]
    assert [text for text in texts if text and text[0] in "01"] == [f"{w:.2f}" for w in weights.ravel()]
    assert all(texts.count(token) == 2 for token in lessons.TOKENS)
    assert picture.findtext("{*}title") == f"Attention by {module}, {'causal mask' if causal else 'no mask'}"
    assert f"cat looks at The {weights[1, 0]:.2f}, cat" in (picture.findtext("{*}desc") or "")
    assert not [name for element in picture.iter() for name in element.attrib if "href" in name]


@pytest.mark.exhaustive
def test_shades_are_plain_where_the_terminal_is(bundle: Path, work: Work) -> None:
    work(LOOPS)

    def shown(encoding: str) -> str:
        environment = os.environ | {"PYTHONIOENCODING": encoding}
        command = [EXECUTABLE, "show", "--causal"]
        done = subprocess.run(command, cwd=bundle, env=environment, capture_output=True, check=True)
        return done.stdout.decode(encoding)

    plain = shown("ascii").splitlines()
    assert plain[3].split() == ["The", "1.00", "@@", "0.00", "0.00", "0.00", "0.00", "1.00"]
    assert plain[4].split()[:5] == ["cat", "0.82", "%%", "0.18", "::"]
    assert "1.00 ██    0.00       0.00" in shown("utf-8")


@pytest.mark.exhaustive
def test_a_mask_that_is_ignored_is_said(attn: Attn, bundle: Path, work: Work) -> None:
    work(
        LOOPS,
        "\n\nkept = scaled_dot_product_attention\n"
        "def scaled_dot_product_attention(Q, K, V, mask=None):\n    return kept(Q, K, V)\n",
    )
    done = attn("show", "--causal", cwd=bundle)
    assert done.returncode == 0
    assert "  cat looks at sat, on and mat, which the mask blocks.\n" in done.stdout
    assert "  on looks at mat, which the mask blocks.\n" in done.stdout
    assert "blocks" not in attn("show", cwd=bundle).stdout


def test_the_numbers_as_json(attn: Attn, bundle: Path, work: Work) -> None:
    path = work(ARRAYS)
    told = json.loads(attn("explain", "on", "--json", cwd=bundle).stdout)
    weights = lessons.weights(lessons.Q, lessons.K)
    assert (told["module"], told["file"], told["token"]) == (ARRAYS, "attention.py", "on")
    assert told["tokens"] == lessons.TOKENS
    assert told["raw"] == [1, 1, 0, 2, 1]
    assert told["weights"] == pytest.approx(weights[3])
    assert told["output"] == pytest.approx(weights[3] @ lessons.V)
    assert (told["problem"], told["notes"]) == (None, [])
    told = json.loads(attn("show", "--json", cwd=bundle).stdout)
    assert np.allclose(told["weights"], weights)
    assert told["sums"] == pytest.approx([1] * 5)
    path.write_text(path.read_text() + f"{HEAD}def scale_scores(self, scores):\n        raise NotImplementedError\n")
    done = attn("explain", "on", "--json", cwd=bundle)
    assert done.returncode == 1
    told = json.loads(done.stdout)
    assert (told["scaled"], told["weights"], told["output"]) == (None, None, None)
    assert told["problem"] == "scale_scores is not written yet"


def test_a_failing_map_draws_nothing(attn: Attn, bundle: Path, tmp_path: Path) -> None:
    assert attn("show", "--svg", tmp_path / "map.svg", cwd=bundle).returncode == 1
    assert not (tmp_path / "map.svg").exists()


@pytest.mark.exhaustive
def test_a_file_that_cannot_be_loaded_is_the_students_to_mend(attn: Attn, bundle: Path, work: Work) -> None:
    work(LOOPS).write_text("import nothing_of_the_kind\n")
    for command in (["explain", "cat"], ["show"]):
        done = attn(*command, cwd=bundle)
        assert done.returncode == 1
        assert "Your file could not be loaded: import raised ModuleNotFoundError" in done.stderr
        assert done.stdout == ""


@pytest.mark.parametrize(
    ("command", "told"),
    [
        (["explain", "dog"], "there is no token 'dog' in the sentence. Use one of The, cat, sat, on, mat, or 1 to 5."),
        (["explain", "0"], "there is no token '0'"),
        (["explain", "6"], "there is no token '6'"),
        (["explain"], "Missing argument 'TOKEN'"),
        (["explain", "cat", "--module", "softmax"], "03_attention, not with 01_softmax"),
        (["show", "--module", "4"], "not with 04_masks"),
        (["show", "--module", "atention"], "Did you mean attention?"),
    ],
)
def test_a_wrong_question_says_what_can_be_asked(attn: Attn, bundle: Path, command: list[str], told: str) -> None:
    done = attn(*command, cwd=bundle)
    assert done.returncode == 2
    assert told in done.stderr


def test_a_bundle_without_attention_says_so(attn: Attn, bundle: Path) -> None:
    for module in (LOOPS, ARRAYS):
        shutil.rmtree(bundle / "modules" / module)
    done = attn("show", cwd=bundle)
    assert done.returncode == 2
    assert "and neither is here" in done.stderr


@pytest.mark.parametrize("command", ["explain", "show"])
def test_help_teaches_by_example(attn: Attn, command: str) -> None:
    assert f"attn {command} " in attn("--commands").stdout
    assert f"  attn {command} " in attn(command, "--help").stdout
