"""Packages of npm that a web course is made from, pinned by version and hash."""

from __future__ import annotations

import base64
import hashlib
import platform
import shutil
import subprocess
import sys
import tarfile
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

PINNED = Path(__file__).with_name("npm_packages.toml")
_MACHINES = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64", "arm64": "arm64"}


class NpmError(Exception):
    """A package could not be had, or is not the pinned one; the text says why."""


@dataclass(frozen=True)
class NpmPackage:
    """A pinned package."""

    name: str
    version: str
    integrity: str
    only: str = ""  # the system that it is for; empty for all

    @property
    def file(self) -> str:
        """The file name that `npm pack` gives to its archive."""
        return f"{self.name.removeprefix('@').replace('/', '-')}-{self.version}.tgz"


def pinned_packages() -> tuple[NpmPackage, ...]:
    """Return the pinned packages that this system needs."""
    entries = tomllib.loads(PINNED.read_text(encoding="utf-8"))["package"]
    packages = [NpmPackage(**entry) for entry in entries]
    return tuple(one for one in packages if one.only in ("", this_system()))


def this_system() -> str:
    """Return the name that npm packages have for this system, such as linux-x64."""
    machine = platform.machine().lower()
    return f"{sys.platform}-{_MACHINES.get(machine, machine)}"


def fetch_packages(packages: Iterable[NpmPackage], folder: Path) -> None:
    """Fetch the archives that a folder does not have yet with the user's own npm, and check the hash of all."""
    packages = tuple(packages)
    folder.mkdir(parents=True, exist_ok=True)
    missing = [one for one in packages if not (folder / one.file).is_file()]
    if missing:
        _pack(missing, folder)
    for one in packages:
        _require_pinned(one, folder / one.file)


def unpack_package(package: NpmPackage, folder: Path, to: Path) -> Path:
    """Unpack an archive from a folder of archives, and return the folder with the files of the package."""
    try:
        with tarfile.open(folder / package.file) as archive:
            archive.extractall(to, filter="data")
    except (OSError, tarfile.TarError) as error:
        raise NpmError(f"{package.file} cannot be unpacked: {error}") from None
    (found,) = (path for path in to.iterdir() if path.is_dir())  # npm names it `package`, but need not
    return found


def _pack(packages: list[NpmPackage], folder: Path) -> None:
    npm = shutil.which("npm")
    names = [f"{one.name}@{one.version}" for one in packages]
    if npm is None:
        some = ", ".join(names[:2]) + (" …" if len(names) > 2 else "")
        raise NpmError(
            f"npm is not installed, and {folder} lacks {some}. Install Node.js, or name a folder that has them"
        )
    words = [npm, "pack", "--silent", "--ignore-scripts", "--pack-destination", str(folder.resolve()), *names]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        reasons = [line for line in done.stderr.splitlines() if line.startswith("npm error")] or [done.stderr.strip()]
        raise NpmError(f"npm could not fetch the packages: {reasons[0].removeprefix('npm error').strip()}")


def _require_pinned(package: NpmPackage, path: Path) -> None:
    if not path.is_file():
        raise NpmError(f"npm did not write {path.name}")
    digest = base64.b64encode(hashlib.sha512(path.read_bytes()).digest()).decode()
    if f"sha512-{digest}" != package.integrity:
        raise NpmError(f"{path} is not the pinned {package.name} {package.version}: its hash differs. Remove the file")
