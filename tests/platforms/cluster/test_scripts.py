"""The job script for SLURM and the manifest for Kubernetes, and the commands that send them."""

from __future__ import annotations

import os
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from grader.platforms.cluster import ClusterError
from grader.platforms.cluster.kubernetes import kubernetes_cluster, manifest, scheduler_address
from grader.platforms.cluster.settings import WorkerPlan, read_plan
from grader.platforms.cluster.slurm import job_script, slurm_cluster

ADDRESS = "tls://login1:8786"
POD = read_plan(["image=course:1", "claim=disk", "mount=/shared", "workers=8", "cores=25", "namespace=teaching"])


def fake_program(folder: Path, name: str, says: str = "", status: int = 0) -> None:
    """Put a program on the path that notes its arguments and its input."""
    file = folder / name
    file.write_text(
        f'#!/bin/sh\necho "$0" "$@" >> {folder}/calls\ncat >> {folder}/input\necho "{says}"\nexit {status}\n'
    )
    file.chmod(0o755)


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for programs, first on the path."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    return folder


def test_the_job_script() -> None:
    plan = WorkerPlan(workers=8, cores=25, attn="/shared/venv/bin/attn", log="/shared/logs")
    assert job_script(plan, ADDRESS, Path("/shared/my certs")).splitlines() == [
        "#!/bin/bash",
        "#SBATCH --job-name=attnlab",
        "#SBATCH --array=1-8",
        "#SBATCH --ntasks=1",
        "#SBATCH --cpus-per-task=25",
        "#SBATCH --requeue",
        "#SBATCH --output=/shared/logs/worker-%A_%a.log",
        "exec /shared/venv/bin/attn cluster worker tls://login1:8786 --cores 25 --certs '/shared/my certs'",
    ]


def test_the_job_script_runs(tmp_path: Path) -> None:
    fake_program(tmp_path, "attn")
    script = tmp_path / "workers.sh"
    script.write_text(job_script(WorkerPlan(attn=str(tmp_path / "attn")), ADDRESS, tmp_path / "my certs"))
    subprocess.run(["bash", str(script)], check=True, stdin=subprocess.DEVNULL, capture_output=True)
    called = (tmp_path / "calls").read_text()
    assert called == f"{tmp_path}/attn cluster worker {ADDRESS} --cores 8 --certs {tmp_path}/my certs\n"


def test_a_worker_with_a_gpu_grades_one_at_a_time() -> None:
    script = job_script(WorkerPlan(gpus=1, cores=8), ADDRESS, Path("/certs"))
    assert "#SBATCH --gres=gpu:1\n" in script
    assert "#SBATCH --cpus-per-task=8\n" in script
    assert "--cores 1 " in script
    text = manifest(WorkerPlan(gpus=1, image="i", claim="c", mount="/m"))
    container = list(yaml.safe_load_all(text))[2]["spec"]["template"]["spec"]["containers"][0]
    assert container["resources"]["limits"] == {"nvidia.com/gpu": 1}
    assert container["command"][-3:-1] == ["1", "--certs"]


def test_slurm_gets_the_job_and_loses_it_again(programs: Path, tmp_path: Path) -> None:
    fake_program(programs, "sbatch", "4711;cluster")
    fake_program(programs, "scancel")
    folder = tmp_path / "own"
    folder.mkdir()
    with slurm_cluster(folder, WorkerPlan(workers=3), pytest.fail) as (address, certs):
        script = (folder / "workers.sh").read_text()
        assert f"cluster worker {address} --cores 8 --certs {certs}" in script
        assert "#SBATCH --array=1-3\n" in script
        assert (programs / "calls").read_text() == f"{programs}/sbatch --parsable {folder}/workers.sh\n"
    assert (programs / "calls").read_text().endswith(f"{programs}/scancel 4711\n")


def test_what_sbatch_says_is_the_error(programs: Path, tmp_path: Path) -> None:
    fake_program(programs, "sbatch", "invalid partition", status=1)
    fake_program(programs, "scancel")
    (tmp_path / "own").mkdir()
    refused = pytest.raises(ClusterError, match="sbatch failed: invalid partition")
    with refused, slurm_cluster(tmp_path / "own", WorkerPlan(), pytest.fail):
        pass


