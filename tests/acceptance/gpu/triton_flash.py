"""The kernel of 13_triton_flash on this GPU: `python -m tests.acceptance.gpu.triton_flash [PART ...]`.

The parts are values, memory, speed and grades. After `grades`, names of misconceptions choose some of them. The
solution is compared with float64 in every dtype and size, its peak memory is measured in bytes, and its time is shown
beside PyTorch's own attention. The stub, the solution and every misconception are graded. It fails if a value, a peak
or a score is wrong. The times are only shown.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from grader.authoring.gpu_trials import graded_on_gpu, known_verdicts, verdict_problem
from grader.complexity.gpu_costs import GPU_MEMORY
from grader.core.machine import environment, gpu_name
from grader.course.course import Course, read_course
from grader.course.module import Module
from grader.submission.submission import Submission

ROOT = Path(__file__).parents[3]
MODULE = "13_triton_flash"
LENGTHS = (1, 5, 16, 31, 63, 64, 65, 127, 128, 129, 333, 1000)
PAIRS = ((1, 300), (300, 1), (100, 300), (300, 100), (77, 200))
WIDTHS = (16, 32, 64, 128)
NEAR = {torch.float32: 1e-5, torch.bfloat16: 1e-2, torch.float16: 2e-3}  # the largest error, relative to 1 + |value|
SPEEDS = (512, 1024, 2048, 4096, 8192, 16384)
HEADS, WIDTH = 4, 64
Flash = Callable[..., torch.Tensor]


def main(parts: list[str]) -> int:
    """Run the parts that are named, or all. Return 1 if one fails."""
    course = read_course(ROOT)
    module = course.module(MODULE)
    print(f"{gpu_name()}, {environment()}, triton {_triton_version()}")
    todo: dict[str, Callable[[], int]] = {
        "values": lambda: values(solution(course, module)),
        "memory": lambda: memory(solution(course, module)),
        "speed": lambda: speed(solution(course, module)),
        "grades": lambda: grades(course, module, [name for name in parts if name not in todo]),
    }
    bad = 0
    for name, run in todo.items():
        if not parts or name in parts:
            started = time.monotonic()
            print(f"\n{name}", flush=True)
            wrong = run()
            bad += wrong
            print(f"{name}: {wrong} wrong, {time.monotonic() - started:.0f} s", flush=True)
    return 1 if bad else 0


def solution(course: Course, module: Module) -> Flash:
    """Return the solution's function, loaded into this process."""
    spec = importlib.util.spec_from_file_location(module.slug, course.solution(module))
    assert spec is not None
    assert spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    flash: Flash = loaded.flash_forward
    return flash


def oracle(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, *, is_causal: bool) -> torch.Tensor:
    scores = q.double() @ k.double().transpose(-1, -2) / q.shape[-1] ** 0.5
    if is_causal:
        seen = torch.ones(scores.shape[-2:], dtype=torch.bool, device=q.device).tril()
        scores = scores.masked_fill(~seen, -torch.inf)
    return torch.softmax(scores, dim=-1) @ v.double()


def values(flash: Flash) -> int:
    """Print the largest error for each dtype and width, over all lengths, causal and not. Return how many are wrong."""
    wrong = 0
    generator = torch.Generator().manual_seed(0)
    for dtype, near in NEAR.items():
        for width in WIDTHS:
            worst, cases = 0.0, 0
            for n_q, n_k in [*((n, n) for n in LENGTHS), *PAIRS]:
                shapes = [(2, 3, n, width) for n in (n_q, n_k, n_k)]
                q, k, v = (torch.randn(shape, generator=generator).to(dtype).cuda() for shape in shapes)
                for is_causal in (False, True):
                    out = flash(q, k, v, is_causal)
                    assert out.dtype == dtype
                    assert out.shape == q.shape
                    expected = oracle(q, k, v, is_causal=is_causal)
                    gap = ((out.double() - expected).abs() / (1 + expected.abs())).max().item()
                    worst, cases = max(worst, gap if gap == gap else float("inf")), cases + 1  # NaN is not equal to NaN
            good = worst <= near
            wrong += not good
            mark = "" if good else "  WRONG"
            print(f"{str(dtype)[6:]:<9} width {width:>3}: {cases} cases, largest error {worst:.2g}{mark}", flush=True)
    return wrong


