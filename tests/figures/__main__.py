"""Write every figure again: `python -m tests.figures`."""

from __future__ import annotations

from tests.conftest import ROOT
from tests.figures.all_figures import all_figures

if __name__ == "__main__":
    for path, svg in all_figures().items():
        (ROOT / path).write_text(svg, encoding="utf-8")
        print(path)
