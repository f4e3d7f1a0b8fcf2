"""The training process: `python -m cli.attention.trainer FOLDER`.

Standard input has the job as one line of JSON. Then it stays open: its end means that nobody waits for the result any
more, so the process saves its work and stops. Standard output has one event a line, as JSON.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from cli.attention.gpt.training_run import RunError, read_code, read_run
from cli.attention.trainer.trainer import Trainer, TrainingError, Writing, attention_maps, train
from grader.sandbox.protocol.call_names import PACKAGE
from grader.sandbox.worker.error_description import describe
from grader.sandbox.worker.loader import StudentModules

Tell = Callable[..., None]


def main() -> int:
    """Do one job."""
    tell = _events()
    job = json.loads(_first_line())
    stopped = threading.Event()
    threading.Thread(target=_wait_for_end, args=(stopped,), daemon=True).start()
    torch.set_num_threads(1)  # the order of additions must not depend on the machine
    torch.use_deterministic_algorithms(True, warn_only=True)
    modules: StudentModules | None = None
    try:
        folder = Path(sys.argv[1])
        modules = StudentModules(read_code(folder))
        _do(job, folder, modules, tell, stopped.is_set)
    except RunError as error:
        tell("unusable", text=str(error))
    except TrainingError as error:
        tell("problem", text=str(error))
    except Exception as error:  # noqa: BLE001 - told to the process that waits
        tell("problem" if _is_students(error, modules) else "fault", text=_words(error, modules))
    return 0


def _do(job: dict[str, Any], folder: Path, modules: StudentModules, tell: Tell, is_stopped: Callable[[], bool]) -> None:
    errors = modules.load(read_run(folder).main)
    if errors and not (modules.files[read_run(folder).main]["notebook"] and hasattr(modules.main, "GPT")):
        raise errors[0]
    trainer = Trainer(folder, modules.main)
    loaded = sorted(name.partition(".")[2] for name in sys.modules if name.startswith(f"{PACKAGE}."))
    tell("ready", step=trainer.step, parameters=trainer.parameters, modules=loaded)
    if job["do"] == "write":
        how = Writing(**job["how"])
        tell("text", text=trainer.write(how))
        return
    train(trainer, tell, is_stopped)
    if trainer.step == trainer.run.steps and not is_stopped():
        maps, why = attention_maps(trainer.model, torch.tensor(trainer.run.ids(job["sentence"])))
        tell("maps", maps=maps, why=why)
    tell("done", step=trainer.step)


def _events() -> Tell:
    """Return a function that sends an event. What the student's code prints does not reach the channel."""
    channel = os.fdopen(os.dup(1), "w", encoding="utf-8")
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)

    def tell(event: str, **content: Any) -> None:
        try:
            channel.write(json.dumps({"event": event, **content}) + "\n")
            channel.flush()
        except OSError:  # the process that waits has ended; standard input says so, too
            pass

    return tell


def _first_line() -> bytes:
    line = b""
    while not line.endswith(b"\n") and (byte := os.read(0, 1)):
        line += byte
    return line


def _wait_for_end(stopped: threading.Event) -> None:
    while os.read(0, 1024):
        pass
    stopped.set()


def _is_students(error: BaseException, modules: StudentModules | None) -> bool:
    return modules is not None and bool(describe(error, modules.filenames)["file"])


def _words(error: BaseException, modules: StudentModules | None) -> str:
    """Return an exception in words: of the student's code with its line, of ours with its traceback."""
    files = modules.filenames if modules else set()
    found = describe(error, files)
    if not found["file"]:
        return "".join(traceback.format_exception(error))
    if isinstance(error, NotImplementedError):
        frames = [one for one in traceback.extract_tb(error.__traceback__) if one.filename in files]
        return f"{frames[-1].name} in {found['file']} is not written yet (line {found['line']})"
    message = f": {found['message']}" if found["message"] else ""
    return f"your code raised {found['types'][0]}{message} ({found['file']}, line {found['line']})"


if __name__ == "__main__":
    code = main()
    os._exit(code)  # a thread may still wait for standard input
