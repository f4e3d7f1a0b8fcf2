"""Whether this is the Python of a browser: there is one process, and a page with buttons instead of a terminal."""

from __future__ import annotations

import sys

IN_BROWSER = sys.platform == "emscripten"
