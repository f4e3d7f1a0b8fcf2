"""The plan of a jail: its layers, user and paths. The trusted side sends it to a zygote at the start."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from grader.core.machine import Tier
from grader.sandbox.jail.limits import MEMORY_BYTES

if TYPE_CHECKING:  # not imported at run time: a zygote must start quickly
    from grader.course.module import Backend

Layer = Literal["view", "user", "namespaces", "capabilities", "limits", "landlock", "undumpable", "seccomp"]

STRICT: tuple[Layer, ...] = (
    "view",  # bubblewrap: a file system with little more than Python, and no network
    "user",  # a user who owns nothing, if we are root
    "namespaces",  # a worker has its own users, pids, mounts, network and shared memory
    "capabilities",
    "limits",
    "landlock",
    "undumpable",
    "seccomp",
)
CONTAINED: tuple[Layer, ...] = tuple(layer for layer in STRICT if layer not in ("view", "namespaces"))


@dataclass(frozen=True)
class JailPlan:
    """How to jail the workers of one zygote. Without layers they are not jailed."""

    backend: Backend
    tier: Tier = "none"
    layers: tuple[Layer, ...] = ()
    uid: int | None = None  # the user to change to, if we are root
    may_thread: bool = True  # not as root: the kernel does not limit root's threads
    readable: tuple[str, ...] = ()
    listable: tuple[str, ...] = ()
    memory: int = MEMORY_BYTES  # what a worker may use in addition to its zygote
    meters: bool = True  # whether workers will measure costs
    devices: tuple[str, ...] = ()  # the device files of a GPU, if workers get one
    compiles: bool = False  # workers start compilers, and have a folder for what these write

    def has(self, layer: Layer) -> bool:
        return layer in self.layers


def plan_of(data: dict[str, Any]) -> JailPlan:
    """Return the plan from its fields as JSON has them."""
    fields: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in data.items()}
    return JailPlan(**fields)
