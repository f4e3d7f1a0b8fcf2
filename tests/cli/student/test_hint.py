"""The diagnosis of `attn test`, `attn hint`, and the misconceptions of a class."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.cli.conftest import Attn
from tests.conftest import ROOT

SOLUTIONS = ROOT / "solutions"
AXIS_ZERO = """

def softmax(x, axis=-1):
    x = np.asarray(x, dtype=float)
    exps = np.exp(x - x.max(axis=0))
    return exps / exps.sum(axis=0)
"""
AFTER = """

def masked_softmax(scores, mask, axis=-1):
    scores = np.asarray(scores) if np.asarray(scores).dtype.kind == "f" else np.asarray(scores, dtype=float)
    exps = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return exps / exps.sum(axis=axis, keepdims=True) * (np.asarray(mask) != 0)
"""


def write(bundle: Path, name: str, extra: str) -> Path:
    """Put a solution with a mistake into a bundle."""
    path = bundle / "modules" / name / f"{name[3:]}.py"
    path.write_text((SOLUTIONS / name / path.name).read_text() + extra)
    return path


def test_a_failure_is_explained_once(attn: Attn, bundle: Path) -> None:
    path = write(bundle, "01_softmax", AXIS_ZERO)
    done = attn("test", "softmax", cwd=bundle)
    assert done.returncode == 1
    line = path.read_text().splitlines().index("    exps = np.exp(x - x.max(axis=0))") + 1
    assert done.stdout.endswith(f"""
Fix first: softmax
softmax(np.array([[0., 2.], [1., 4.]]))
  yours:    [[0.2689, 0.1192], [0.7311, 0.8808]]
  expected: [[0.1192, 0.8808], [0.04743, 0.9526]]
  evidence: your rows sum to 0.3881, 1.612, your columns to 1
Likely: softmax is always taken along axis 0; the argument `axis` is not used
    (axis_zero)
Look at: softmax.py, near line {line}
Think: Compare softmax(x).sum(axis=0) with softmax(x).sum(axis=1) on a 2 × 3
    array. Which of them is all ones?
Next: fix it, then run `attn test softmax`. More help: `attn hint softmax`

To try this call, paste it after this command:
cd modules/01_softmax && python -i -c "from softmax import *"

