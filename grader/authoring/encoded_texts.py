"""The texts in a file for students, also those that are packed or encoded."""

from __future__ import annotations

import base64
import binascii
import gzip
import io
import re
import tarfile
import zipfile
import zlib
from collections.abc import Iterator

from grader.course.notebook import raw_cells, source_of

MOST_LAYERS = 3  # of archives in archives
MOST_BYTES = 64 << 20  # of one unpacked file
# Both begin only where such characters begin: most of a search would be trying every character of every word.
_BASE64 = re.compile(r"(?<![A-Za-z0-9+/])(?:[A-Za-z0-9+/]{20,}={0,2}\s*)+")
_HEX = re.compile(r"(?<![0-9a-fA-F])(?:[0-9a-fA-F]{2}){20,}")
_BROKEN = (OSError, EOFError, ValueError, zlib.error, zipfile.BadZipFile, tarfile.TarError, NotImplementedError)


def texts_in(name: str, data: bytes, layers: int = MOST_LAYERS) -> Iterator[tuple[str, str]]:
    """Yield the texts of a file by their names: its own, its cells, the members of an archive."""
    members = list(_members(data)) if layers else []
    for member, content in members:
        yield from texts_in(f"{name}/{member}", content, layers - 1)
    if members:
        return
    if name.endswith(".ipynb"):
        yield name, "\n".join(source_of(cell) for cell in raw_cells(data))
    else:
        yield name, _decoded(data)


def encoded_in(text: str) -> Iterator[str]:
    """Yield what is encoded in a text as base64 or in hexadecimal digits, if that is a text, too."""
    for found in _BASE64.finditer(text):
        plain = "".join(found[0].split()).rstrip("=")
        yield from _readable(base64.b64decode, plain[: len(plain) - (len(plain) % 4 == 1)] + "=" * (-len(plain) % 4))
        for digits in _HEX.findall(found[0]):
            yield from _readable(bytes.fromhex, digits)


def _readable(decode: object, text: str) -> Iterator[str]:
    try:
        data: bytes = decode(text)  # type: ignore[operator]
    except (binascii.Error, ValueError):
        return
    for _, content in _members(data):
        yield _decoded(content)
    decoded = _decoded(data)
    if sum(character.isprintable() or character.isspace() for character in decoded) > 0.95 * len(decoded):
        yield decoded


def _members(data: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield the members of an archive, or the content of a compressed file. Anything else has none."""
    try:
        if data.startswith(b"PK"):
            with zipfile.ZipFile(io.BytesIO(data)) as archive:
                yield from ((one.filename, archive.read(one)) for one in archive.infolist() if _is_small(one.file_size))
        elif data.startswith(b"\x1f\x8b"):
            with gzip.open(io.BytesIO(data)) as file:
                yield "content", file.read(MOST_BYTES)
        elif data[:2] in (b"x\x01", b"x\x9c", b"x\xda"):
            yield "content", zlib.decompressobj().decompress(data, MOST_BYTES)
        elif data[257:262] == b"ustar":
            with tarfile.open(fileobj=io.BytesIO(data)) as files:
                for one in files:
                    if one.isfile() and _is_small(one.size) and (content := files.extractfile(one)):
                        yield one.name, content.read()
    except _BROKEN:
        return


def _is_small(size: int) -> bool:
    return size <= MOST_BYTES


def _decoded(data: bytes) -> str:
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return data.decode("utf-16", "replace")
    return data.decode("utf-8", "replace")
