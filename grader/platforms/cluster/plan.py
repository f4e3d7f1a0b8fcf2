"""The plan of a cluster: how many workers, how large, and what they run."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from grader.platforms.cluster import ClusterError


@dataclass(frozen=True)
class Plan:
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


def read_plan(options: Iterable[str]) -> Plan:
    """Return the plan that options of the form KEY=VALUE describe."""
    kinds = {field.name: field.type for field in dataclasses.fields(Plan)}
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
    return dataclasses.replace(Plan(), **values)  # type: ignore[arg-type]
