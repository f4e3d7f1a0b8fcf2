"""`attn profile`: what a student sees of their costs, in a bundle that has no solution to compare with."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.cli.conftest import Attn
from tests.conftest import ROOT

CUBIC = """

def attention_scores(Q, K):
    scores = np.zeros((len(Q), len(K)))
    for i in range(len(Q)):
        for j in range(len(K)):
            scores[i, j] = dot_product(Q[i], K[j]) + 0 * sum(len(k) for k in K)
    return scores
"""


SQUARE_OF_ROWS = """

def softmax(x, axis=-1):
    exps = np.exp(x - np.max(x, axis=axis, keepdims=True))
    np.ones((len(exps), len(exps))) @ exps
    return exps / np.sum(exps, axis=axis, keepdims=True)
"""


@pytest.fixture
def work(bundle: Path) -> Path:
    """The student's file of 02, with the solution in it."""
    return Path(
        shutil.copy(ROOT / "solutions/02_loop_attention/loop_attention.py", bundle / "modules/02_loop_attention")
    )


def test_the_solution_keeps_its_contract(attn: Attn, bundle: Path, work: Path) -> None:
    assert work.is_file()
    short = attn("profile", "loop_attention", cwd=bundle).stdout
    assert "OK           dot_product: multiplications in Python d\n" in short
    assert "Every cost keeps its limit." in short
    assert len(short.splitlines()) <= 24
    done = attn("profile", "loop_attention", "--all", cwd=bundle)
    assert done.returncode == 0, done.stderr
    assert "  multiplications in Python: n_q·n_k·d_k + n_q·n_k·d_v + 1" in done.stdout
    assert "OK: it must be n_q·n_k·d_k + n_q·n_k·d_v, at most 2 times as much" in done.stdout
    assert "the reference: n_q·n_k·d_k + n_q·n_k·d_v + 1" in done.stdout
    assert "if n_q and n_k double: 4 times as much" in done.stdout
    assert " 2048         536870913      64    4194304      16 MiB" in done.stdout
    assert "* yours, o the reference, . the limit" in done.stdout
    assert all(len(line) <= 80 for line in done.stdout.splitlines())


def test_a_cubic_term_is_named_with_its_line(attn: Attn, bundle: Path, work: Path, tmp_path: Path) -> None:
    work.write_text(work.read_text() + CUBIC)
    done = attn("profile", "2", "attention_scores", "--svg", tmp_path / "cost.svg", cwd=bundle)
    assert done.returncode == 1
    assert len(done.stdout.splitlines()) <= 24
    assert "TOO MUCH     rounds of Python loops: " in done.stdout
    assert "TOO MUCH: it may grow like n_q·n_k·d_k\n" in done.stdout
    assert "n_q·n_k² is more than n_q·n_k·d_k" in done.stdout
    number = work.read_text().splitlines().index(CUBIC.splitlines()[6]) + 1
    assert f"look at line {number}: scores[i, j] = dot_product" in done.stdout
    root = ElementTree.parse(tmp_path / "cost.svg").getroot()
    assert root.tag.endswith("svg")
    assert len(root.findall("{*}polyline")) == 3


def test_the_plot_varies_the_size_that_grows(attn: Attn, bundle: Path) -> None:
    work = Path(shutil.copy(ROOT / "solutions/01_softmax/softmax.py", bundle / "modules/01_softmax"))
    work.write_text(work.read_text() + SQUARE_OF_ROWS)
    done = attn("profile", "softmax", "softmax", "--all", cwd=bundle)
    assert "if m doubles: 3.99 times as much" in done.stdout
    assert "m = 2048\n" in done.stdout
    assert "with n = 64\n" in done.stdout
    assert "softmax\n  x is m × n\n" in done.stdout
    assert done.stdout.count("constant factors are free") == 1


def test_code_that_raises_is_not_measured(attn: Attn, bundle: Path, work: Path) -> None:
    guard = "    assert len(Q) < 9\n    scores"
    work.write_text(work.read_text() + CUBIC.replace("    scores", guard, 1))
    done = attn("profile", "2", "attention_scores", cwd=bundle)
    assert "TOO MUCH" not in done.stdout
    assert "NOT MEASURED" in done.stdout


def test_the_json_has_everything(attn: Attn, bundle: Path, work: Path) -> None:
    work.write_text(work.read_text() + "\n\ndef dot_product(a, b):\n    return a @ b\n")
    done = attn("profile", "2", "dot_product", "--json", cwd=bundle)
    assert done.returncode == 1
    (entry,) = json.loads(done.stdout)
    assert entry["function"] == "dot_product"
    assert [cost["verdict"] for cost in entry["costs"]] == ["fail"] * 3
    assert entry["forbidden"][0]["call"] == "@"
    assert entry["forbidden"][0]["line"] == len(work.read_text().splitlines())


def test_a_stub_says_what_is_missing(attn: Attn, bundle: Path) -> None:
    done = attn("profile", "softmax", "softmax", cwd=bundle)
    assert done.returncode == 1
    assert "NOT MEASURED rounds of Python loops: ?" in done.stdout
    assert "softmax raised NotImplementedError" in done.stdout


def test_a_file_that_cannot_be_loaded_is_named(attn: Attn, bundle: Path, work: Path) -> None:
    work.write_text("import nothing_of_the_kind\n")
    done = attn("profile", "2", cwd=bundle)
    assert done.returncode == 1
    assert "Your file could not be loaded: import raised ModuleNotFoundError" in done.stderr
    work.with_suffix(".ipynb").write_text("{")
    assert "the notebook is not JSON" in attn("profile", "2", cwd=bundle).stderr


def test_a_function_without_a_contract_is_a_usage_mistake(attn: Attn, bundle: Path) -> None:
    done = attn("profile", "softmax", "tanh", cwd=bundle)
    assert done.returncode == 2
    assert "there is no contract for 'tanh'" in done.stderr
    assert "softmax, log_softmax, softmax_with_temperature" in done.stderr