def test_a_job_that_cannot_be_cancelled_is_told(programs: Path, tmp_path: Path) -> None:
    fake_program(programs, "sbatch", "4711")
    fake_program(programs, "scancel", "no controller", status=1)
    (tmp_path / "own").mkdir()
    told: list[str] = []
    with slurm_cluster(tmp_path / "own", WorkerPlan(), told.append):
        pass
    assert told == ["scancel failed: no controller. Cancel the job by hand: scancel 4711"]


def test_without_slurm_it_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with (
        pytest.raises(ClusterError, match="--cluster slurm needs sbatch"),
        slurm_cluster(tmp_path, WorkerPlan(), print),
    ):
        pass


def test_the_manifest_has_a_service_a_scheduler_and_workers() -> None:
    service, scheduler, workers = yaml.safe_load_all(manifest(POD))
    assert (service["kind"], scheduler["kind"], workers["kind"]) == ("Service", "Deployment", "Deployment")
    assert service["spec"]["selector"] == scheduler["spec"]["template"]["metadata"]["labels"]
    assert scheduler_address(POD) == "tls://attnlab-scheduler.teaching.svc:8786"
    assert service["metadata"]["name"] == "attnlab-scheduler"
    assert (scheduler["spec"]["replicas"], workers["spec"]["replicas"]) == (1, 8)
    command = " ".join(_container(scheduler)["command"])
    assert command == "attn cluster scheduler --host 0.0.0.0 --port 8786 --certs /etc/attnlab-certs"
    command = " ".join(_container(workers)["command"])
    assert command == f"attn cluster worker {scheduler_address(POD)} --cores 25 --certs /etc/attnlab-certs"
    assert _container(workers)["resources"] == {"requests": {"cpu": 25}}
    for deployment in (scheduler, workers):
        assert deployment["metadata"]["namespace"] == "teaching"
        assert deployment["spec"]["selector"]["matchLabels"] == deployment["spec"]["template"]["metadata"]["labels"]
        pod = deployment["spec"]["template"]["spec"]
        assert pod["automountServiceAccountToken"] is False
        mounts = {one["name"]: one["mountPath"] for one in _container(deployment)["volumeMounts"]}
        assert mounts == {"shared": "/shared", "certs": "/etc/attnlab-certs"}
        assert {one["name"] for one in pod["volumes"]} == set(mounts)


def _container(deployment: dict[str, Any]) -> dict[str, Any]:
    (found,) = deployment["spec"]["template"]["spec"]["containers"]
    assert isinstance(found, dict)
    return found


def test_a_manifest_needs_an_image_and_a_disk() -> None:
    with pytest.raises(ClusterError, match=r"Kubernetes needs image .*, claim .*, mount "):
        manifest(WorkerPlan())


def test_kubectl_gets_the_manifest_and_deletes_it_again(programs: Path) -> None:
    fake_program(programs, "kubectl")
    with kubernetes_cluster(POD, pytest.fail) as address:
        own = replace(POD, name=address.removeprefix("tls://").partition("-scheduler")[0])
        assert own.name.startswith("attnlab-")
        assert address == scheduler_address(own)
        assert (programs / "input").read_text() == manifest(own)
    verbs = [line.split()[3] for line in (programs / "calls").read_text().splitlines()]
    assert verbs == ["apply", "delete"]


def test_two_clusters_at_once_have_different_names(programs: Path) -> None:
    fake_program(programs, "kubectl")
    with kubernetes_cluster(POD, pytest.fail) as one, kubernetes_cluster(POD, pytest.fail) as other:
        assert one != other


def test_what_kubectl_cannot_delete_is_told(programs: Path) -> None:
    told: list[str] = []
    fake_program(programs, "kubectl")
    with kubernetes_cluster(POD, told.append):
        fake_program(programs, "kubectl", status=1)
    (text,) = told
    assert text.startswith("kubectl delete failed: . Delete by hand what is called attnlab-")


def test_what_kubectl_refuses_is_deleted_again(programs: Path) -> None:
    fake_program(programs, "kubectl", status=1)
    told: list[str] = []
    with pytest.raises(ClusterError, match="kubectl apply failed"), kubernetes_cluster(POD, told.append):
        pass
    assert len(told) == 1  # deleting failed, too
