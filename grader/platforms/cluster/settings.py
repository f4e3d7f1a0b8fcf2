"""What people write about a cluster: the address of its scheduler, and the plan of its workers."""

from __future__ import annotations

import dataclasses
import ipaddress
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from grader.platforms.cluster import ClusterError

PORT = 8786
_FORM = "Write it as dask://host:port or tls://host:port"


@dataclass(frozen=True)
class WorkerPlan:
    """What a job script or a manifest says. Partitions, accounts and time limits are options of SLURM itself."""

    workers: int = 4
    cores: int = 8  # of each worker
    gpus: int = 0  # of each worker; such a worker grades one submission at a time
    attn: str = ""  # the command on the workers
    log: str = ""  # the folder of the workers' messages
    image: str = ""  # Kubernetes: with AttnLab in it
    claim: str = ""  # Kubernetes: the volume claim of the shared disk
    mount: str = ""  # Kubernetes: where the shared disk is, in all pods
    secret: str = "attnlab-certs"  # Kubernetes: the certificates
    namespace: str = "default"
    name: str = "attnlab"

    @property
    def threads(self) -> int:
        """How many submissions a worker grades at once."""
        return 1 if self.gpus else self.cores

    @property
    def command(self) -> str:
        """The command `attn` of a worker: by default the one of this command, on the shared disk."""
        return self.attn or str(Path(sys.executable).with_name("attn"))


def read_plan(options: Iterable[str]) -> WorkerPlan:
    """Return the plan that options of the form KEY=VALUE describe."""
    kinds = {field.name: field.type for field in dataclasses.fields(WorkerPlan)}
    values: dict[str, int | str] = {}
    for option in options:
        key, found, value = option.partition("=")
        if not found or key not in kinds:
            raise ClusterError(f"{option!r} is not an option of a cluster: write KEY=VALUE, with {', '.join(kinds)}")
        if kinds[key] == "int":
            if not value.isdecimal() or (int(value) < 1 and key != "gpus"):
                raise ClusterError(f"{option!r}: {key} must be a number")
            values[key] = int(value)
        elif "\n" in value:
            raise ClusterError(f"{key} must be one line")
        else:
            values[key] = value
    return dataclasses.replace(WorkerPlan(), **values)  # type: ignore[arg-type]


def read_address(text: str, *, tls: bool) -> str:
    """Return an address for Dask: TLS if there are certificates; plain TCP only for this machine."""
    scheme, found, rest = text.partition("://")
    host, port = _parts(rest if found else text, text)
    if found and scheme not in ("dask", "tls", "tcp"):
        raise ClusterError(f"{text} is not an address of a scheduler. {_FORM}")
    if scheme == "tcp" and tls:
        raise ClusterError(f"{text} is not encrypted, but --certs is given: write tls:// instead of tcp://")
    if scheme == "tls" and not tls:
        raise ClusterError(f"{text} needs certificates: add --certs with the folder that `attn cluster certs` made")
    if not tls and not is_this_machine(host):
        raise ClusterError(
            f"without --certs, anyone who can reach {host} could run code as you: "
            "make certificates with `attn cluster certs` and add --certs"
        )
    shown = f"[{host}]" if ":" in host else host
    return f"{'tls' if tls else 'tcp'}://{shown}:{port}"


def is_this_machine(host: str) -> bool:
    """Whether only this machine can reach a host."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _parts(place: str, text: str) -> tuple[str, int]:
    """Return the host and the port of `host`, `host:port`, `[host]` or `[host]:port`."""
    host, _, port = place.rpartition(":") if place.count(":") == 1 or "]:" in place else (place, "", "")
    host = host.removeprefix("[").removesuffix("]")
    number = int(port) if port.isdecimal() else PORT if not port else 0
    if not host or "/" in host or not 0 < number < 65536:
        raise ClusterError(f"{text} is not an address of a scheduler. {_FORM}")
    return host, number
