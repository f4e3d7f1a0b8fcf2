"""Hostile content: text of students is shown as text, and nothing of it runs or hides."""

from __future__ import annotations

import base64
import hashlib
import re

import pytest

from grader.classroom.class_results import CheckInfo, ClassResults, StudentResult
from grader.core.atomic_file import file_name
from grader.pages.dashboard_page import MisconceptionText, dashboard
from grader.pages.feedback_pages import FeedbackPages, PageLink, index_page
from grader.pages.rendering import render
from grader.pages.report_page import report_page
from tests.pages.made import ReadPage, made_mark, made_report, read_page

HOSTILE = {
    "script": "<script>alert(1)</script>",
    "closing": "</pre></style></title></script><script>alert(1)</script>",
    "handler": '"><img src=x onerror=alert(1)>',
    "attribute": "' onmouseover='alert(1)",
    "svg": '<svg onload="alert(1)"><a href="javascript:alert(1)">x</a></svg>',
    "template": "{{ 7 * 7 }}{% raw %}${7*7}",
    "comment": "<!--><script>alert(1)</script-->]]>",
    "ansi": "\x1b[31mred\x1b[0m\x07\x00\r",
    "bidi": "\u202egnp.exe\u2066\u200b\ufeff\u2028",
    "surrogate": "\ud800",
}
TAGS = {
    *(
        "html",
        "head",
        "meta",
        "title",
        "style",
        "body",
        "header",
        "main",
        "section",
        "footer",
        "a",
        "p",
        "h1",
        "h2",
        "h3",
    ),
    *("strong", "span", "code", "pre", "mark", "ol", "ul", "li", "dl", "div", "dt", "dd", "figure", "figcaption"),
    *("table", "caption", "thead", "tbody", "tr", "th", "td", "svg", "rect", "path", "text", "polyline"),
}
CONTROLS = {"script", "article", "nav", "form", "label", "select", "option", "input"}


def report_text(text: str) -> str:
    page = report_page(made_report(text), made_mark(text, name=text, comment=text, section=text), text)
    return render("report.html", title=page.title, page=page)


def dashboard_text(text: str) -> str:
    mark = made_mark(text, name=text, section=text, late_s=60.0, comment=text)
    other = made_mark("ben", name="Ben", section="Mon")
    checks = {"01_softmax": {text: CheckInfo(text, "hidden", text, text, 1.0)}}
    results = tuple(StudentResult(one, frozenset({text}), (text, "b"), text, 1.0, text) for one in (mark, other))
    found = ClassResults(results, checks, (), (made_mark(text, final=1.0),), {"01_softmax": {text: text}})
    return dashboard(found, lambda *_: MisconceptionText(text, text, text), text)


def index_text(text: str) -> str:
    link = PageLink(text, text, text, text, f"{file_name(text)}.html", text, text)
    return index_page(FeedbackPages((link,), (text,)), text)


def assert_harmless(page: ReadPage, text: str, scripts: int = 0) -> None:
    assert page.tags <= TAGS | (CONTROLS if scripts else set())
    assert not [name for _, name in page.attributes if name.startswith("on") or name == "style"]
    assert all(value.startswith("#") or re.fullmatch(r"[\w%./-]*", value) for value in page.values), page.values
    assert len(page.scripts) == scripts
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f\u200b\u202a-\u202e\u2028\u2066-\u2069\ufeff]", text)
    assert page.policy.startswith("default-src 'none'")
    assert "unsafe" not in page.policy


@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_text_is_shown_as_text(kind: str) -> None:
    text = report_text(HOSTILE[kind])
    assert_harmless(read_page(text), text)
    index = index_text(HOSTILE[kind])
    assert_harmless(read_page(index), index)
    shown = dashboard_text(HOSTILE[kind])
    assert_harmless(read_page(shown), shown, scripts=2)
    if kind in ("script", "handler", "svg", "template"):
        assert HOSTILE[kind] in read_page(text).text
        assert HOSTILE[kind] in read_page(shown).text


def test_a_million_characters_are_cut() -> None:
    for made in (report_text("x" * 1_000_000), dashboard_text("<" * 1_000_000), index_text("x" * 1_000_000)):
        assert len(made) < 1_500_000
        assert "more characters)" in made


def test_only_our_script_and_style_may_run() -> None:
    text = dashboard_text("words")
    page = read_page(text)
    data, script = page.scripts
    assert data.startswith("[{")
    for name, content in (
        ("script-src", script),
        ("style-src", re.findall(r"<style>(.*?)</style>", text, re.DOTALL)[0]),
    ):
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"{name} 'sha256-{digest}'" in page.policy
    assert "script-src" not in read_page(report_text("words")).policy


def test_page_asks_nothing_of_a_network() -> None:
    for text in (report_text("words"), dashboard_text("words"), index_text("words")):
        assert not re.search(
            r"(https?:)?//[a-z]|url\(|@import|<link|<iframe|<object", text.replace("http://www.w3.org", "")
        )
