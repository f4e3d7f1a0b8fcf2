"""The attention of a trained model. `python -m docs.figures.trained` trains it again, and prints `PERCENT`."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from grader.course.course import read_course
from grader.course.loading import earlier_solutions, importable
from tests.conftest import ROOT

SENTENCE = "the cat sat on t"
STEPS = 500
PERCENT = (
    "100 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0",
    "96 4 0 0 0 0 0 0 0 0 0 0 0 0 0 0",
    "2 95 3 0 0 0 0 0 0 0 0 0 0 0 0 0",
    "0 1 97 1 0 0 0 0 0 0 0 0 0 0 0 0",
    "4 0 4 70 22 0 0 0 0 0 0 0 0 0 0 0",
    "0 8 0 1 91 0 0 0 0 0 0 0 0 0 0 0",
    "0 0 0 2 0 90 7 0 0 0 0 0 0 0 0 0",
    "0 0 0 0 2 4 93 1 0 0 0 0 0 0 0 0",
    "0 0 0 0 0 0 0 99 0 0 0 0 0 0 0 0",
    "0 52 0 0 2 0 0 11 34 0 0 0 0 0 0 0",
    "0 0 0 0 0 0 0 5 0 89 5 0 0 0 0 0",
    "0 0 0 0 0 0 2 0 7 9 78 3 0 0 0 0",
    "0 0 0 0 0 0 0 0 0 2 1 86 10 0 0 0",
    "0 0 0 0 0 0 0 0 0 0 0 5 92 2 0 0",
    "0 0 0 0 0 2 0 0 1 1 0 1 20 73 2 0",
    "0 0 0 0 0 0 0 0 0 0 0 0 5 3 91 0",
    "100 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0",
    "17 83 0 0 0 0 0 0 0 0 0 0 0 0 0 0",
    "65 24 11 0 0 0 0 0 0 0 0 0 0 0 0 0",
    "1 98 1 0 0 0 0 0 0 0 0 0 0 0 0 0",
    "13 14 44 25 4 0 0 0 0 0 0 0 0 0 0 0",
    "34 7 46 6 4 4 0 0 0 0 0 0 0 0 0 0",
    "1 9 2 2 62 1 22 0 0 0 0 0 0 0 0 0",
    "0 6 0 0 83 3 7 1 0 0 0 0 0 0 0 0",
    "1 0 0 1 1 2 59 16 20 0 0 0 0 0 0 0",
    "0 0 0 0 0 0 42 0 57 0 0 0 0 0 0 0",
    "0 0 0 0 0 0 1 0 84 4 10 0 0 0 0 0",
    "0 1 0 0 2 0 2 0 9 22 60 3 0 0 0 0",
    "0 0 0 0 0 0 0 0 0 44 52 1 1 0 0 0",
    "0 0 0 0 0 0 3 0 11 1 70 3 11 0 0 0",
    "0 1 0 0 1 0 0 0 0 1 13 1 44 39 0 0",
    "0 1 0 0 1 0 0 0 9 1 7 5 42 13 7 13",
)


def maps() -> np.ndarray:
    """Return the stored weights of both heads, (2, 16, 16)."""
    return np.array([[int(cell) for cell in row.split()] for row in PERCENT]).reshape(2, 16, 16) / 100


def shares_back(weights: np.ndarray, steps: int) -> float:
    """Return the mean weight that a token gives to the one so many steps before it."""
    return float(np.diagonal(weights, -steps).mean())


def solved() -> dict[str, Any]:
    """Return the names of the solution of 12_transformer, on the solution of module 06."""
    course = read_course(ROOT)
    module = course.module("12_transformer")
    text = course.solution(module).read_text()
    names: dict[str, Any] = {"__name__": "transformer"}
    with importable(earlier_solutions(course, module, text)):
        exec(compile(text, "transformer.py", "exec"), names)
    return names


def trained() -> np.ndarray:
    """Train the small model of the lesson, and return the weights of both heads for the sentence."""
    names = solved()
    letters = sorted(set(names["TEXT"]))
    data = torch.tensor([letters.index(one) for one in names["TEXT"]])
    torch.manual_seed(0)
    model = names["GPT"](len(letters), 16, 32, 1, 2, 64)
    names["train"](model, data, STEPS, 16, 0.01, torch.Generator().manual_seed(11))
    found: list[torch.Tensor] = []
    model.blocks[0].attention.register_forward_hook(lambda _layer, _args, result: found.append(result[1][0]))
    with torch.no_grad():
        model(torch.tensor([[letters.index(one) for one in SENTENCE]]))
    return np.asarray(found[0].numpy())


if __name__ == "__main__":
    for row in trained().reshape(-1, 16):
        print(f'    "{" ".join(str(round(100 * float(cell))) for cell in row)}",')
