"""What a paste gives in plain Python: the student's file, then the lines that the screen prints.

`python -m tests.diagnosis.pasted ORDERS` reads {"script", "paste", "to"} for each case from a JSON file and writes the
outcome to `to`. Every case is forked, so that torch is imported once. Nothing else of AttnLab is loaded here.
"""

from __future__ import annotations

import code
import json
import os
import pickle
import sys
import traceback
from pathlib import Path
from typing import Any


def outcome_of_paste(script: Path, paste: str) -> dict[str, Any]:
    """Import a script as the command on the screen does, paste the lines, and return the last value or exception."""
    sys.path.insert(0, str(script.parent))
    names: dict[str, Any] = {"__name__": "__main__", "__builtins__": __builtins__}
    exec(f"from {script.stem} import *", names)
    values: list[Any] = []
    errors: list[type] = []
    console = code.InteractiveConsole(names)
    console.showtraceback = lambda: errors.append(sys.exc_info()[0] or Exception)  # type: ignore[method-assign]
    console.showsyntaxerror = lambda *_args, **_kwargs: errors.append(SyntaxError)  # type: ignore[method-assign]
    sys.displayhook = values.append
    waiting = False
    for line in paste.splitlines():
        waiting = console.push(line)
    if waiting:
        console.push("")
    if errors:
        return {"error": errors[0].__name__}
    return {"value": _plain(values[-1])}


def _plain(value: Any) -> Any:
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(value, torch.Tensor):
        return value.detach()
    if isinstance(value, tuple | list):
        return type(value)(map(_plain, value))
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items()}
    return value


def main() -> None:
    """Carry out the orders."""
    orders = json.loads(Path(sys.argv[1]).read_text())
    in_torch = {one["to"] for one in orders if "import torch" in Path(one["script"]).read_text()}
    for one in sorted(orders, key=lambda one: one["to"] in in_torch):
        if one["to"] in in_torch:
            import torch  # noqa: F401 - once for all of them, after those that do without
        pid = os.fork()
        if pid == 0:
            try:
                Path(one["to"]).write_bytes(pickle.dumps(outcome_of_paste(Path(one["script"]), one["paste"])))
            except BaseException:  # noqa: BLE001
                traceback.print_exc()
                os._exit(1)
            os._exit(0)
        os.waitpid(pid, 0)


if __name__ == "__main__":
    main()
