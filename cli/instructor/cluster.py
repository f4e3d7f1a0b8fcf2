"""`attn cluster`: the machines that grade together."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import click

from cli.ui.executors import NO_DASK, certs_option, plan_option
from grader.grading.pool import usable_cores
from grader.platforms.cluster import ClusterError
from grader.platforms.cluster.settings import PORT, is_this_machine, read_address


class _ClusterCommand(click.Command):
    """A command whose errors about a cluster are usage errors."""

    def invoke(self, ctx: click.Context) -> object:
        if importlib.util.find_spec("distributed") is None:
            raise click.UsageError(NO_DASK)
        try:
            return super().invoke(ctx)
        except ClusterError as error:
            raise click.UsageError(str(error)) from None


@click.group()
def cluster() -> None:
    """Grade on several machines (for instructors).

    \b
    attn cluster certs certs                            once, for all machines
    attn cluster scheduler --host HOST --certs certs    on one machine
    attn cluster worker tls://HOST:8786 --certs certs   on each machine
    attn grade class/ --to reports --on tls://HOST:8786 --certs certs
    attn cluster script slurm tls://HOST:8786 --certs certs -o workers=8

    The course, the certificates and the folder of --to must be at the same path on all machines: on a disk that they
    share. All must have the same AttnLab, Python and libraries; a worker that differs is refused. docs/cluster.md has
    complete examples for SLURM and Kubernetes.
    """


@cluster.command(cls=_ClusterCommand)
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
@click.option("--days", type=click.IntRange(1, 3650), default=365, show_default=True, help="How long they are valid.")
def certs(folder: Path, days: int) -> None:
    """Make the certificates of a cluster in FOLDER.

    Copy the folder to every machine, or keep it on the shared disk. Whoever can read key.pem can run any code on all
    workers, as you.
    """
    from grader.platforms.cluster.certificates import make_certificates

    make_certificates(folder, days)
    click.echo(f"key.pem and cert.pem are in {folder}/, valid for {days} days. Only you can read key.pem.")


@cluster.command(cls=_ClusterCommand)
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on; 0.0.0.0 for all.")
@click.option("--port", type=click.IntRange(0, 65535), default=PORT, show_default=True)
@certs_option
def scheduler(host: str, port: int, certs: Path | None) -> None:
    """Run the scheduler: it knows the workers and gives them work.

    Without --certs, it listens only on this machine, and everyone who has an account on it can use it. Ctrl-C stops it.
    If it is stopped while a class is graded, start it again on the same port: nothing is lost.
    """
    from grader.platforms.cluster.service import run_scheduler

    if certs is None and not is_this_machine(host):
        raise click.UsageError(
            "without --certs, anyone who can reach this machine could run code as you: "
            "make certificates with `attn cluster certs` and add --certs"
        )
    run_scheduler(host, port, certs, lambda address: click.echo(f"the scheduler is at {address}", err=True))


@cluster.command(cls=_ClusterCommand)
@click.argument("address")
@click.option("--cores", type=click.IntRange(1, 1024), help="Submissions graded at once; by default one per core.")
@certs_option
def worker(address: str, cores: int | None, certs: Path | None) -> None:
    """Run a worker for the scheduler at ADDRESS, such as tls://host:8786.

    It has one warm grading process for each core. If the scheduler goes away, it waits ten minutes for it. On a machine
    with a GPU that grades GPU modules, use --cores 1.
    """
    from grader.platforms.cluster.service import run_worker

    place = read_address(address, tls=certs is not None)
    run_worker(place, cores or usable_cores(), certs, lambda name: click.echo(f"{name} is ready", err=True))


@cluster.command(cls=_ClusterCommand)
@click.argument("kind", type=click.Choice(["slurm", "kubernetes"]))
@click.argument("address", required=False)
@certs_option
@plan_option
def script(kind: str, address: str | None, certs: Path | None, plan: tuple[str, ...]) -> None:
    """Print a job script for SLURM or a manifest for Kubernetes.

    \b
    attn cluster script slurm tls://login1:8786 --certs certs -o workers=8 -o cores=25
    attn cluster script kubernetes -o image=IMAGE -o claim=CLAIM -o mount=/shared

    \b
    Options: workers, cores, gpus, attn, log, name;
    for Kubernetes also image, claim, mount, secret, namespace.
    """
    from grader.platforms.cluster.kubernetes import manifest
    from grader.platforms.cluster.settings import read_plan
    from grader.platforms.cluster.slurm import job_script

    found = read_plan(plan)
    if kind == "kubernetes":
        click.echo(manifest(found), nl=False)
        return
    if address is None or certs is None:
        raise click.UsageError("a job script needs the address of the scheduler and --certs")
    click.echo(job_script(found, read_address(address, tls=True), certs.resolve()), nl=False)
