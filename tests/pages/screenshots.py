"""Draw the screenshots of docs/pages.md: `python -m tests.pages.screenshots` grades the example class for it."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

from tests.cli.conftest import EXECUTABLE
from tests.conftest import ROOT
from tests.pages.browser import open_browser
from tests.pages.made import ROSTER

DOCS = ROOT / "docs"
# The picture, the page, the part at its top, the colours, and how much of it.
SHOTS = (
    ("page-report.png", "pages/01_softmax/farah.html", "#f-2", "light", 640),
    ("page-costs.png", "pages/01_softmax/ben.html", ".plot", "light", 620),
    ("page-dashboard.png", "dashboard.html", "header", "light", 620),
    ("page-dashboard-dark.png", "dashboard.html", "#w0", "dark", 620),
)


def main() -> None:
    """Grade the example class into a temporary folder, make its pages, and draw them."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        (folder / "roster.csv").write_text(ROSTER)
        _attn("grade", "examples/class", "--to", folder / "reports", "--roster", folder / "roster.csv")
        _attn("feedback", folder / "reports", "--to", folder / "pages")
        _attn("dashboard", folder / "reports", "--to", folder / "dashboard.html")
        with open_browser() as browser:
            for name, page, part, scheme, height in SHOTS:
                with browser.page(folder / page, color_scheme=scheme) as opened:
                    opened.set_viewport_size({"width": 1000, "height": height})
                    opened.locator(part).first.evaluate("one => one.scrollIntoView()")
                    opened.wait_for_timeout(300)
                    opened.screenshot(path=str(DOCS / name))


def _attn(*words: object) -> None:
    done = subprocess.run([EXECUTABLE, *map(str, words)], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stderr


if __name__ == "__main__":
    main()
