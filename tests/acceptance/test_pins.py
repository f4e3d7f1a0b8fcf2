"""The pins of constraints.txt can be installed with every Python that we promise, and nothing has to be compiled."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from itertools import chain

import pytest

from tests.conftest import ROOT

OLDEST, NEWEST = "3.11.0", "3.14"
LINUX = ("x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu")
# Students only: a class is graded on Linux. PyTorch has no wheels for older versions of macOS.
STUDENTS = ("x86_64-pc-windows-msvc", "aarch64-apple-darwin")
MACOS = "14.0"
CASES = [
    pytest.param(python, platform, extra, id=f"{platform.split('-')[0]}-{platform.split('-')[2]}-{python}", marks=marks)
    for extra, platforms in (("dev", LINUX), ("torch", STUDENTS))
    for platform in platforms
    for python in (OLDEST, NEWEST)
    for marks in ([] if (python, platform) == (OLDEST, LINUX[0]) else [pytest.mark.exhaustive],)
]
NO_NETWORK = ("Failed to fetch", "error sending request", "dns error", "Could not connect", "timed out")


def resolved(python: str, platform: str, extra: str) -> str:
    """Return what pip would install, as pinned lines; skip the test without a network. In CI, fail."""
    command = [sys.executable, "-m", "uv", "pip", "compile", "--quiet", "--only-binary", ":all:", "--no-header"]
    command += ["--no-annotate", "-c", "constraints.txt", "--python-version", python, "--python-platform", platform]
    done = subprocess.run(
        [*command, "pyproject.toml", "--extra", extra],
        cwd=ROOT,
        env=os.environ | {"MACOSX_DEPLOYMENT_TARGET": MACOS},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode and any(words in done.stderr for words in NO_NETWORK):
        reason = f"the package index cannot be reached: {done.stderr.strip().splitlines()[0]}"
        pytest.fail(reason) if os.environ.get("CI") else pytest.skip(reason)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(("python", "platform", "extra"), CASES)
def test_the_pins_hold(python: str, platform: str, extra: str) -> None:
    found = dict(re.findall(r"^([\w.-]+)==([^\s;]+)", resolved(python, platform, extra), re.MULTILINE))
    assert {"numpy", "click", "torch"} <= found.keys()


def test_every_direct_dependency_is_pinned() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    named = chain(project["dependencies"], *project["optional-dependencies"].values())
    direct = {re.split(r"[\[><=~! ]", name)[0].lower() for name in named} - {"attnlab"}
    pinned = set(re.findall(r"^([\w.-]+)==", (ROOT / "constraints.txt").read_text().lower(), re.MULTILINE))
    assert direct <= {name.replace("_", "-") for name in pinned}


def test_the_oldest_python_is_the_promised_one() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["requires-python"] == f">={OLDEST.removesuffix('.0')}"
