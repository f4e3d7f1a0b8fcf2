"""Checkpoints: everything that decides the next step, in one file that is written in one piece."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import torch

from cli.attention.gpt.training_run import LOSSES, NOTES, History, RunError, history_of
from grader.core.atomic_file import write_bytes_atomically
from grader.core.json_record import to_json

_MODEL, _OPTIMIZER = "model/", "optimizer/"
_DRAWS, _TORCH_DRAWS = "draws", "torch_draws"  # the states of two random generators


def save(path: Path, model: Any, optimizer: Any, draws: torch.Generator, history: History) -> None:
    """Write a checkpoint. A crash leaves the one before."""
    arrays: dict[str, Any] = {_MODEL + name: _array(value) for name, value in model.state_dict().items()}
    for number, state in optimizer.state_dict()["state"].items():
        arrays |= {f"{_OPTIMIZER}{number}/{name}": _array(value) for name, value in state.items()}
    arrays[_DRAWS] = draws.get_state().numpy()
    arrays[_TORCH_DRAWS] = torch.get_rng_state().numpy()
    arrays[LOSSES] = np.array(history.losses, dtype=np.float64)
    notes = json.dumps([to_json(one) for one in history.samples]).encode()
    arrays[NOTES] = np.frombuffer(notes, dtype=np.uint8)
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    try:
        write_bytes_atomically(path, buffer.getvalue())
    except OSError as error:
        kept = "The checkpoint before it is still there"
        raise RunError(f"{path} could not be written: {error.strerror or error}. {kept}") from None


def restore(path: Path, model: Any, optimizer: Any, draws: torch.Generator) -> History:
    """Put a model, its optimizer and the random generators into the state of a checkpoint. Return the history."""
    try:
        with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        model.load_state_dict(_tensors(arrays, _MODEL))
        flat = _tensors(arrays, _OPTIMIZER)
        state: dict[int, dict[str, Any]] = {}
        for name, value in flat.items():
            number, _, key = name.partition("/")
            state.setdefault(int(number), {})[key] = value
        optimizer.load_state_dict({**optimizer.state_dict(), "state": state})
        draws.set_state(torch.from_numpy(arrays[_DRAWS]))
        torch.set_rng_state(torch.from_numpy(arrays[_TORCH_DRAWS]))
        return history_of(arrays)
    except (ValueError, KeyError, RuntimeError, EOFError, zipfile.BadZipFile) as error:
        raise RunError(f"{path} is damaged, or is of another model: {error}") from None


def _array(value: torch.Tensor) -> np.ndarray:
    found: np.ndarray = value.detach().cpu().numpy()
    return found


def _tensors(arrays: dict[str, np.ndarray], prefix: str) -> dict[str, torch.Tensor]:
    return {
        name.removeprefix(prefix): torch.from_numpy(value) for name, value in arrays.items() if name.startswith(prefix)
    }
