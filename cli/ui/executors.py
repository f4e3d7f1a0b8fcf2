"""The options of `attn grade` that say where submissions are graded, and the executor that they mean."""

from __future__ import annotations

import contextlib
import importlib.util
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import click

from grader.classroom.store.files import FileStore
from grader.classroom.store.store import ResultsStore
from grader.grading.executor import Executor, LocalPool, SplitPool
from grader.platforms.cluster import ClusterError

FOLDER = ".cluster"  # in the folder of the results: removed when the class is graded
LOCAL_SECONDS = 60.0  # workers on this machine start in seconds
QUEUE_SECONDS = 7 * 24 * 3600.0  # a job may wait in a queue
IMAGE_SECONDS = 1800.0  # the first node may have to download an image before the scheduler starts
NO_DASK = "grading on other machines needs Dask: pip install 'attnlab[cluster]'"
certs_option = click.option(
    "--certs",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="The folder that attn cluster certs made.",
)
plan_option = click.option(
    "--cluster-option", "-o", "plan", multiple=True, metavar="KEY=VALUE", help="Such as workers=4 or cores=16."
)
WHERE_OPTIONS = (
    click.option("--on", metavar="ADDRESS", help="Grade on the workers of a Dask scheduler, such as tls://host:8786."),
    click.option("--on-gpu", metavar="ADDRESS", help="The same for modules that use a GPU: a scheduler of their own."),
    certs_option,
    click.option(
        "--cluster",
        type=click.Choice(["local", "slurm", "kubernetes"]),
        help="Start a scheduler and workers for this run.",
    ),
    plan_option,
    click.option(
        "--spool",
        type=click.Path(path_type=Path, file_okay=False),
        help="A folder on a disk that all machines share. By default that of --to.",
    ),
)


@dataclass(frozen=True)
class Where:
    """Where submissions are graded, as the options say. Without any, on this machine."""

    on: str | None = None
    on_gpu: str | None = None
    certs: Path | None = None
    cluster: str | None = None
    plan: tuple[str, ...] = ()
    spool: Path | None = None
    jobs: int = 1  # grading processes on this machine
    cuda: bool = False
    allow_unjailed: bool = False

    def shared(self, to: ResultsStore | None) -> Path | None:
        """The folder that the machines share: that of --spool, or else that of the results."""
        return self.spool or (Path(to.name) if isinstance(to, FileStore) else None)

    def check(self, to: ResultsStore | None) -> None:
        """Stop if the options contradict each other, before anything is read."""
        if self.on and self.cluster:
            raise click.UsageError("--on is a cluster that runs already, --cluster starts one: use only one of them")
        if self.plan and not self.cluster:
            raise click.UsageError("--cluster-option needs --cluster")
        if self.cuda and (self.on or self.cluster) and not self.on_gpu:
            raise click.UsageError("GPU modules have a pool of their own: add --on-gpu with its scheduler")
        if self.shared(to) is None and (self.on or self.on_gpu or self.cluster in ("slurm", "kubernetes")):
            raise click.UsageError("other machines need --to or --spool, a folder on a disk that all of them share")
        if (self.on or self.on_gpu or self.cluster) and importlib.util.find_spec("distributed") is None:
            raise click.UsageError(NO_DASK)


@contextlib.contextmanager
def open_executor(where: Where, to: ResultsStore) -> Iterator[Executor]:
    """Give the executor; a cluster that was started for it ends with it."""
    jobs, allow_unjailed = where.jobs, where.allow_unjailed
    if not (where.on or where.on_gpu or where.cluster):
        yield LocalPool(jobs, allow_unjailed, gpu=where.cuda)
        return
    from grader.platforms.cluster.certificates import security_of
    from grader.platforms.cluster.dask_pool import DaskPool, find_gpu
    from grader.platforms.cluster.settings import read_address  # here, because Dask is slow to import

    tls = where.certs is not None
    plain: Executor = LocalPool(jobs, allow_unjailed)
    with contextlib.ExitStack() as stack:
        shared = where.shared(to) or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="attn-")))
        own = (shared / FOLDER).resolve()
        own.mkdir(parents=True, exist_ok=True, mode=0o700)
        if where.cluster:
            this_run = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=own, prefix="run-")))
            address, certs = stack.enter_context(_started(where, this_run, jobs))
            patience = LOCAL_SECONDS if where.cluster == "local" else QUEUE_SECONDS
            connect = IMAGE_SECONDS if where.cluster == "kubernetes" else LOCAL_SECONDS
            security = security_of(certs)
            plain = DaskPool(address, own / "spool", security, allow_unjailed, patience=patience, connect=connect)
        elif where.on:
            address = read_address(where.on, tls=tls)
            plain = DaskPool(address, own / "spool", security_of(where.certs), allow_unjailed)
        if where.on_gpu:
            address, security = read_address(where.on_gpu, tls=tls), security_of(where.certs)
            name = find_gpu(address, security)
            yield SplitPool(plain, DaskPool(address, own / "spool-gpu", security, allow_unjailed, name))
        else:
            yield plain
    if where.spool is None:  # otherwise another command may be using it
        shutil.rmtree(own, ignore_errors=True)


@contextlib.contextmanager
def _started(where: Where, folder: Path, jobs: int) -> Iterator[tuple[str, Path]]:
    from grader.platforms.cluster.kubernetes import kubernetes_cluster
    from grader.platforms.cluster.service import local_cluster
    from grader.platforms.cluster.settings import read_plan
    from grader.platforms.cluster.slurm import slurm_cluster

    plan = read_plan(where.plan)
    if where.cluster == "local":
        with local_cluster(folder, jobs) as found:
            yield found
    elif where.cluster == "slurm":
        with slurm_cluster(folder, plan, _tell) as found:
            _tell(f"the scheduler is at {found[0]}; grading begins with the first worker")
            yield found
    elif where.certs is None:
        raise ClusterError("--cluster kubernetes needs --certs: the same certificates as in the cluster's secret")
    else:
        with kubernetes_cluster(plan, _tell) as address:
            _tell(f"the scheduler is at {address}; grading begins with the first worker")
            yield address, where.certs


def _tell(text: str) -> None:
    click.echo(f"attn: {text}", err=True)
