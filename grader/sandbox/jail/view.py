"""What a worker may see: a part of the file system, and a few environment variables.

These are Python, its packages and shared libraries. Nothing of the course, nothing of the instructor's.
"""

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
# One BLAS thread. With more, last digits depend on the load, and processes on the same cores wait for each other. Also,
# threads do not survive a fork.
ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"), "1"
)
# Where a machine says that its compiler and its driver are in unusual places.
_OF_COMPILERS = ("CC", "LD_LIBRARY_PATH", "TRITON_LIBCUDA_PATH", "TRITON_PTXAS_PATH")
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


def clean_environment(*, gpu: bool = False) -> dict[str, str]:
    """Return the few environment variables of a worker: nothing of the instructor's, and nothing random."""
    environment = {"PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1", "LANG": "C.UTF-8"}
    # glibc fills new memory with fixed bytes, so that np.empty gives the same values in every run.
    environment["MALLOC_PERTURB_"] = "165"
    environment["MIMALLOC_ARENA_RESERVE"] = "65536"  # KiB; torch's allocator would reserve a gigabyte at once
    # The worker must run this code, not another installed clone. -s leaves out the user's files, and with them the
    # user's packages, so those are added here.
    own = [str(path) for path in package_folders() if str(path) == site.getusersitepackages()]
    environment["PYTHONPATH"] = os.pathsep.join([str(Path(grader.__file__).parent.parent), *own])
    environment |= {"HOME": BOX, "TMPDIR": BOX, "USER": "student", "PATH": ""}
    environment |= ONE_THREAD
    # One GPU or none: what a worker sees must not depend on the machine.
    environment["CUDA_VISIBLE_DEVICES"] = os.environ.get("CUDA_VISIBLE_DEVICES", "0").partition(",")[0] if gpu else ""
    if gpu:
        environment |= {"CUDA_CACHE_DISABLE": "1", "CUBLAS_WORKSPACE_CONFIG": ":4096:8"}
    if "SYSTEMROOT" in os.environ:  # Windows sockets do not start without it
        environment["SYSTEMROOT"] = os.environ["SYSTEMROOT"]
    return environment


def compiler_environment(scratch: str) -> dict[str, str]:
    """Return the variables of a worker that starts compilers: where these are, and where they may write."""
    own = {"PATH": os.environ.get("PATH", os.defpath), "HOME": scratch, "TMPDIR": scratch, "TRITON_CACHE_DIR": scratch}
    return own | {name: os.environ[name] for name in _OF_COMPILERS if name in os.environ}
