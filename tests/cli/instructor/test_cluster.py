"""`attn cluster`, and the options of `attn grade` for other machines."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from cli.main import attn
from tests.conftest import ROOT

CLASS = str(ROOT / "examples" / "class")


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> CliRunner:
    """A runner in this repository's course."""
    monkeypatch.chdir(ROOT)
    return CliRunner()


def said(result: Result) -> str:
    """Return the sentence of a usage error, on one line."""
    assert result.exit_code == 2, result.output
    assert isinstance(result.exception, SystemExit)
    return " ".join(result.output.replace("\n", " ").split())


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--on", "tls://a", "--cluster", "local"], "use only one of them"),
        (["-o", "workers=2"], "--cluster-option needs --cluster"),
        (["--on", "tls://a", "--device", "cuda"], "GPU modules have a pool of their own: add --on-gpu"),
        (["--on", "dask://a"], "other machines need --to or --spool"),
        (["--cluster", "slurm"], "other machines need --to or --spool"),
        (["--on", "dask://node1", "--to", "TO"], "anyone who can reach node1 could run code as you"),
        (["--cluster", "slurm", "--to", "TO", "-o", "workers=some"], "workers must be a number"),
        (["--cluster", "kubernetes", "--to", "TO"], "--cluster kubernetes needs --certs"),
    ],
)
def test_options_that_cannot_be_are_refused(run: CliRunner, tmp_path: Path, options: list[str], words: str) -> None:
    given = [str(tmp_path / "out") if option == "TO" else option for option in options]
    assert words in said(run.invoke(attn, ["grade", CLASS, *given]))


def test_a_scheduler_for_all_needs_certificates(run: CliRunner) -> None:
    found = said(run.invoke(attn, ["cluster", "scheduler", "--host", "0.0.0.0"]))
    assert "without --certs, anyone who can reach this machine could run code as you" in found


def test_a_worker_needs_an_address_it_may_use(run: CliRunner) -> None:
    assert "needs certificates" in said(run.invoke(attn, ["cluster", "worker", "tls://login1:8786"]))


def test_certificates_and_the_script_that_uses_them(run: CliRunner, tmp_path: Path) -> None:
    folder = tmp_path / "certs"
    made = run.invoke(attn, ["cluster", "certs", str(folder), "--days", "30"])
    assert made.exit_code == 0
    assert "valid for 30 days" in made.output
    assert "has certificates already" in said(run.invoke(attn, ["cluster", "certs", str(folder)]))
    options = ["slurm", "dask://login1", "--certs", str(folder), "-o", "workers=8", "-o", "attn=/venv/bin/attn"]
    script = run.invoke(attn, ["cluster", "script", *options])
    assert script.exit_code == 0
    assert script.output.splitlines()[2] == "#SBATCH --array=1-8"
    last = script.output.splitlines()[-1]
    assert last == f"exec /venv/bin/attn cluster worker tls://login1:8786 --cores 8 --certs {folder}"
    assert "needs the address" in said(run.invoke(attn, ["cluster", "script", "slurm"]))


def test_the_manifest_is_printed(run: CliRunner) -> None:
    options = ["-o", "image=course:1", "-o", "claim=disk", "-o", "mount=/shared"]
    found = run.invoke(attn, ["cluster", "script", "kubernetes", *options])
    assert found.exit_code == 0
    assert found.output.startswith("apiVersion: v1\nkind: Service\n")
    assert "Kubernetes needs image" in said(run.invoke(attn, ["cluster", "script", "kubernetes"]))
