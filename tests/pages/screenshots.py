"""Draw the screenshots of docs/pages.md: `python -m tests.pages.screenshots` grades the example class for it.

With names, such as page-explorer.png, only those are drawn.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
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
    ("page-explorer.png", "explorer.html", ".stage:nth-child(4)", "light", 600),
)
EXPLORED = ("03_attention", "04_masks", "08_positions")
NO_SCALING = "\n\nScaledDotProductAttention.scale_scores = lambda self, scores: scores\n"


def main() -> None:
    """Make the pages in a temporary folder, and draw them."""
    shots = [shot for shot in SHOTS if shot[0] in (sys.argv[1:] or [one[0] for one in SHOTS])]
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        if any(page != "explorer.html" for _, page, *_ in shots):
            _class_pages(folder)
        if any(page == "explorer.html" for _, page, *_ in shots):
            _explorer(folder)
        with open_browser() as browser:
            for name, page, part, scheme, height in shots:
                with browser.page(folder / page, color_scheme=scheme) as opened:
                    opened.set_viewport_size({"width": 1000, "height": height})
                    opened.locator(part).first.evaluate("one => one.scrollIntoView()")
                    opened.wait_for_timeout(300)  # for the fonts and the motion: nothing says when they end
                    opened.screenshot(path=str(DOCS / name))


def _class_pages(folder: Path) -> None:
    (folder / "roster.csv").write_text(ROSTER)
    _attn("grade", "examples/class", "--to", folder / "reports", "--roster", folder / "roster.csv")
    _attn("feedback", folder / "reports", "--to", folder / "pages")
    _attn("dashboard", folder / "reports", "--to", folder / "dashboard.html")


def _explorer(folder: Path) -> None:
    """Make the explorer of a student who forgets the scale."""
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(ROOT / "course.toml", folder)
    for name in EXPLORED:
        shutil.copytree(ROOT / "modules" / name, folder / "modules" / name)
        file = f"{name}/{name[3:]}.py"
        code = (ROOT / "solutions" / file).read_text() + (NO_SCALING if name == EXPLORED[0] else "")
        (folder / "modules" / file).write_text(code)
    _attn("explore", cwd=folder)


def _attn(*words: object, cwd: Path = ROOT) -> None:
    done = subprocess.run([EXECUTABLE, *map(str, words)], cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stderr


if __name__ == "__main__":
    main()
