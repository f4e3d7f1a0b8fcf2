"""Signs that code detects or changes how it is measured, found in its text.

The meters run beside the student's code, so that code could tamper with them. A sign is not a proof: the costs become
inconclusive, and an instructor must check them. The text is searched, never parsed: deep nesting can crash Python's
own parser.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

_MODULES = "grader|gc|inspect|ctypes|importlib|threading|multiprocessing|_thread|builtins"
_ATTRIBUTES = "__code__|__globals__|__builtins__|__subclasses__|_getframe|settrace|setprofile|tb_frame|gi_frame"
_FRAME = "f_globals|f_locals|f_back|co_names"
_SCOPES = "globals|vars|locals"
# The names in torch by which code can see the modes that watch it, or leave them.
_TORCH = "DisableTorch|_pop_mode|current_modes|_python_dispatch|torch_function_stack|dispatch_mode|_C"
_OUR_NAMES = "attn_"
# Every match of the pattern contains one of these words. Searching for plain words first is ten times faster.
_WORDS = (_OUR_NAMES, "modules", *"|".join((_MODULES, _ATTRIBUTES, _FRAME, _SCOPES, _TORCH)).split("|"))
_EVASION = re.compile(
    rf"{_OUR_NAMES}(?:meter|slice)?\b"  # our own names, complete or in parts; students use names such as attn_mask
    rf"|^\s*(?:import|from)\b[^#\n]*?\b(?:{_MODULES})\b"
    rf"|__import__\s*\(\s*['\"](?:{_MODULES})\b"
    rf"|\b(?:{_ATTRIBUTES}|{_FRAME})\b"
    r"|\bsys\s*\.\s*modules\b"
    r"|\btorch\s*\.\s*_C\b|\w*(?:DisableTorch|_pop_mode|current_modes|_python_dispatch)\w*"
    r"|\w*(?:torch_function_stack|dispatch_mode)\w*|\bimport\s+_C\b"
    rf"|\b(?:{_SCOPES})\s*\(\s*\)\s*\["
)


def evasions(files: Mapping[str, Mapping[str, Any]]) -> dict[str, tuple[str, int]]:
    """Return the signs found in a student's files: the text of each, with its file and line."""
    found: dict[str, tuple[str, int]] = {}
    for source in files.values():
        for number, data in enumerate(source["cells"], 1):
            name = f"{source['file']}[{number}]" if source["notebook"] else source["file"]
            for what, line in _in_cell(data.decode("utf-8", "replace")):
                found.setdefault(what, (name, line))
    return found


def _in_cell(text: str) -> Iterator[tuple[str, int]]:
    words = [word for word in _WORDS if word in text]
    for number, line in enumerate(text.split("\n"), 1) if words else ():
        if not any(word in line for word in words) or line.lstrip().startswith("#"):
            continue
        if matched := _EVASION.search(line):
            yield " ".join(matched[0].split())[:40], number
