"""Write every figure again: `python -m docs.figures`."""

from __future__ import annotations

from docs.figures import tokens, tokens34
from docs.figures.all_figures import all_figures
from tests.conftest import ROOT

if __name__ == "__main__":
    for path, svg in (all_figures() | tokens.all_figures() | tokens34.all_figures()).items():
        (ROOT / path).write_text(svg, encoding="utf-8")
        print(path)
