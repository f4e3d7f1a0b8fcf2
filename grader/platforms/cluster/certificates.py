"""Certificates of a cluster: all its machines have the same one, and talk only to those that have it.

Dask does not tell roles apart: everyone with the key can give work to workers. So one pair is as good as three.
"""

from __future__ import annotations

import datetime
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from distributed import Security

from grader.core.atomic_file import write_bytes_atomically
from grader.platforms.cluster import ClusterError

KEY, CERTIFICATE = "key.pem", "cert.pem"
NAME = "attnlab-cluster"
DAYS = 365


def make_certificates(folder: Path, days: int = DAYS) -> None:
    """Write a key and its certificate; only the owner can read the key. Existing ones are not replaced."""
    if (folder / KEY).exists() or (folder / CERTIFICATE).exists():
        raise ClusterError(f"{folder} has certificates already: use them, or name another folder")
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, NAME)])
    now = datetime.datetime.now(datetime.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(hours=1))  # the clocks of machines differ
        .not_valid_after(now + datetime.timedelta(days=days))
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    encoded = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    write_bytes_atomically(folder / KEY, encoded, secret=True)
    write_bytes_atomically(folder / CERTIFICATE, certificate.public_bytes(serialization.Encoding.PEM))


def security_of(folder: Path | None) -> Security | None:
    """Return what Dask needs to talk TLS in every role; None without a folder."""
    if folder is None:
        return None
    key, certificate = folder.resolve() / KEY, folder.resolve() / CERTIFICATE
    for path in (key, certificate):
        if not path.is_file():
            raise ClusterError(f"{path} is missing: make certificates with `attn cluster certs`, or copy them here")
    files = (("key", key), ("cert", certificate))
    roles = {f"tls_{role}_{what}": str(path) for role in ("client", "scheduler", "worker") for what, path in files}
    return Security(tls_ca_file=str(certificate), require_encryption=True, **roles)
