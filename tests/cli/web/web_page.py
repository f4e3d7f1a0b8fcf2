"""The web course in a real browser: what a student sees and does."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.cli.web.made import Files
from tests.pages.browser import Browser

PATIENCE = 300_000  # milliseconds; nothing is measured with it


class WebPage:
    """One window with the web course, and the addresses of everything that it asked for."""

    def __init__(self, page: Any, address: str) -> None:
        self.page = page
        self.address = address
        self.asked: list[str] = []
        self.problems: list[str] = []
        page.context.on("request", lambda request: self.asked.append(request.url))
        page.on("pageerror", lambda error: self.problems.append(str(error)))
        page.on("console", lambda one: self.problems.append(one.text) if one.type == "error" else None)
        page.set_default_timeout(PATIENCE)

    def open(self, module: str = "") -> None:
        """Open the page, and wait for Python."""
        self.page.goto(f"{self.address}#{module}")
        self.wait_for_python()

    def wait_for_python(self) -> None:
        self.page.locator("#python-text", has_text="Python is ready").wait_for()

    def write(self, text: str) -> None:
        """Replace the text in the editor as a student does who pastes it."""
        self.page.click(".cm-content")
        self.page.keyboard.press("ControlOrMeta+a")
        self.page.locator(".cm-content").evaluate(
            """(element, text) => {
                const clipboardData = new DataTransfer();
                clipboardData.setData("text/plain", text);
                element.dispatchEvent(new ClipboardEvent("paste", {clipboardData, bubbles: true, cancelable: true}));
            }""",
            text,
        )

    @property
    def code(self) -> str:
        """The text in the editor, as far as it is drawn."""
        return "\n".join(self.page.locator(".cm-line").all_inner_texts())

    @property
    def screen(self) -> str:
        return str(self.page.locator("#screen").inner_text())

    def press(self, button: str) -> str:
        """Press a button, wait for the end, and return the screen."""
        self.page.click(f"#{button}")
        return self.finished()

    def finished(self) -> str:
        """Wait until nothing runs, and return the screen."""
        self.page.locator('#result[aria-busy="false"]').wait_for()
        return self.screen

    def download(self, student: str, to: Path) -> Path:
        """Download the zip to hand in."""
        self.page.click("#download")
        self.page.fill("#student", student)
        with self.page.expect_download() as found:
            self.page.click("#ask-student button[value=yes]")
        found.value.save_as(to / found.value.suggested_filename)
        self.finished()
        return to / str(found.value.suggested_filename)

    def stored(self) -> dict[str, Any]:
        """Return the files that the browser keeps."""
        found: dict[str, Any] = self.page.evaluate(
            """() => new Promise(resolve => {
                const opening = indexedDB.open(`attnlab ${location.pathname}`);
                opening.onsuccess = () => {
                    const store = opening.result.transaction("files").objectStore("files");
                    const keys = store.getAllKeys(), all = store.getAll();
                    all.onsuccess = () => resolve(
                        Object.fromEntries(keys.result.map((one, at) => [one, all.result[at]])));
                };
            })"""
        )
        return found


@contextmanager
def web_page(browser: Browser, address: str, **options: Any) -> Iterator[WebPage]:
    """Open a window. An error in a script, or a request to another host, fails the test."""
    options = {"viewport": {"width": 1300, "height": 900}, "accept_downloads": True} | options
    context = browser.chromium.new_context(**options)
    found = WebPage(context.new_page(), address)
    try:
        yield found
    finally:
        context.close()
    assert found.problems == [], found.problems
    assert [url for url in found.asked if not url.startswith((address, f"blob:{address}", "data:"))] == []


class BareWorker:
    """The page's worker without the page, for many requests: it answers as the page's Python does."""

    def __init__(self, page: Any, address: str, python: dict[str, Any]) -> None:
        self.page = page
        page.goto(f"{address}page.css")  # of the same origin, and without a script of its own
        page.set_default_timeout(PATIENCE)
        page.evaluate(
            """python => new Promise((resolve, reject) => {
                window.worker = new Worker("worker.js");
                worker.onmessage = ({data}) => {
                    if (data.type === "ready") resolve();
                    if (data.type === "fault") reject(new Error(data.text));
                };
                worker.postMessage({type: "start", python});
            })""",
            python,
        )

    def attn(self, files: Files, *words: str) -> dict[str, Any]:
        """Run a command with these files, and return the answer; `screen` is what it prints."""
        request = json.dumps({"op": "attn", "words": words, "files": files})
        told, reply = self.page.evaluate(
            """request => new Promise((resolve, reject) => {
                let told = "";
                worker.onmessage = ({data}) => {
                    if (data.type === "told") told += data.text;
                    if (data.type === "answer") resolve([told, data.reply]);
                    if (data.type === "fault") reject(new Error(data.text));
                };
                worker.postMessage({type: "ask", request});
            })""",
            request,
        )
        return dict(json.loads(reply)) | {"screen": told}
