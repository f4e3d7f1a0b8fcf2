"""How long the page takes to start, as ratios to a plain start of Pyodide in the same run.

`python -m tests.cli.web.starts FOLDER` measures the folder of a web course: CPU time of the whole browser, and the time
that a student waits.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
from playwright.sync_api import sync_playwright

from tests.cli.web.made import served
from tests.cli.web.web_page import PATIENCE, WebPage
from tests.pages.browser import executable

PLAIN = """() => new Promise((resolve, reject) => {
    const text = `importScripts("${location.origin}/python/pyodide.js");
        loadPyodide({indexURL: "${location.origin}/python/"}).then(() => postMessage("ready"))`;
    const worker = new Worker(URL.createObjectURL(new Blob([text], {type: "text/javascript"})));
    worker.onmessage = resolve;
    worker.onerror = event => reject(new Error(event.message));
})"""


def plain_start(page: Any, address: str) -> None:
    """Start Pyodide and nothing else."""
    page.goto(f"{address}page.css")
    page.evaluate(PLAIN)


def page_start(page: Any, address: str) -> None:
    """Open the course, and wait until Python is ready."""
    WebPage(page, address).open()


def measured(address: str, profile: Path, start: Callable[[Any, str], None]) -> tuple[float, float]:
    """Return the CPU time and the waiting time of a start in a new browser with this profile."""
    with sync_playwright() as driver:
        arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
        context = driver.chromium.launch_persistent_context(
            str(profile), executable_path=executable(), args=arguments, headless=True
        )
        page = context.new_page()
        page.set_default_timeout(PATIENCE)
        before, began = _cpu_seconds(), time.monotonic()
        start(page, address)
        found = _cpu_seconds() - before, time.monotonic() - began
        page.wait_for_timeout(3_000)  # the browser writes its caches
        context.close()
    return found


def _cpu_seconds() -> float:
    """Return the CPU time of all processes that this one has started."""
    total = 0.0
    for process in psutil.Process().children(recursive=True):
        try:
            times = process.cpu_times()
        except psutil.Error:
            continue
        total += times.user + times.system
    return total


def main() -> None:
    """Print the measured times and their ratios."""
    with served(Path(sys.argv[1])) as address, tempfile.TemporaryDirectory() as scratch:
        plain = measured(address, Path(scratch, "plain"), plain_start)
        first = measured(address, Path(scratch, "course"), page_start)
        second = measured(address, Path(scratch, "course"), page_start)
    print(f"{'':<14} {'CPU':>7} {'waiting':>9}   ratios to a plain start")
    for name, one in (("plain Pyodide", plain), ("first start", first), ("second start", second)):
        ratios = f"{one[0] / plain[0]:.2f}, {one[1] / plain[1]:.2f}"
        print(f"{name:<14} {one[0]:>5.1f} s {one[1]:>7.1f} s   {ratios}")
    print(f"second to first: {second[0] / first[0]:.2f} of the CPU time, {second[1] / first[1]:.2f} of the waiting")


if __name__ == "__main__":
    main()
