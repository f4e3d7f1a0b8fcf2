"""GPU checks on a machine without a GPU: they are not run, and answers of a GPU worker are checked."""

from __future__ import annotations

import json
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from click.testing import CliRunner

from cli.main import attn
from cli.ui.gpu_screens import gpu_lines
from grader.complexity.cost import Speed, as_timing, entries
from grader.complexity.gpu_costs import GpuMeasurer
from grader.core.errors import StudentError
from grader.core.report import Report, report_text
from grader.course.course import Course
from grader.grading.grade import grade
from grader.sandbox.jail.view import bubblewrap, gpu_devices, view_for
from grader.sandbox.protocol.device_findings import GpuCost, read_gpu_cost
from grader.sandbox.protocol.replies import MalformedError
from grader.sandbox.worker.gpu import real as gpu
from grader.submission.submission import Source, Submission
from grader.workspace.own_gpu import GpuMeasurement
from tests.conftest import ROOT

MODULE = "07_gpu_path"


@pytest.fixture(scope="module")
def report(course: Course) -> Report:
    """The reference, graded without a GPU."""
    module = course.module(MODULE)
    source = Source("gpu_path.py", (course.solution(module).read_text(),), False)
    reports: list[Report] = []
    grade(course, module, [Submission("ana", MODULE, source.file, {module.slug: source})], reports.append)
    (found,) = reports
    return found


def test_gpu_checks_are_not_run_without_a_gpu(report: Report, course: Course) -> None:
    on_gpu = [check for check in report.checks if check.suite == "gpu"]
    assert len(on_gpu) >= 9
    assert {(check.outcome, check.earned) for check in on_gpu} == {("not_run", 0.0)}
    assert all("--device cuda" in check.message for check in on_gpu)
    assert report.score == report.max_score == course.module(MODULE).points
    assert not any(check.suite == "gpu" for check in report.asked)
    assert not any(cost.meter == "gpu_mem" for cost in report.costs)


def test_stats_count_no_failure_for_checks_not_run(report: Report, tmp_path: Path) -> None:
    folder = tmp_path / "reports" / MODULE
    folder.mkdir(parents=True)
    (folder / "ana.json").write_text(report_text(report))
    (tmp_path / "reports" / "grades.json").write_text("[]")
    (found,) = json.loads(CliRunner().invoke(attn, ["stats", str(tmp_path / "reports"), "--json"]).output)
    assert {check["failed"] for check in found["checks"]} == {0}
    assert not any(check["kind"] == "gpu" for check in found["checks"])


