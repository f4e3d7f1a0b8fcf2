"""The files that set AttnLab up elsewhere do what the documentation says: Docker, the dev container, the workflows."""

from __future__ import annotations

import json
import re

import pytest
import yaml

from grader import __version__
from tests.acceptance.docs.blocks import blocks_of
from tests.acceptance.docs.spelling import misspelt
from tests.conftest import ROOT

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def documented() -> set[str]:
    """Return the commands of README and CONTRIBUTING."""
    blocks = [block for page in ("README.md", "CONTRIBUTING.md") for block in blocks_of(page)]
    return {command.text.partition("#")[0].strip() for block in blocks for command in block.commands}


def test_docker_and_the_dev_container_run_the_documented_set_up() -> None:
    container = json.loads((ROOT / ".devcontainer" / "devcontainer.json").read_text())
    runs = re.findall(r"^RUN (.*)$", (ROOT / "Dockerfile").read_text(), re.MULTILINE)
    assert {container["postCreateCommand"], runs[-1]} == {"make setup"} <= documented()


@pytest.mark.parametrize("name", [path.name for path in WORKFLOWS])
def test_a_workflow_runs_what_exists(name: str) -> None:
    jobs = yaml.safe_load((ROOT / ".github" / "workflows" / name).read_text())["jobs"]
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    runs = [step["run"] for job in jobs.values() for step in job["steps"] if "run" in step]
    assert runs
    for run in runs:
        for target in re.findall(r"\bmake (\S+)", run):
            assert target in targets
        for file in re.findall(r"\btests/\S+", run):
            assert (ROOT / file).is_file()
        if run.startswith("attn "):
            assert not misspelt(run)


def test_the_changelog_begins_with_this_version() -> None:
    assert re.findall(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)[0] == __version__
