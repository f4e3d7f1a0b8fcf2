"""Kubernetes: the manifest of a scheduler and its workers, and both while a class is graded.

The manifest is ours. dask-kubernetes needs an operator in the cluster, and would start `dask worker`.
"""

from __future__ import annotations

import contextlib
import shutil
import subprocess
import uuid
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import yaml

from grader.platforms.cluster import ClusterError
from grader.platforms.cluster.settings import PORT, WorkerPlan

CERTS = "/etc/attnlab-certs"  # in the pods
_NEEDED = {"image": "an image that has AttnLab", "claim": "the volume claim of the shared disk", "mount": "its path"}


def scheduler_address(plan: WorkerPlan) -> str:
    """Return the address of the scheduler, inside the cluster."""
    return f"tls://{plan.name}-scheduler.{plan.namespace}.svc:{PORT}"


def manifest(plan: WorkerPlan) -> str:
    """Return the manifest: a service, a scheduler, and workers that are started again when they are lost."""
    missing = [f"{key} ({words})" for key, words in _NEEDED.items() if not getattr(plan, key)]
    if missing:
        raise ClusterError(f"Kubernetes needs {', '.join(missing)}: add it as KEY=VALUE")
    attn = plan.attn or "attn"
    scheduler = [attn, "cluster", "scheduler", "--host", "0.0.0.0", "--port", str(PORT), "--certs", CERTS]
    worker = [attn, "cluster", "worker", scheduler_address(plan), "--cores", str(plan.threads), "--certs", CERTS]
    requests: dict[str, Any] = {"cpu": plan.cores}
    limits = {"nvidia.com/gpu": plan.gpus} if plan.gpus else {}
    service = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": _metadata(plan, "scheduler"),
        "spec": {"selector": _labels(plan, "scheduler"), "ports": [{"port": PORT, "targetPort": PORT}]},
    }
    documents = [
        service,
        _deployment(plan, "scheduler", scheduler, 1, {}),
        _deployment(plan, "worker", worker, plan.workers, {"requests": requests, "limits": limits}),
    ]
    return str(yaml.safe_dump_all(documents, sort_keys=False))


@contextlib.contextmanager
def kubernetes_cluster(plan: WorkerPlan, tell: Callable[[str], None]) -> Iterator[str]:
    """Apply the manifest with kubectl, give the address, and delete everything again.

    The names end with letters of this run: another command may grade at the same time. If deleting fails, the class is
    graded all the same, so that is only told.
    """
    if shutil.which("kubectl") is None:
        raise ClusterError("--cluster kubernetes needs kubectl")
    plan = replace(plan, name=f"{plan.name}-{uuid.uuid4().hex[:6]}")
    text = manifest(plan)
    try:
        _kubectl(plan, text, "apply")
        yield scheduler_address(plan)
    finally:
        try:
            _kubectl(plan, text, "delete", "--ignore-not-found")
        except ClusterError as error:
            tell(f"{error}. Delete by hand what is called {plan.name}-scheduler and {plan.name}-worker")


def _kubectl(plan: WorkerPlan, text: str, verb: str, *options: str) -> None:
    command = ["kubectl", "--namespace", plan.namespace, verb, *options, "-f", "-"]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    if done.returncode:
        raise ClusterError(f"kubectl {verb} failed: {done.stderr.strip()}")


def _deployment(
    plan: WorkerPlan, role: str, command: list[str], replicas: int, resources: dict[str, Any]
) -> dict[str, Any]:
    shared = {"name": "shared", "mountPath": plan.mount}
    certs = {"name": "certs", "mountPath": CERTS, "readOnly": True}
    container = {
        "name": role,
        "image": plan.image,
        "command": command,
        "resources": {name: amounts for name, amounts in resources.items() if amounts},
        "volumeMounts": [shared, certs],
    }
    volumes = [
        {"name": "shared", "persistentVolumeClaim": {"claimName": plan.claim}},
        {"name": "certs", "secret": {"secretName": plan.secret, "defaultMode": 0o400}},
    ]
    # Student code must not find the credentials of the cluster, not even outside of its jail.
    pod = {"automountServiceAccountToken": False, "containers": [container], "volumes": volumes}
    labels = _labels(plan, role)
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": _metadata(plan, role),
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": pod},
        },
    }


def _metadata(plan: WorkerPlan, role: str) -> dict[str, Any]:
    return {"name": f"{plan.name}-{role}", "namespace": plan.namespace, "labels": _labels(plan, role)}


def _labels(plan: WorkerPlan, role: str) -> dict[str, str]:
    return {"app": plan.name, "role": role}