@pytest.mark.skipif(bool(gpu_devices()), reason="this machine has a GPU: tests.acceptance.gpu.whole_suite is for it")
@pytest.mark.parametrize("words", [["grade", "examples/class"], ["profile", "gpu_path"]])
def test_missing_gpu_is_reported_at_once(words: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    result = CliRunner().invoke(attn, [*words, "--device", "cuda"])
    assert result.exit_code == 2
    assert "GPU" in result.output


def test_view_has_device_files_only_with_a_gpu() -> None:
    with_one = bubblewrap(view_for("torch"), user_namespace=True, devices=("/dev/nvidia0",))
    assert with_one[with_one.index("--dev-bind") + 1] == "/dev/nvidia0"
    assert with_one.index("--dev") < with_one.index("--dev-bind") < with_one.index("--remount-ro")
    assert "--dev-bind" not in bubblewrap(view_for("torch"), user_namespace=True)


@dataclass(frozen=True)
class Fake:
    """A function that uses a given amount of GPU memory, with a right or wrong result."""

    bytes_at: Any
    right: bool = True

    def gpu_cost(self, q: torch.Tensor, *_: torch.Tensor, repeats: int = 0, keep: bool = False) -> GpuCost:
        value = q if self.right else q + 1
        return GpuCost(value if keep else None, self.bytes_at(q.shape[-2]), (1.0,) * repeats)


def peaks(course: Course) -> GpuMeasurer:
    reference = SimpleNamespace(**dict.fromkeys(course.module(MODULE).gpu, lambda q, *_: q))
    return GpuMeasurer(course.module(MODULE), "salt", reference)  # type: ignore[arg-type]


def refusing(_: int) -> int:
    raise StudentError("CUDA out of memory")


@pytest.mark.parametrize(
    ("fake", "verdict", "measured"),
    [
        (Fake(lambda n: 1024 * n + 512), "pass", "1024·n + 512 bytes"),
        (Fake(lambda n: 16 * n * n + 1024 * n), "fail", "16·n² + 1024·n bytes"),
        (Fake(lambda _: 0), "pass", "0 bytes"),
        (Fake(lambda n: 1000 * n + (n > 900)), "inconclusive", ""),
        (Fake(lambda n: 16 * n * n + (n > 900)), "fail", ""),
        (Fake(lambda n: 512 * n, right=False), "fail", ""),
        (Fake(refusing), "fail", ""),
    ],
)
def test_gpu_memory_limit_is_about_the_power(
    course: Course, fake: Fake, verdict: str, measured: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("grader.complexity.gpu_costs.gpu_cost", Fake.gpu_cost)
    student = SimpleNamespace(**dict.fromkeys(course.module(MODULE).gpu, fake))
    cost = next(one for one in peaks(course).costs(student, ()) if one.function == "fused_attention")  # type: ignore[arg-type]
    assert (cost.verdict, cost.measured) == (verdict, measured)
    assert cost.earned == (0.0 if verdict == "fail" else cost.points)


def test_function_that_passes_nothing_is_not_measured(course: Course) -> None:
    costs = peaks(course).costs(SimpleNamespace(), tuple(course.module(MODULE).gpu))  # type: ignore[arg-type]
    assert {cost.verdict for cost in costs} == {"fail"}


@pytest.mark.parametrize(
    "answer",
    [
        None,
        {},
        {"peak": -1, "times": [], "value": None},
        {"peak": True, "times": [], "value": None},
        {"peak": 1, "times": [1.0], "value": None},
        {"peak": 1, "times": (), "value": None},
        {"peak": 1 << 60, "times": [], "value": None},
    ],
)
def test_malformed_gpu_cost_is_refused(answer: object) -> None:
    with pytest.raises(MalformedError):
        read_gpu_cost(answer, 0)


@pytest.mark.parametrize("time", [float("nan"), float("inf"), -1.0, 1, "1"])
def test_malformed_time_is_refused(time: object) -> None:
    with pytest.raises(MalformedError):
        read_gpu_cost({"peak": 1, "times": [time], "value": None}, 1)


WAITS = """
import warnings
import torch
def f(x):
    y = torch.tensor(2.0, device="meta"); wait()
    y = x.new_tensor([1.0], device="meta"); wait()
    y = torch.ones(2).to("meta"); wait()
    y = torch.empty(2, device="meta").copy_(torch.ones(2), non_blocking=True)
    y = torch.as_tensor(y); wait()
    y = torch.ones(2).to("meta"); wait(); wait()
    wait()
    return y + y
"""


def test_wait_without_a_copy_to_the_gpu_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The meta device stands for the GPU and a warning for a wait, so this needs no GPU."""
    monkeypatch.setattr(gpu, "on_the_gpu", lambda value: isinstance(value, torch.Tensor) and value.is_meta)
    monkeypatch.setattr(gpu, "_debug", lambda _: None)
    names: dict[str, Any] = {"wait": lambda: warnings.warn(gpu.SYNC, stacklevel=2)}
    exec(compile(WAITS, "work.py", "exec"), names)
    watch = gpu.Watch({"work.py"})
    with watch.watching():
        names["f"](torch.ones(2))
    assert watch.copies == [[line == 8, "work.py", line] for line in (5, 6, 7, 8, 10)]
    assert [(kind, line) for kind, _, _, _, line in watch.findings()] == [("host_sync", line) for line in (9, 10, 11)]


def test_leaderboard_ranks_by_the_ratio_and_changes_no_grade(report: Report, tmp_path: Path) -> None:
    folder = tmp_path / "reports" / MODULE
    folder.mkdir(parents=True)
    for who, ms in (("ana", 0.3), ("bea", 0.2)):
        timed = json.loads(report_text(report)) | {"submission": who}
        timed["timing"] |= as_timing((Speed("fused_attention", ms, 0.1),))
        (folder / f"{who}.json").write_text(json.dumps(timed))
    (tmp_path / "reports" / "grades.json").write_text("[]")
    command = ["stats", str(tmp_path / "reports")]
    lines = CliRunner().invoke(attn, [*command, "--leaderboard"]).output.splitlines()
    places = [lines.index(line) for who in ("bea", "ana") for line in lines if line.endswith(f"ms  {who}")]
    assert len(places) == 2
    assert places == sorted(places)
    assert "Speed" not in CliRunner().invoke(attn, command).output
    assert entries(report) == []


def test_table_has_every_size_and_reports_failed_measurements() -> None:
    points: Sequence[GpuMeasurement] = [
        GpuMeasurement(name, n, ms=n / 1000, peak_bytes=scale * n)
        for n in (512, 1024)
        for name, scale in (("a", 8), ("b", 16))
    ]
    lines = gpu_lines(
        [*points, GpuMeasurement("a", 2048, problem="out of memory"), GpuMeasurement("b", 2048, 2.0, 2048)], "a machine"
    )
    assert [line.split()[0] for line in lines[4:7]] == ["512", "1024", "2048"]
    assert lines[6].split()[1:3] == ["-", "-"]
    assert any("a: out of memory" in line for line in lines)
    assert max(map(len, lines)) <= 80
