"""The site: every link leads somewhere, no page asks another host or shows a solution, and all can use it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from click.testing import CliRunner

from cli.author.site.__main__ import main
from cli.author.site.build import SiteError, build_site, site_leaks
from cli.author.site.site_map import site_map, strangers
from grader.course.course import Course
from tests.conftest import ROOT
from tests.pages.browser import Browser, needs_browser, open_browser, violations

PAGES = ("index.html", "lessons/01_softmax.html")
MORE = ("guides/instructor.html", "lessons/12_transformer.html", "explorer.html")
LINE = "return shifted - np.log(np.exp(shifted).sum(axis=axis, keepdims=True))"


@pytest.fixture(scope="module")
def site(course: Course, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site") / "site"
    build_site(course, folder)
    return folder


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    needs_browser()
    with open_browser() as running:
        yield running


class Links(HTMLParser):
    """What a page refers to, and the names inside it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.targets: list[str] = []
        self.names: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        del tag
        for key, value in attrs:
            if key in ("href", "src") and value:
                self.targets.append(value)
            elif key == "id" and value:
                self.names.add(value)


def loose_ends(folder: Path) -> Iterator[str]:
    """Yield every reference inside a site that leads nowhere, and every file that would come from another host."""
    pages = {path: Links(path.read_text(encoding="utf-8")) for path in folder.rglob("*.html")}
    for path, links in pages.items():
        for target in links.targets:
            parts = urlsplit(target)
            if parts.scheme in ("http", "https", "mailto"):
                continue  # a link that a reader may follow: the browser test shows that none is loaded
            there = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            names = pages[there].names if there in pages else None
            if not there.exists() or (parts.fragment and names is not None and parts.fragment not in names):
                yield f"{path.relative_to(folder)}: {target}"


@pytest.mark.exhaustive
def test_every_page_is_there_and_every_link_leads_somewhere(course: Course, site: Path) -> None:
    assert all((site / f"{page.place}.html").is_file() for page in site_map(course))
    assert list(loose_ends(site)) == []


@pytest.mark.exhaustive
def test_a_broken_link_is_found(site: Path, tmp_path: Path) -> None:
    shutil.copytree(site, tmp_path / "site")
    (tmp_path / "site" / "guides" / "syllabus.html").unlink()
    assert any("syllabus.html" in one for one in loose_ends(tmp_path / "site"))


def test_every_page_of_the_docs_has_a_section() -> None:
    assert strangers(ROOT) == set()


@pytest.mark.exhaustive
def test_formulas_are_mathml(site: Path) -> None:
    text = (site / "lessons" / "01_softmax.html").read_text(encoding="utf-8")
    assert "<mfrac>" in text
    assert "$" not in Text(text).words


class Text(HTMLParser):
    """The words of a page outside of scripts and code."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.words = ""
        self._inside = 0
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        del attrs
        self._inside += tag in ("script", "style", "pre", "code")

    def handle_endtag(self, tag: str) -> None:
        self._inside -= tag in ("script", "style", "pre", "code")

    def handle_data(self, data: str) -> None:
        if not self._inside:
            self.words += data


@pytest.mark.exhaustive
def test_a_line_of_a_solution_stops_the_site(course: Course, site: Path, tmp_path: Path) -> None:
    line = LINE
    assert line in course.solution(course.modules[0]).read_text(encoding="utf-8")
    assert list(site_leaks(course, site)) == []
    coloured = "".join(f"<span>{word}</span> " for word in line.split())
    (tmp_path / "page.html").write_text(f"<pre><code>a = 1\n{coloured}\n</code></pre>")
    assert "solution of 01_softmax" in next(site_leaks(course, tmp_path))


@pytest.mark.exhaustive
def test_a_site_with_a_leak_is_not_written(course: Course, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cli.author.site.build._run_sphinx", lambda _, __, built, ___: planted(built))
    with pytest.raises(SiteError, match="students must not have"):
        build_site(course, tmp_path / "site")
    assert not (tmp_path / "site").exists()


def planted(folder: Path) -> None:
    folder.mkdir()
    (folder / "index.html").write_text(f"<p>{LINE}</p>")


def test_a_missing_package_is_said_in_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cli.author.site.build.NEEDED", ("no_such_package",))
    done = CliRunner().invoke(main, [str(tmp_path / "site")])
    assert done.exit_code == 1
    assert "no_such_package is not installed. Run: pip install 'attnlab[site]'" in done.output


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", [*PAGES, *MORE])
def test_a_page_is_accessible_and_stays_at_home(browser: Browser, site: Path, name: str) -> None:
    asked: list[str] = []
    with browser.site_page(site / name, asked) as page:
        assert violations(page) == []
    assert [url for url in asked if not url.startswith(site.as_uri())] == []


@pytest.mark.exhaustive
def test_a_reader_finds_a_lesson_by_searching(browser: Browser, site: Path) -> None:
    asked: list[str] = []
    with browser.site_page(site / "search.html", asked, query="q=overflow") as page:
        page.wait_for_selector("ul.search li a")
        assert any("01_softmax" in link.get_attribute("href") for link in page.query_selector_all("ul.search li a"))
