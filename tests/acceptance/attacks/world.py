"""The world of an attack: secrets, valuable files and listening sockets, and the detectors of damage."""

from __future__ import annotations

import ctypes
import os
import secrets
import shutil
import socket
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np

import grader
from grader.sandbox.jail.seccomp import numbers

MODE = 0o666
FLOOD = 1 << 20  # in bytes: more output than this from one submission is a flood


class World:
    """Everything an attacker could want, in a folder that all users may read."""

    def __init__(self) -> None:
        self.nonce = secrets.token_hex(8)
        self.folder = Path(tempfile.mkdtemp(prefix="attnlab-attack-"))
        self.folder.chmod(0o755)
        self.kept = self.folder / "kept"
        self.loot = self.folder / "loot"
        self.kept.mkdir()
        self.loot.mkdir()
        self.loot.chmod(0o777)
        self.tokens = {name: f"SECRET-{name}-{secrets.token_hex(8)}" for name in ("name", "heap", "environment")}
        self.secrets: dict[str, str] = {}
        for name in ("hidden", "solution", "gradebook", "other"):
            self.tokens[name] = f"SECRET-{name}-{secrets.token_hex(8)}"
            path = self.kept / ("hidden_suite.py" if name == "hidden" else f"{name}.py")
            path.write_text(f"# {self.tokens[name]}\n")
            path.chmod(0o666)
            self.secrets[name] = str(path)
        (self.kept / self.tokens["name"]).touch()
        os.environ["ATTNLAB_TEST_TOKEN"] = self.tokens["environment"]
        self.precious = self.folder / "precious"
        self.heap = ctypes.create_string_buffer(self.tokens["heap"].encode())
        self.gradebook = os.open(self.secrets["gradebook"], os.O_RDONLY)
        os.set_inheritable(self.gradebook, True)
        self.listeners = [socket.create_server(("127.0.0.1", 0)), _listener(str(self.folder / "socket"))]
        self.listeners.append(_listener(f"\0attnlab-{self.nonce}"))
        (self.folder / "socket").chmod(0o777)
        for listener in self.listeners:
            listener.setblocking(False)
        self.restore()

    def facts(self, *, grader_pid: int, zygote: int, sibling: int) -> dict[str, object]:
        """Return what the attacker knows: everything except the secrets themselves."""
        return {
            "SECRETS": self.secrets,
            "LOOT": str(self.loot),
            "PRECIOUS": str(self.precious),
            "PACKAGES": str(Path(np.__file__).parent.parent),
            "GRADER": grader_pid,
            "ZYGOTE": zygote,
            "SIBLING": sibling,
            "TOKEN_ADDRESS": ctypes.addressof(self.heap),
            "TOKEN_LENGTH": len(self.heap.value),
            "PORT": self.listeners[0].getsockname()[1],
            "UNIX": str(self.folder / "socket"),
            "ABSTRACT": f"attnlab-{self.nonce}",
            "NONCE": self.nonce,
            "NR": numbers(),
        }

    def restore(self) -> None:
        """Put everything back as it was, and save that state."""
        for path in self.traces():
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
        self.loot.chmod(0o777)
        if not self.precious.exists() or self.precious.read_text() != "precious":
            self.precious.write_text("precious")
        os.chown(self.precious, os.getuid(), os.getgid())
        self.precious.chmod(MODE)
        for name, secret in self.secrets.items():
            Path(secret).write_text(f"# {self.tokens[name]}\n")
        self.state = self.look()

    def look(self) -> dict[str, object]:
        """Return the current state of the valuable files."""
        if not self.precious.exists():
            return {}
        about = self.precious.stat()
        state: dict[str, object] = {
            "text": self.precious.read_text(),
            "mode": about.st_mode,
            "mtime": about.st_mtime_ns,
        }
        state |= {"owner": about.st_uid, "links": about.st_nlink, "attributes": os.listxattr(self.precious)}
        return state | {name: Path(path).read_text() for name, path in self.secrets.items()}

    def traces(self) -> list[Path]:
        """Return files that should not exist: any in the loot folder, and any elsewhere with our nonce in its name."""
        packages = Path(np.__file__).parent.parent
        ours = Path(grader.__file__).parent
        places = [packages, packages / "numpy" / "__pycache__", ours, Path("/dev/shm"), Path("/tmp"), Path.cwd()]
        found = [path for place in places if place.is_dir() for path in place.glob(f"*{self.nonce}*")]
        return [*self.loot.iterdir(), *found]

    def breaches(self, text: str) -> set[str]:
        """Return what an attack reached, judged by its output and by what it left behind."""
        found = {f"secret: {name}" for name, token in self.tokens.items() if token in text}
        if "BREACH" in text:
            found.add("claim")
        if len(text) > FLOOD:
            found.add("flood")
        if self.traces():
            found.add("effect: files")
        if self.look() != self.state:
            found.add("effect: precious")
        for listener in self.listeners:
            try:
                listener.accept()[0].close()
                found.add("effect: connection")
            except BlockingIOError:
                pass
        return found

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        for listener in self.listeners:
            listener.close()
        os.close(self.gradebook)
        self.restore()
        shutil.rmtree(self.folder)


def _listener(name: str) -> socket.socket:
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(name)
    listener.listen()
    return listener
