"""What of the file system a worker may see: Python, its packages, shared libraries. Not the course."""

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

BOX = "/box"  # a worker's own folder, where it has one

_LIBRARIES = ("/lib", "/lib32", "/lib64", "/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/local/lib", "/etc/alternatives")
_FILES = ("/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/localtime", "/usr/share/zoneinfo")
_HARDWARE = "/sys/devices/system/cpu"  # the math libraries choose their kernels by it
_DEVICES = ("/dev/urandom", "/dev/random")  # not /dev/zero: mapped, it is shared memory
# What the driver of a GPU is asked through; the tools beside them show other processes' work.
_GPU_DEVICES = ("/dev/nvidiactl", "/dev/nvidia-uvm", *(f"/dev/nvidia{number}" for number in range(16)))
# What its library reads before it believes that there is one.
_GPU_FILES = (
    *(f"/proc/{name}" for name in ("driver/nvidia", "devices", "cpuinfo", "meminfo", "sys/vm", "self")),
    *("/sys/devices", "/sys/bus/pci"),
)
# Where installers put its library, besides the places of all others.
_GPU_LIBRARIES = ("/usr/local/nvidia", "/usr/local/cuda")
_TORCH = ("torch", "torchgen", "functorch", "torch.libs")


@dataclass(frozen=True)
class View:
    """What is bound into a worker's file system, and what of it may be read, or only listed."""

    bound: tuple[str, ...]
    readable: tuple[str, ...]
    listable: tuple[str, ...]

    def shows(self, path: Path) -> bool:
        """Return whether a worker could read what lies at a path."""
        real = path.resolve()
        return any(real.is_relative_to(Path(root).resolve()) for root in self.readable)


@cache
def view_for(backend: Backend) -> View:
    """Return what a worker of a backend may see; torch is not there for one that is given NumPy modules."""
    base = Path(sys.base_prefix)
    packages = [*package_folders(), *map(Path, site.getsitepackages([str(base)]))]
    standard = [Path(sysconfig.get_path(name)) for name in ("stdlib", "platstdlib")]
    roots = _existing([*standard, *packages, base / "lib", *_LIBRARIES, Path(grader.__file__).parent, *_FILES])
    hidden = [] if backend == "torch" else _existing(folder / name for folder in packages for name in _TORCH)
    readable, listable = _without(roots, hidden)
    bound = [*roots, *_existing([*_launchers(), _HARDWARE])]
    return View(_texts(bound), _texts([*readable, *_existing([_HARDWARE, *_DEVICES])]), _texts(listable))


def gpu_devices() -> tuple[str, ...]:
    """Return the files through which a process reaches the GPUs of this machine."""
    return _texts(_existing(_GPU_DEVICES))


def gpu_files() -> tuple[str, ...]:
    """Return what a process with a GPU reads besides."""
    return _texts(_existing((*_GPU_FILES, *_GPU_LIBRARIES)))


def package_folders() -> list[Path]:
    """Return the folders this process has its packages from, a user's own among them."""
    return [Path(path) for path in sys.path if Path(path).name in ("site-packages", "dist-packages")]


def bubblewrap(view: View, *, user_namespace: bool, devices: tuple[str, ...] = ()) -> list[str]:
    """Return the command that starts a program in a file system made of a view, with namespaces of its own.

    Without a user namespace, as root: the view is made with root's rights, so that a Python in a private home
    is seen, and the program gives them up by changing its user.
    """
    command = [shutil.which("bwrap") or "bwrap", "--die-with-parent", "--as-pid-1"]
    command += ["--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"]
    command += ["--unshare-user"] if user_namespace else ["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
    binds = _outermost(view.bound)
    # Each folder above them by name: those bubblewrap makes unasked are closed to the user we become.
    for folder in sorted({str(parent) for path in binds for parent in Path(path).parents}):
        command += ["--dir", folder]
    for path in binds:
        command += ["--ro-bind", path, path]
    # A worker with a GPU covers it with one of its own, which the kernel allows only where all of it is seen.
    command += [*(["--bind", "/proc"] if devices else ["--proc"]), "/proc", "--dev", "/dev"]
    for device in devices:
        command += ["--dev-bind", device, device]
    if devices:
        for path in _texts(_existing(["/sys", *_GPU_LIBRARIES])):
            command += ["--ro-bind", path, path]
    command += ["--remount-ro", "/dev", "--dir", BOX, "--remount-ro", "/"]
    return [*command, "--chdir", "/"]


def _launchers() -> Iterator[Path]:
    """Yield the folders through which the interpreter's links lead, and the file that makes a virtual environment."""
    link = Path(sys.executable)
    for _ in range(16):
        yield link.parent
        if not link.is_symlink():
            break
        link = link.parent / link.readlink()
    yield Path(sys.prefix) / "pyvenv.cfg"


def _without(roots: list[Path], hidden: list[Path]) -> tuple[list[Path], list[Path]]:
    """Split every folder that holds something hidden into its entries, since a rule covers all that is below it."""
    readable: list[Path] = []
    listable: list[Path] = []
    secret = {os.path.realpath(path) for path in hidden}
    todo = list(roots)
    while todo:
        root = todo.pop()
        real = os.path.realpath(root)  # hundreds of them, and Path is slow
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
    return [Path(path) for path in paths if os.path.exists(path)]  # noqa: PTH110 - Path's raises where it may not look


def _texts(paths: Iterable[Path]) -> tuple[str, ...]:
    return tuple(sorted({os.path.normpath(path) for path in paths}))


def _outermost(paths: tuple[str, ...]) -> list[str]:
    """Leave out what lies below another; sorted, so that the outer comes first."""
    kept: list[str] = []
    for path in sorted(paths):
        if not any(path.startswith(f"{outer}/") for outer in kept):
            kept.append(path)
    return kept
