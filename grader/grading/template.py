"""The template: a process that imports what grading needs once, and is forked for each grading process.

A descriptor on its control socket orders a grading process, which answers there. With it comes the core where this
process stays, if any. The template starts a zygote before it imports anything large, so both import at the same time.
Each grading process gets a copy of that zygote, too.
"""

from __future__ import annotations

import gc
import os
import socket
import sys
import traceback
from pathlib import Path
from typing import cast

from grader.course.module import Backend
from grader.grading.process_handle import ANY_CORE, ORDER
from grader.sandbox.jail.kernel import die_with_parent, stay_on
from grader.sandbox.jail.spawner import CopiedSpawner, JailError, ZygoteSpawner
from grader.sandbox.jail.tiers import plans


def main() -> None:
    """Fork grading processes until the control socket closes."""
    die_with_parent()
    control, backend, root, flags = int(sys.argv[1]), cast(Backend, sys.argv[2]), Path(sys.argv[3]), sys.argv[4:]
    zygote = _begun(backend)
    # After the zygote has started: this takes as long as its imports.
    from grader.complexity import measurer  # noqa: F401
    from grader.grading import process, pytest_tests  # noqa: F401

    if backend == "torch":
        import torch  # noqa: F401
    gc.freeze()  # what is here stays: to search it for garbage would copy its pages into each process
    with socket.socket(fileno=control) as orders:
        while order := _next(orders):
            channel, core = order
            copied = _copy(zygote, core)
            if os.fork() == 0:
                try:
                    die_with_parent()
                    if core is not None:
                        stay_on(core)
                    _leave(orders, zygote)
                    with channel.makefile("rb") as requests, channel.makefile("wb") as answers:
                        process.serve(root, flags, requests, answers, copied)
                except BaseException:  # noqa: BLE001 - not even an error may continue as a second template
                    traceback.print_exc()
                finally:
                    os._exit(0)
            _leave(channel, copied)


def _begun(backend: Backend) -> ZygoteSpawner | None:
    """Start the zygote of the best tier. Without a jail there is none: what its workers start could outlive a copy."""
    for plan in plans(backend):
        if not plan.layers:
            return None
        try:
            return ZygoteSpawner(plan, wait=False)
        except JailError:
            return None
    return None


def _copy(zygote: ZygoteSpawner | None, core: int | None) -> CopiedSpawner | None:
    """Return a copy for one grading process. Without one, it starts a zygote of its own."""
    try:
        return None if zygote is None else zygote.copy(core)
    except JailError:
        return None


def _leave(own: socket.socket, zygote: ZygoteSpawner | None) -> None:
    """Leave a socket and a zygote to the other process of the two."""
    own.close()
    if zygote is not None:
        zygote.disconnect()


def _next(orders: socket.socket) -> tuple[socket.socket, int | None] | None:
    """Return the channel of the next process, and its core; None if no more are wanted."""
    message, descriptors, _, _ = socket.recv_fds(orders, ORDER.size, 1)
    if not message:
        return None
    (core,) = ORDER.unpack(message)
    return socket.socket(fileno=descriptors[0]), None if core == ANY_CORE else core


if __name__ == "__main__":
    main()
    os._exit(0)  # skip the slow end of the interpreter
