"""Compare the simulated GPU with a real one: `python -m tests.acceptance.gpu.agreement` prints a table.

It fails where the two differ.

Each case is called twice on the GPU: once with syncs that raise, and once with syncs that only warn, so that all lines
that sync are seen. The two may differ where the course has a policy. A copy to the GPU is allowed, but torch counts a
blocking copy as a sync. A case may also say why it differs.
"""

from __future__ import annotations

import contextlib
import io
import sys
import traceback
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import torch

from grader.sandbox.protocol.device_findings import DeviceCall, read_device_call
from grader.sandbox.worker.gpu.call import on_device
from grader.sandbox.worker.gpu.labels import tensors_in
from tests.sandbox.worker.gpu.cases import FILE, CallStyle, DeviceCase, device_cases, kinds_of, ways

MIXED = "same device"
SYNC = "called a synchronizing CUDA operation"


@dataclass(frozen=True)
class Outcome:
    """The outcome of one call: the lines that made the CPU wait, the error with its line, and the devices."""

    syncs: frozenset[int] = frozenset()
    allowed: frozenset[int] = frozenset()  # the lines of copies to the GPU
    error: tuple[str, int] = ("", 0)
    devices: tuple[str, ...] = ()
    stopped_at: int = 0  # the line of the first sync, where a sync raises

    def __str__(self) -> str:
        words = [f"sync {line}" for line in sorted(self.syncs)]
        words += [f"{self.error[0]} {self.error[1]}"] if self.error[0] else []
        return ", ".join(words + sorted(set(self.devices)))


@dataclass
class Row:
    """One line of the table."""

    case: DeviceCase
    simulated: set[str] = field(default_factory=set)
    real: set[str] = field(default_factory=set)
    verdict: str = "yes"

    def judge(self, verdict: str) -> None:
        order = ("yes", "policy", "NO")
        self.verdict = max(self.verdict, verdict, key=order.index)


def main() -> int:
    """Print the table. Return 1 if there is a difference that no policy explains."""
    has_gpu = torch.cuda.is_available()
    rows = [compared(case, real=has_gpu) for case in device_cases()]
    print("| case | expected | simulated | real | agree |\n|---|---|---|---|---|")
    for row in rows:
        cells = (
            f"{row.case.function}: {row.case.name}",
            " ".join(sorted(row.case.finds)) or "nothing",
            "; ".join(sorted(row.simulated)) or "nothing",
            "; ".join(sorted(row.real)) if has_gpu else "",
            row.verdict if has_gpu else "",
        )
        print(f"| {' | '.join(cells)} |")
    counts = {verdict: sum(row.verdict == verdict for row in rows) for verdict in ("yes", "policy", "NO")}
    if has_gpu:
        name = torch.cuda.get_device_name()
        print(f"\n{len(rows)} cases on {name}, torch {torch.__version__}: {counts}")
    else:
        print(f"\n{len(rows)} cases; no GPU to compare with (torch {torch.__version__})")
    return 1 if counts["NO"] else 0


def compared(case: DeviceCase, *, real: bool) -> Row:
    """Run one case in every way, on the simulated and the real GPU."""
    row = Row(case)
    kinds: set[str] = set()
    for here, there in zip(ways(case.function), ways(case.function), strict=True):
        found, simulated = simulate(case, here)
        more, lines = kinds_of(here, found)
        kinds |= more
        if more:
            row.simulated.add(f"{here.name}: {' '.join(sorted(more))} {sorted(lines) or ''}".strip())
        if real and here.gpu:
            outcome = on_gpu(case, there)
            row.judge(verdict(case, here, simulated, outcome))
            row.real.add(f"{here.name}: {outcome}")
    if kinds != case.finds:
        row.judge("NO")
    return row


def verdict(case: DeviceCase, way: CallStyle, simulated: Outcome, real: Outcome) -> str:
    """Return whether a call had the same outcome on the simulated GPU and on the real one."""
    if case.policy:
        return "policy"
    same = simulated.error == real.error and simulated.devices == real.devices
    if real.stopped_at and real.stopped_at not in real.syncs:
        same = False
    if not same:
        return "NO"
    expected = simulated.syncs | (simulated.allowed if way.non_blocking else frozenset())
    if real.syncs == expected:
        return "yes"
    return "policy" if expected <= real.syncs <= simulated.syncs | simulated.allowed else "NO"


