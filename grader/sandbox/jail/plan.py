"""The plan of a jail: which layers, which user, which paths. What the trusted side tells a zygote as it starts it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

from grader.core.tier import Tier
from grader.sandbox.jail.limits import MEMORY_BYTES

if TYPE_CHECKING:  # a zygote is to start quickly
    from grader.course.module import Backend

Layer = Literal["view", "user", "namespaces", "capabilities", "limits", "landlock", "undumpable", "seccomp"]

STRICT: tuple[Layer, ...] = (
    "view",  # bubblewrap: a file system with Python in it and little else, and no network
    "user",  # a user who owns nothing, where we are root
    "namespaces",  # a worker's own users, pids, mounts, network and shared memory
    "capabilities",
    "limits",
    "landlock",
    "undumpable",
    "seccomp",
)
CONTAINED: tuple[Layer, ...] = tuple(layer for layer in STRICT if layer not in ("view", "namespaces"))


@dataclass(frozen=True)
class Plan:
    """How the workers of one zygote are to be jailed; without layers they are not."""

    backend: Backend
    tier: Tier = "none"
    layers: tuple[Layer, ...] = ()
    uid: int | None = None  # the user to become, where we are root
    may_thread: bool = True  # not as root, whose threads the kernel does not count
    readable: tuple[str, ...] = ()
    listable: tuple[str, ...] = ()
    memory: int = MEMORY_BYTES  # what a worker may add to what its zygote has
    meters: bool = True  # whether workers will be asked to measure
    devices: tuple[str, ...] = ()  # the files of a GPU, where workers are to have one

    def has(self, layer: Layer) -> bool:
        return layer in self.layers

    def as_data(self) -> dict[str, Any]:
        return asdict(self)


def plan_of(data: dict[str, Any]) -> Plan:
    """Return the plan that `as_data` made data of."""
    fields: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in data.items()}
    return Plan(**fields)
