"""The screenshot of formgrader in the docs: `python -m tests.platforms.nbgrader.screenshot` makes it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import requests

from tests.waiting import wait_until

ROOT = Path(__file__).parents[3]
STUDENT = "ben"


def main() -> None:
    """Play a term, open formgrader, and save a screenshot."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        raise SystemExit("there is no chromium here: apt-get install chromium")
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, str(ROOT / "examples" / "term.py"), folder], check=True)
        course = Path(folder) / "attention"
        command = [sys.executable, "-m", "jupyter", "server", "--allow-root", "--no-browser", "--ServerApp.port=0"]
        command += ["--ServerApp.ip=127.0.0.1", "--IdentityProvider.token="]
        command += ["--ServerApp.jpserver_extensions={'nbgrader.server_extensions.formgrader': True}"]
        log = Path(folder) / "jupyter.log"
        with log.open("w") as file:
            server = subprocess.Popen(command, cwd=course, env={**os.environ, "HOME": folder}, stderr=file)
        try:
            found = wait_until("its address", lambda: re.search(r"http://127\.0\.0\.1:\d+", log.read_text()), by=server)
            assert found is not None
            photograph(chromium, found[0], folder)
        finally:
            server.terminate()
            server.wait()


def photograph(chromium: str, url: str, folder: str) -> None:
    """Open one student's page in a browser."""
    api = f"{url}/formgrader/api/submitted_notebooks/01_softmax/softmax"
    books = requests.get(api, timeout=60).json()
    page = next(book["id"] for book in books if book["student"] == STUDENT)
    target = ROOT / "docs" / "formgrader.png"
    command = [chromium, "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
    command += [f"--user-data-dir={folder}/browser", "--window-size=1100,4850", "--virtual-time-budget=60000"]
    command += ["--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"]  # no page may wait for the network
    command += [f"--screenshot={target}", f"{url}/formgrader/submissions/{page}/"]
    subprocess.run(command, check=True, capture_output=True)


if __name__ == "__main__":
    main()
