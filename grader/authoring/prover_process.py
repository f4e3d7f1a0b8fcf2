"""A proving process: reads names of modules, and answers with progress and proofs, one line of JSON each."""

from __future__ import annotations

import json
import os
import sys
import traceback
from pathlib import Path
from typing import Any

from grader.authoring.proof import prove_module
from grader.authoring.prover import open_zygotes
from grader.course.course import read_course
from grader.grading.process import private_output


def main() -> None:
    """Prove the modules named on standard input, one after another."""
    if sys.platform == "linux":
        from grader.sandbox.jail.kernel import die_with_parent

        die_with_parent()
    course = read_course(Path(sys.argv[1]))
    with private_output() as answers, open_zygotes() as workers_of:

        def answer(data: dict[str, Any]) -> None:
            answers.write(json.dumps(data).encode() + b"\n")
            answers.flush()

        try:
            for line in sys.stdin:
                module = course.module(line.strip())

                def tell(text: str, name: str = module.name) -> None:
                    answer({"tell": [name, text]})

                answer({"proof": prove_module(course, module, workers_of(module.backend), tell).as_json()})
        except BrokenPipeError:  # the command has ended
            pass
        except Exception:  # noqa: BLE001 - raised again by the command
            answer({"fault": traceback.format_exc()})


if __name__ == "__main__":
    main()
    os._exit(0)  # skip the slow end of the interpreter
