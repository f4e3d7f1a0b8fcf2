"""SLURM: the job script of the workers, and the job while a class is graded.

The script is ours. dask-jobqueue would start `dask worker`, which knows neither the jail nor our settings.
"""

from __future__ import annotations

import contextlib
import shlex
import shutil
import socket
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

from grader.core.atomic_file import write_atomically
from grader.platforms.cluster import ClusterError
from grader.platforms.cluster.certificates import make_certificates
from grader.platforms.cluster.service import scheduler_process
from grader.platforms.cluster.settings import WorkerPlan


def job_script(plan: WorkerPlan, address: str, certs: Path) -> str:
    """Return a script for `sbatch`: an array of workers. A worker that is lost is started again."""
    lines = [
        "#!/bin/bash",
        f"#SBATCH --job-name={plan.name}",
        f"#SBATCH --array=1-{plan.workers}",
        "#SBATCH --ntasks=1",
        f"#SBATCH --cpus-per-task={plan.cores}",
        "#SBATCH --requeue",
    ]
    if plan.gpus:
        lines.append(f"#SBATCH --gres=gpu:{plan.gpus}")
    if plan.log:
        lines.append(f"#SBATCH --output={plan.log}/worker-%A_%a.log")
    worker = [plan.command, "cluster", "worker", address, "--cores", str(plan.threads), "--certs", str(certs)]
    return "\n".join([*lines, f"exec {shlex.join(worker)}", ""])


@contextlib.contextmanager
def slurm_cluster(folder: Path, plan: WorkerPlan, tell: Callable[[str], None]) -> Iterator[tuple[str, Path]]:
    """Run a scheduler here and the workers as a SLURM job; give the address and the certificates.

    The folder must be on the shared disk, and the workers must be able to reach this machine. If the job cannot be
    cancelled, the class is graded all the same, so that is only told.
    """
    for program in ("sbatch", "scancel"):
        if shutil.which(program) is None:
            raise ClusterError(f"--cluster slurm needs {program}: run this command where you submit jobs")
    certs = folder / "certs"
    make_certificates(certs)
    with scheduler_process(folder, certs, host=socket.getfqdn()) as (address, _):
        script = folder / "workers.sh"
        write_atomically(script, job_script(plan, address, certs))
        job = _run("sbatch", "--parsable", str(script)).partition(";")[0]  # with several clusters: id;cluster
        try:
            yield address, certs
        finally:
            try:
                _run("scancel", job)
            except ClusterError as error:
                tell(f"{error}. Cancel the job by hand: scancel {job}")


def _run(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise ClusterError(f"{command[0]} failed: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout.strip()
