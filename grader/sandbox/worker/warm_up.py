"""Imports that every worker needs, made once before workers are forked."""

from __future__ import annotations

import gc
import sys


def warm_up(backend: str, *, meters: bool = True, gpu: bool = False) -> None:
    """Import what every worker would import. NumPy loads its random module only when it is first used."""
    from grader.sandbox.worker.seeding import seed_everything

    if meters:
        import grader.sandbox.worker.meters.measure

    if backend == "torch":
        from grader.sandbox.worker.torch_setup import set_up_torch

        set_up_torch()
        if gpu:
            import grader.sandbox.worker.gpu.real
        else:
            import grader.sandbox.worker.gpu.call
        if meters:
            import grader.sandbox.worker.meters.torch_meter  # noqa: F401
    else:
        sys.meta_path.insert(0, NoTorch())
    seed_everything(0)
    gc.collect()
    gc.freeze()  # or a collection in a worker would touch, and so copy, every page of these modules


class NoTorch:
    """An import hook that says torch is not installed, with the error that `try: import torch` expects."""

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        del path, target
        if name.partition(".")[0] == "torch":
            raise ModuleNotFoundError("No module named 'torch': this module is for NumPy alone", name=name)