def memory(flash: Flash) -> int:
    """Print the bytes beyond the arguments. The output alone is HEADS · n · WIDTH numbers. Return how many differ."""
    wrong = 0
    for dtype in (torch.float32, torch.bfloat16):
        for n in (256, 384, 512, 1000, 1024, 1536, 4096, 16384):
            x = torch.randn(1, HEADS, n, WIDTH, device="cuda", dtype=dtype)
            flash(x, x, x)
            torch.cuda.synchronize()
            torch.cuda.reset_peak_memory_stats()
            before = torch.cuda.memory_stats()["requested_bytes.all.current"]
            out = flash(x, x, x)
            peak = torch.cuda.memory_stats()["requested_bytes.all.peak"] - before
            expected = out.numel() * out.element_size()
            wrong += peak != expected
            said = "the output" if peak == expected else f"the output is {expected}  WRONG"
            print(f"{str(dtype)[6:]:<9} n = {n:>5}: {peak} bytes, {said}")
            del out
    return wrong


def speed(flash: Flash) -> int:
    """Print the median milliseconds of 20 calls beside PyTorch's own attention, as a table."""
    attend = torch.nn.functional.scaled_dot_product_attention
    kinds = [(dtype, is_causal) for dtype in (torch.float32, torch.bfloat16) for is_causal in (False, True)]
    names = [f"{str(dtype)[6:]}{' causal' if is_causal else ''}" for dtype, is_causal in kinds]
    print("| n | " + " | ".join(f"{name} ms | the built-in ms" for name in names) + " |")
    print("|---" * (1 + 2 * len(kinds)) + "|")
    for n in SPEEDS:
        row: list[str] = []
        for dtype, is_causal in kinds:
            q, k, v = (torch.randn(1, HEADS, n, WIDTH, device="cuda", dtype=dtype) for _ in range(3))
            row += [f"{milliseconds(one, q, k, v, is_causal=is_causal):.3f}" for one in (flash, attend)]
        print(f"| {n} | " + " | ".join(row) + " |", flush=True)
    return 0


def milliseconds(function: Callable[..., Any], *args: torch.Tensor, is_causal: bool) -> float:
    for _ in range(3):
        function(*args, is_causal=is_causal)
    times: list[float] = []
    for _ in range(20):
        started, ended = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        torch.cuda.synchronize()
        started.record()
        function(*args, is_causal=is_causal)
        ended.record()
        torch.cuda.synchronize()
        times.append(float(started.elapsed_time(ended)))
    return statistics.median(times)


def grades(course: Course, module: Module, names: list[str]) -> int:
    """Grade everything whose verdict is known, in workers. Return how many scores are wrong."""
    wrong = 0
    for one in known_verdicts(course, module):
        if not names or one.student in names:
            wrong += not _graded_well(course, module, one)
    return wrong


def _graded_well(course: Course, module: Module, submission: Submission) -> bool:
    started = time.monotonic()
    (report,) = graded_on_gpu(course, module, [submission])
    problem = verdict_problem(report)
    lost = [check.name for check in report.checks if check.outcome != "passed"]
    costs = [f"{cost.meter}: {cost.verdict} {cost.measured}" for cost in report.costs if cost.meter == GPU_MEMORY]
    mark = "" if problem is None else f"  WRONG: {problem.what}"
    seconds = f"{time.monotonic() - started:.0f} s"
    print(f"{submission.student:<28} {report.score} / {report.max_score:g}, {seconds}, fails {lost}, {costs}{mark}")
    is_clean = submission.student == "the solution" and not report.reviews
    if problem is not None or (submission.student == "the solution" and not is_clean):
        for review in report.reviews:
            print(f"    review: {review}")
        for check in report.checks:
            if check.outcome != "passed" or check.undecided:
                print(f"    {check.name}: {check.outcome} {check.message} {check.undecided} {check.detail[-1500:]}")
        for cost in report.costs:
            print(f"    {cost.function} {cost.meter}: {cost.verdict} {cost.measured} {cost.message}")
        print(f"    {report.status} {report.message}")
    sys.stdout.flush()
    return problem is None and (submission.student != "the solution" or is_clean)


def _triton_version() -> str:
    return importlib.metadata.version("triton")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