All checks: attn test softmax --all
""")


@pytest.mark.exhaustive
@pytest.mark.parametrize(("name", "extra"), [("01_softmax", AXIS_ZERO), ("04_masks", AFTER)])
def test_the_bundle_names_what_the_grader_names(attn: Attn, bundle: Path, name: str, extra: str) -> None:
    path = write(bundle, name, extra)
    own = json.loads(attn("test", name, "--json", cwd=bundle).stdout)
    (graded,) = json.loads(attn("grade", path, "--json").stdout)
    assert own["diagnoses"] == graded["diagnoses"]
    assert [one["misconception"] for one in own["diagnoses"]] == [
        "axis_zero" if name == "01_softmax" else "mask_after_softmax"
    ]


def test_passing_checks_do_not_hide_a_known_mistake(attn: Attn, bundle: Path) -> None:
    write(
        bundle,
        "01_softmax",
        "\n\ndef softmax(x, axis=-1):\n    e = np.exp(x)\n    return e / e.sum(axis, keepdims=True)\n",
    )
    done = attn("test", "softmax", cwd=bundle)
    assert done.returncode == 0
    assert "5 of 5 visible checks pass." in done.stdout
    assert "Likely: the maximum is not subtracted before the exponentials" in done.stdout
    assert "yours:    [nan, nan]" in done.stdout


def test_right_code_is_left_alone(attn: Attn, bundle: Path) -> None:
    write(bundle, "01_softmax", "")
    assert attn("test", "softmax", cwd=bundle).stdout.endswith(
        "\n5 of 5 visible checks pass.\n49 of 49 stated properties hold.\nNext: attn complete softmax\n"
    )


@pytest.mark.exhaustive
def test_the_next_hint_comes_after_an_edit_and_a_failing_run(attn: Attn, bundle: Path) -> None:
    path = write(bundle, "01_softmax", AXIS_ZERO)

    def tier() -> str:
        return str(json.loads(attn("hint", "softmax", "--json", cwd=bundle).stdout)["tier"])

    refused = attn("hint", "softmax", cwd=bundle)
    assert (refused.returncode, refused.stdout) == (1, "")
    assert "Run `attn test softmax` first" in refused.stderr
    attn("test", "softmax", cwd=bundle)
    assert [tier(), tier()] == ["nudge", "nudge"]
    for expected in ("pointer", "worked", "worked"):
        path.write_text(path.read_text() + "# tried something\n")
        assert attn("hint", "softmax", cwd=bundle).returncode == 1
        attn("test", "softmax", cwd=bundle)
        assert tier() == expected
    shown = attn("hint", cwd=bundle).stdout
    head, likely = shown.splitlines()[:2]
    assert head.startswith("softmax, hint 3 of 3  ")
    assert likely.startswith("Likely: softmax is always taken along axis 0;")
    assert "\n\n  For the scores [0, 2, 1, 1, 1.5]" in shown
    write(bundle, "01_softmax", "")
    attn("test", "softmax", cwd=bundle)
    passing = attn("hint", "softmax", cwd=bundle)
    assert (passing.returncode, "Run `attn complete softmax`" in passing.stderr) == (1, True)


def test_the_first_hint_is_about_the_mistake_and_does_not_repeat_the_screen(attn: Attn, bundle: Path) -> None:
    def hint() -> tuple[str, str]:
        attn("test", "softmax", cwd=bundle)
        entry = json.loads(attn("hint", "softmax", "--json", cwd=bundle).stdout)
        return entry["misconception"], entry["tier"]

    path = write(bundle, "01_softmax", AXIS_ZERO)
    assert hint() == ("axis_zero", "nudge")
    shown = attn("hint", "softmax", cwd=bundle).stdout
    assert "Likely: softmax is always taken along axis 0" in shown
    assert "Compare softmax(x).sum(axis=0) with" not in shown  # `attn test` has asked that
    path.write_text(path.read_text() + "# tried something\n")
    assert hint() == ("axis_zero", "pointer")
    path.write_text(path.read_text().replace("axis=0)", "axis=-1, keepdims=True)"))  # another mistake, told anew
    assert hint() == ("ignores_axis", "nudge")


def test_another_function_begins_with_a_nudge(attn: Attn, bundle: Path) -> None:
    attn("test", "softmax", cwd=bundle)
    assert json.loads(attn("hint", "softmax", "--json", cwd=bundle).stdout)["function"] == "softmax"
    write(bundle, "01_softmax", "\n\ndef log_softmax(x, axis=-1):\n    raise NotImplementedError\n")
    attn("test", "softmax", cwd=bundle)
    entry = json.loads(attn("hint", "softmax", "--json", cwd=bundle).stdout)
    assert (entry["function"], entry["tier"]) == ("log_softmax", "nudge")


def test_a_class_is_told_what_it_believes(attn: Attn, tmp_path: Path) -> None:
    solution = (SOLUTIONS / "01_softmax" / "softmax.py").read_text()
    for name, text in (("ana", solution + AXIS_ZERO), ("ben", solution), ("cyd", solution + AXIS_ZERO)):
        (tmp_path / "class" / name / "01_softmax").mkdir(parents=True)
        (tmp_path / "class" / name / "01_softmax" / "softmax.py").write_text(text)
    done = attn("grade", tmp_path / "class", "--to", tmp_path / "out")
    likely = "softmax is always taken along axis 0; the argument `axis` is not used"
    assert f"  2 × 01_softmax axis_zero: ana, cyd\n      {likely}" in done.stdout
    (entry,) = json.loads((tmp_path / "out" / "misconceptions.json").read_text())
    assert entry == {
        "module": "01_softmax",
        "misconception": "axis_zero",
        "likely": "softmax is always taken along axis 0; the argument `axis` is not used",
        "submissions": ["ana", "cyd"],
        "count": 2,
    }
    shutil.rmtree(tmp_path / "class" / "ana")
    shutil.rmtree(tmp_path / "class" / "cyd")
    assert "What they believe" not in attn("grade", tmp_path / "class").stdout
