"""`attn release --web`: what it refuses, and what it says without npm."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from cli.web.archives import write_libraries
from cli.web.build import WebError, make_web, require_possible
from grader.authoring.npm import NpmError, NpmPackage, fetch_packages, pinned_packages, this_system
from grader.course.course import Course
from tests.cli.conftest import Attn


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["torch_attention"], "05_torch_attention needs PyTorch, which does not run in a browser. Use --bundle for it"),
        (["positions"], "08_positions is not one of those for a browser: `web` in course.toml. Use --bundle"),
        (["softmax", "--bundle"], "use only one of --bundle, --solutions and --web"),
        (["softmax", "--to", "elsewhere"], "--web already names the folder"),
        (["softmax", "--due", "2026-10-01"], "--due and --force are for assignments"),
    ],
)
def test_what_cannot_be_released_is_refused(attn: Attn, tmp_path: Path, words: list[str], sentence: str) -> None:
    done = attn("release", "--web", tmp_path / "site", *words)
    assert done.returncode == 2
    assert sentence in " ".join(done.stderr.split())
    assert not (tmp_path / "site").exists()


def test_without_npm_one_sentence_says_what_to_do(
    course: Course, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(
        WebError, match=r"^npm is not installed, and .* lacks pyodide@.* Install Node\.js, or "
    ) as found:
        make_web(course, course.modules[:1], tmp_path / "site", tmp_path / "runtime")
    assert "\n" not in str(found.value)
    assert not (tmp_path / "site").exists()


def test_a_package_with_another_hash_is_refused(tmp_path: Path) -> None:
    package = NpmPackage("@a/b", "1.0.0", "sha512-AAAA")
    (tmp_path / "a-b-1.0.0.tgz").write_bytes(b"not the pinned one")
    with pytest.raises(NpmError, match=r"is not the pinned @a/b 1\.0\.0: its hash differs"):
        fetch_packages([package], tmp_path)


def test_every_package_is_pinned_by_a_hash() -> None:
    packages = pinned_packages()
    assert all(one.integrity.startswith("sha512-") and len(one.integrity) == 95 for one in packages)
    assert [one.name for one in packages if one.only] == [f"@esbuild/{this_system()}"]


def test_the_first_four_modules_are_possible(course: Course) -> None:
    require_possible(course, course.modules[:4])


def test_names_and_sizes_are_in_the_order_of_the_bytes(tmp_path: Path) -> None:
    listed = write_libraries(tmp_path / "libraries", {"b.so": b"two", "a.so": b"1"})
    data = gzip.decompress((tmp_path / "libraries").read_bytes())
    assert listed == [("a.so", 1), ("b.so", 3)]
    assert data == b"1two"
