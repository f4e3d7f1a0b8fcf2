"""The environment variables of a worker: nothing of the instructor's, and nothing random."""

from __future__ import annotations

import os
import site
from pathlib import Path

import grader
from grader.sandbox.jail.view import BOX, package_folders

# One BLAS thread. With more, last digits depend on the load, and processes on the same cores wait for each other. Also,
# threads do not survive a fork.
ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"), "1"
)
# Where a machine says that its compiler and its driver are in unusual places.
_OF_COMPILERS = ("CC", "LD_LIBRARY_PATH", "TRITON_LIBCUDA_PATH", "TRITON_PTXAS_PATH")


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
