"""Figures of the lesson of 07_gpu_path."""

from __future__ import annotations

from docs.figures.charts import Axes, plot
from docs.figures.drawing import Drawing
from tests.modules.test_lesson_gpu_path import measured

QUEUE, WORK = 1, 3  # how long the CPU needs to queue an operation, and the GPU to do it, in any unit
STEPS = 5


def schedule(*, waits: bool) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """When the CPU queues each operation, and when the GPU does it; the CPU may wait for every result."""
    cpu, gpu = [], []
    now = free = 0
    for _ in range(STEPS):
        cpu.append((now, now + QUEUE))
        start = max(now + QUEUE, free)
        free = start + WORK
        gpu.append((start, free))
        now = free if waits else now + QUEUE
    return cpu, gpu


def waiting() -> str:
    """The CPU runs ahead, or waits for every result."""
    d = Drawing(760, 270, "The CPU queues work; reading a result makes it wait")
    unit = 30
    cases = ((False, "no result is read: the GPU is always busy", 30), (True, "a result is read after each step", 160))
    for waits, title, top in cases:
        cpu, gpu = schedule(waits=waits)
        d.text(70, top - 6, title, anchor="start")
        for y, name, times, css in ((top + 8, "CPU", cpu, "b"), (top + 48, "GPU", gpu, "a")):
            d.text(58, y + 21, name, "dim", "end")
            d.line([(70, y + 32), (70 + unit * 21, y + 32)], "line-faint")
            for number, (start, end) in enumerate(times):
                d.rect(70 + unit * start, y, unit * (end - start) - 2, 30, css, 0.8, 3)
                d.text(70 + unit * (start + end) / 2, y + 20, str(number + 1), size=13)
        d.text(70 + unit * gpu[-1][1] + 8, top + 68, f"done at {gpu[-1][1]}", "dim", "start", 12)
    return d.svg()


def memory() -> str:
    """The measured memory of the manual and of the fused version, from docs/gpu.md."""
    d = Drawing(720, 300, "MiB beyond the arguments, measured on an H200: 4 heads of width 64, float32")
    table = measured()
    n = list(table)
    plot(
        d,
        Axes((80, 40, 560, 240), (512, 8192), (0.25, 4096), log=True),
        {
            "the manual version": (n, [row.manual_mib for row in table.values()]),
            "the fused version": (n, [row.fused_mib for row in table.values()]),
        },
        ticks_x={one: str(one) for one in n},
        ticks_y={1: "1", 32: "32", 1024: "1024"},
        label_x="tokens, n",
        label_y="MiB beyond the arguments, 4 heads of width 64",
        styles=("line-b thick", "line-a thick"),
    )
    return d.svg()


FIGURES = {"waiting": waiting, "memory": memory}
