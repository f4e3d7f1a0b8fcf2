"""The URL of a database: with its password for the connection, without it for everything that is shown."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from urllib.parse import quote

from psycopg import ProgrammingError
from psycopg.conninfo import conninfo_to_dict

from grader.classroom.store.errors import StoreError

SCHEMES = ("postgresql://", "postgres://")
EXAMPLE = "postgresql://grader@db.example.edu/classroom"
ENCODE = "In a password, write %40 for @, %2F for /, %3A for :, %23 for # and %3F for ?"


@dataclass(frozen=True)
class StoreUrl:
    """A URL that was understood. `shown` has no password."""

    text: str = field(repr=False)
    shown: str
    secrets: tuple[str, ...] = field(default=(), repr=False)

    def hide(self, text: str) -> str:
        """Return a text of the database's without the password."""
        for secret in self.secrets:
            text = text.replace(secret, "***")
        return text


def read_url(text: str) -> StoreUrl:
    """Return a URL; StoreError if it is not one of PostgreSQL. Nothing of it is repeated: it may hold a password."""
    if not text.startswith(SCHEMES):
        scheme = re.match(r"[a-z0-9]+(\+[a-z0-9]+)?(?=://)", text)
        said = f", not with {scheme[0]}://" if scheme else ""
        raise StoreError(f"the URL of a store begins with postgresql://{said}. Such as {EXAMPLE}")
    # With a bare @ in it, a part of a password would become the name of a host, and would be shown.
    if text.partition("?")[0].count("@") > 1:
        raise StoreError(f"the URL of the store has more than one @. {ENCODE}")
    try:
        found = {name: str(value) for name, value in conninfo_to_dict(text).items() if value is not None}
    except ProgrammingError:  # its message repeats a part of the URL
        raise StoreError(f"the URL of the store cannot be read. It is written like {EXAMPLE}. {ENCODE}") from None
    # A bare / in a password ends the name of the host there: the rest of the password would be shown.
    if not re.fullmatch(r"[\d,]*", found.get("port", "")) or "@" in found.get("dbname", ""):
        raise StoreError(f"the URL of the store has a port that is not a number, or an @ at a wrong place. {ENCODE}")
    host, port, user = found.get("host", ""), found.get("port", ""), found.get("user", "")
    place = f"{f'{quote(user)}@' if user else ''}{'' if host.startswith('/') else host}{f':{port}' if port else ''}"
    shown = f"postgresql://{place}/{found.get('dbname', '')}{f'?host={host}' if host.startswith('/') else ''}"
    secrets = tuple(value for name in ("password", "sslpassword") if (value := found.get(name)))
    return StoreUrl(text, shown, secrets)
