"""Addresses of schedulers, as people write them."""

from __future__ import annotations

import ipaddress

from grader.platforms.cluster import ClusterError

PORT = 8786
_FORM = "Write it as dask://host:port or tls://host:port"


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
