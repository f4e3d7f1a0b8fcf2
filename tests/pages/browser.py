"""A real browser for the tests of pages: Chromium, driven by Playwright, and axe-core for accessibility."""

from __future__ import annotations

import importlib.util
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def missing_browser() -> str:
    """Return what is missing for tests in a browser; empty if nothing is."""
    for package in ("playwright", "axe_playwright_python"):
        if importlib.util.find_spec(package) is None:
            return f"{package} is not installed. Run: make setup"
    if executable() is None and not _own_browser():
        return "there is no Chromium. Run: make browser"
    return ""


def needs_browser() -> None:
    """Skip the test if there is no browser. In CI, fail."""
    if reason := missing_browser():
        pytest.fail(reason) if os.environ.get("CI") else pytest.skip(reason)


def executable() -> str | None:
    """Return the path of a Chromium of this system; None if there is none."""
    return next((path for name in _NAMES if (path := shutil.which(name))), None)


def _own_browser() -> bool:
    """Whether Playwright has installed its own browser."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        return Path(driver.chromium.executable_path).exists()


@dataclass(frozen=True)
class Browser:
    """A running browser. It has no network."""

    chromium: Any

    @contextmanager
    def page(self, path: Path, **options: Any) -> Iterator[Any]:
        """Open a page from disk; an error in its script, or a request to anywhere, fails the test."""
        context = self.chromium.new_context(offline=True, viewport={"width": 1100, "height": 900}, **options)
        page = context.new_page()
        problems: list[str] = []

        def refuse(dialog: Any) -> None:
            problems.append(f"dialog: {dialog.message}")
            dialog.dismiss()

        page.on("pageerror", lambda error: problems.append(f"error: {error}"))
        page.on("dialog", refuse)
        page.on("request", lambda request: problems.append(request.url) if request.url != path.as_uri() else None)
        try:
            page.goto(path.as_uri())
            yield page
        finally:
            context.close()
        assert problems == []

    @contextmanager
    def site_page(self, path: Path, asked: list[str], query: str = "") -> Iterator[Any]:
        """Open a page that has files beside it, and note the address of everything that it asks for."""
        context = self.chromium.new_context(offline=True, viewport={"width": 1100, "height": 900})
        page = context.new_page()
        page.on("request", lambda request: asked.append(request.url))
        try:
            page.goto(f"{path.as_uri()}?{query}" if query else path.as_uri())
            yield page
        finally:
            context.close()


@contextmanager
def open_browser() -> Iterator[Browser]:
    """Start Chromium. As root it cannot use its own sandbox; it only ever opens our own files."""
    from playwright.sync_api import sync_playwright

    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=executable(), args=arguments)
        try:
            yield Browser(chromium)
        finally:
            chromium.close()


def violations(page: Any, *rules: str) -> list[str]:
    """Return what axe-core finds wrong with a page, by all or some rules, each with the first element that shows it."""
    page.evaluate(files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8"))
    # What is far below the screen is not drawn yet, so axe would not look at it.
    page.evaluate(
        "document.querySelectorAll('.big, .module').forEach(one => { one.style.contentVisibility = 'visible'; })"
    )
    only = list(rules or RULES)
    found = page.evaluate("only => axe.run(document, {runOnly: only, resultTypes: ['violations']})", only)
    return [f"{one['id']}: {one['help']} ({one['nodes'][0]['html'][:200]})" for one in found["violations"]]
