"""The part of the file system that a worker may see: Python, its packages and shared libraries. Not the course."""

from __future__ import annotations

import contextlib
import os
import shutil
import site
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import grader
from grader.course.module import Backend

BOX = "/box"  # a worker's own folder, in the strict tier

_LIBRARIES = ("/lib", "/lib32", "/lib64", "/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/local/lib", "/etc/alternatives")
_FILES = ("/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/localtime", "/usr/share/zoneinfo")
_HARDWARE = "/sys/devices/system/cpu"  # the math libraries choose their kernels by the CPU
_DEVICES = ("/dev/urandom", "/dev/random")  # not /dev/zero: a mapping of it is shared memory
# The device files of the GPU driver. Other files next to these would show what other processes do.
_GPU_DEVICES = ("/dev/nvidiactl", "/dev/nvidia-uvm", *(f"/dev/nvidia{number}" for number in range(16)))
# What the driver's library reads to find a GPU.
_GPU_FILES = (
    *(f"/proc/{name}" for name in ("driver/nvidia", "devices", "cpuinfo", "meminfo", "sys/vm", "self")),
    *("/sys/devices", "/sys/bus/pci"),
)
# Extra places where installers put the driver's library.
_GPU_LIBRARIES = ("/usr/local/nvidia", "/usr/local/cuda")
_TORCH = ("torch", "torchgen", "functorch", "torch.libs")


@dataclass(frozen=True)
class View:
    """Paths in a worker's file system, and which of them may be read, or only listed."""

    bound: tuple[str, ...]
    readable: tuple[str, ...]
    listable: tuple[str, ...]

    def shows(self, path: Path) -> bool:
        """Whether a worker could read a path."""
        real = path.resolve()
        return any(real.is_relative_to(Path(root).resolve()) for root in self.readable)


@cache
def view_for(backend: Backend) -> View:
    """Return the view of a worker. A worker for NumPy modules does not see torch."""
    base = Path(sys.base_prefix)
    packages = [*package_folders(), *map(Path, site.getsitepackages([str(base)]))]
    standard = [Path(sysconfig.get_path(name)) for name in ("stdlib", "platstdlib")]
    roots = _existing([*standard, *packages, base / "lib", *_LIBRARIES, Path(grader.__file__).parent, *_FILES])
    hidden = [] if backend == "torch" else _existing(folder / name for folder in packages for name in _TORCH)
    readable, listable = _without(roots, hidden)
    bound = [*roots, *_existing([*_launchers(), _HARDWARE])]
    return View(_texts(bound), _texts([*readable, *_existing([_HARDWARE, *_DEVICES])]), _texts(listable))


def gpu_devices() -> tuple[str, ...]:
    """Return the device files of the GPUs of this machine."""
    return _texts(_existing(_GPU_DEVICES))


def gpu_files() -> tuple[str, ...]:
    """Return what a process with a GPU also needs to read."""
    return _texts(_existing((*_GPU_FILES, *_GPU_LIBRARIES)))


def package_folders() -> list[Path]:
    """Return the folders of installed packages, including the user's own."""
    return [Path(path) for path in sys.path if Path(path).name in ("site-packages", "dist-packages")]


def bubblewrap(view: View, *, user_namespace: bool, devices: tuple[str, ...] = ()) -> list[str]:
    """Return the command that starts a program with this view as its file system, in its own namespaces.

    As root, there is no user namespace. The view is then made with root's rights, so that it can show a Python in a
    private home. The program gives up these rights when it changes its user.
    """
    command = [shutil.which("bwrap") or "bwrap", "--die-with-parent", "--as-pid-1"]
    command += ["--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"]
    command += ["--unshare-user"] if user_namespace else ["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
    binds = _outermost(view.bound)
    # Name every parent folder: the user that we change to could not enter those that bubblewrap adds itself.
    for folder in sorted({str(parent) for path in binds for parent in Path(path).parents}):
        command += ["--dir", folder]
    for path in binds:
        command += ["--ro-bind", path, path]
    # A worker with a GPU mounts its own /proc over this. The kernel allows that only if all of /proc is visible.
    command += [*(["--bind", "/proc"] if devices else ["--proc"]), "/proc", "--dev", "/dev"]
    for device in devices:
        command += ["--dev-bind", device, device]
    if devices:
        for path in _texts(_existing(["/sys", *_GPU_LIBRARIES])):
            command += ["--ro-bind", path, path]
    command += ["--remount-ro", "/dev", "--dir", BOX, "--remount-ro", "/"]
    return [*command, "--chdir", "/"]


def _launchers() -> Iterator[Path]:
    """Yield the folders along the interpreter's symbolic links, and the file that marks a virtual environment."""
    link = Path(sys.executable)
    for _ in range(16):
        yield link.parent
        if not link.is_symlink():
            break
        link = link.parent / link.readlink()
    yield Path(sys.prefix) / "pyvenv.cfg"


def _without(roots: list[Path], hidden: list[Path]) -> tuple[list[Path], list[Path]]:
    """Split every folder that contains a hidden path into its entries, because a rule covers a complete folder."""
    readable: list[Path] = []
    listable: list[Path] = []
    secret = {os.path.realpath(path) for path in hidden}
    todo = list(roots)
    while todo:
        root = todo.pop()
        real = os.path.realpath(root)  # there are hundreds of paths, and Path is slow
        if real in secret:
            continue
        if any(path.startswith(f"{real.rstrip(os.sep)}{os.sep}") for path in secret):
            listable.append(root)
            with contextlib.suppress(OSError):
                todo += root.iterdir()
        else:
            readable.append(root)
    return readable, listable


def _existing(paths: Iterable[str | Path]) -> list[Path]:
    return [Path(path) for path in paths if os.path.exists(path)]  # noqa: PTH110 - Path.exists raises if a folder is not readable


def _texts(paths: Iterable[Path]) -> tuple[str, ...]:
    return tuple(sorted({os.path.normpath(path) for path in paths}))


def _outermost(paths: tuple[str, ...]) -> list[str]:
    """Return the paths that are not below another one. Sorting puts outer folders first."""
    kept: list[str] = []
    for path in sorted(paths):
        if not any(path.startswith(f"{outer}/") for outer in kept):
            kept.append(path)
    return kept
