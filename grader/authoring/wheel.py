"""The wheel of a bundle: the engine that runs here, packed again. It carries no course, and needs no network.

It has the files of the wheel that setup.py describes, in the same places: tests/acceptance/test_installed.py compares.
"""

from __future__ import annotations

import base64
import hashlib
import io
import zipfile
from email.parser import HeaderParser
from importlib.metadata import distributions
from pathlib import Path

from grader import __version__
from grader.course.engine import WHEEL, engine_files, start_files

LIB = "attnlab/lib"  # where the engine is in a wheel
PATH_FILE = "attnlab.pth"  # so that `import grader` works in notebooks
_INFO = f"attnlab-{__version__}.dist-info"
_SUMMARY = "The command of a course whose exercises are checked, and its grader"
_LEFT_OUT = {"Summary", "Description", "Description-Content-Type", "Dynamic"}  # they are about the course in the clone
_KIND = "Wheel-Version: 1.0\nGenerator: attnlab\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
_OLDEST = (1980, 1, 1, 0, 0, 0)  # the same time in every wheel, so that the same engine has the same bytes


class WheelError(Exception):
    """A wheel that cannot be made here; the text says why and what to do."""


def write_wheel(course_root: Path, to: Path) -> Path:
    """Write the wheel for a bundle of a course into a folder."""
    path = to / WHEEL
    path.write_bytes(_zip(wheel_files(course_root) | _info_files()))
    return path


def wheel_files(course_root: Path) -> dict[str, bytes]:
    """Return the files of the wheel by their paths in it, but for what pip keeps about it."""
    files = {f"{LIB}/{name}": path.read_bytes() for name, path in engine_files(course_root).items()}
    files |= {f"attnlab/{name}": path.read_bytes() for name, path in start_files().items()}
    return files | {PATH_FILE: f"{LIB}\n".encode()}


def _info_files() -> dict[str, bytes]:
    """Return what pip reads about a package, taken from the installed one."""
    # In a clone, its egg-info is found, too, and first where the clone is the current folder. It has no METADATA.
    package = next((one for one in distributions(name="attnlab") if one.read_text("METADATA")), None)
    if package is None:
        raise WheelError("attnlab is not installed here, only found: python -m pip install attnlab")
    if package.version != __version__:
        again = "Install it again: in a clone with `make setup`, else with `python -m pip install -U attnlab`"
        raise WheelError(f"pip has noted attnlab {package.version}, but its files are of {__version__}. {again}")
    message = HeaderParser().parsestr(package.read_text("METADATA") or "")
    about = [f"{key}: {value}" for key, value in message.items() if key not in _LEFT_OUT]
    about.insert(3, f"Summary: {_SUMMARY}")
    kept = {name: package.read_text(name) or "" for name in ("entry_points.txt", "top_level.txt", "licenses/LICENSE")}
    texts = {"METADATA": "\n".join([*about, ""]), "WHEEL": _KIND, **kept}
    return {f"{_INFO}/{name}": text.encode() for name, text in texts.items() if text}


def _zip(files: dict[str, bytes]) -> bytes:
    """Return a wheel: its files in a zip, and last the record of their hashes."""
    record = [f"{name},sha256={_digest(data)},{len(data)}" for name, data in sorted(files.items())]
    record_file = {f"{_INFO}/RECORD": "\n".join([*record, f"{_INFO}/RECORD,,", ""]).encode()}
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in [*sorted(files.items()), *record_file.items()]:
            info = zipfile.ZipInfo(name, _OLDEST)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = 0o100644 << 16
            archive.writestr(info, data)
    return packed.getvalue()


def _digest(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