def simulate(case: DeviceCase, way: CallStyle) -> tuple[DeviceCall, Outcome]:
    """Call on the simulated GPU, in this process."""
    with quiet():
        function = loaded(case)
        answer = on_device(function, None, way.args, way.kwargs, elsewhere=way.elsewhere, gpu=way.gpu, files={FILE})
    error = answer.pop("error", None)
    found = read_device_call(answer, answer.get("value"), None, {FILE: len(case.source.splitlines())})
    syncs = frozenset(one.line for one in found.findings if one.kind == "host_sync")
    kind, line = described(error)
    if kind == "unreadable":  # a sync for us, an error for torch
        syncs -= {line}
    allowed = frozenset(copy.line for copy in found.copies if not copy.non_blocking)
    devices = (str(found.value),) if isinstance(found.value, torch.device) else found.devices
    return found, Outcome(syncs, allowed, (kind, line), tuple(one.partition(":")[0] for one in devices))


def on_gpu(case: DeviceCase, way: CallStyle) -> Outcome:
    """Call on the real GPU."""
    stopped_at = 0
    for mode in ("error", "warn"):
        args = [on_its_device(arg, place in way.elsewhere) for place, arg in enumerate(way.args)]
        kwargs = {name: on_its_device(arg, name in way.elsewhere) for name, arg in way.kwargs.items()}
        syncs: set[int] = set()
        value, error = None, None
        with quiet(), noting(syncs):
            function = loaded(case)
            torch.cuda.synchronize()
            torch.cuda.set_sync_debug_mode(mode)
            try:
                value = function(*args, **kwargs)
            except Exception as caught:  # noqa: BLE001 - raised by the submission
                error = caught
            finally:
                torch.cuda.set_sync_debug_mode("default")
        kind, line = described(error)
        if mode == "error" and kind == "sync":
            stopped_at = line
    tensors = [str(value)] if isinstance(value, torch.device) else [str(one.device) for one in tensors_in((value,))]
    devices = tuple(device.partition(":")[0] for device in tensors)
    return Outcome(frozenset(syncs), frozenset(), (kind, line), devices, stopped_at)


def on_its_device(arg: Any, elsewhere: bool) -> Any:
    return arg.cuda() if isinstance(arg, torch.Tensor) and not elsewhere else arg


def described(error: BaseException | None) -> tuple[str, int]:
    """Return an error in one word, and its line in the submission."""
    if error is None:
        return "", 0
    lines = [frame.lineno or 0 for frame in traceback.extract_tb(error.__traceback__) if frame.filename == FILE]
    line = lines[-1] if lines else 0
    text = str(error)
    if SYNC in text:
        return "sync", line
    if isinstance(error, TypeError) and "numpy" in text:
        return "unreadable", line
    if isinstance(error, RuntimeError) and MIXED in text:
        return "mixed", line
    return f"{type(error).__name__}: {text[:60]}", line


@contextlib.contextmanager
def noting(syncs: set[int]) -> Iterator[None]:
    """Note the line of the submission for each warning about a sync."""

    def note(message: Warning | str, *_: Any, **__: Any) -> None:
        if SYNC not in str(message):
            return
        frame = sys._getframe(1)
        while frame is not None and frame.f_code.co_filename != FILE:
            frame = frame.f_back  # type: ignore[assignment] # the outermost has none
        syncs.add(frame.f_lineno if frame is not None else 0)

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = note
        yield


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Keep the output of a submission out of the table."""
    with contextlib.redirect_stdout(io.StringIO()):
        yield


def loaded(case: DeviceCase) -> Any:
    names: dict[str, Any] = {"__name__": "work"}
    exec(compile(case.source, FILE, "exec"), names)
    return names[case.function]


if __name__ == "__main__":
    sys.exit(main())
