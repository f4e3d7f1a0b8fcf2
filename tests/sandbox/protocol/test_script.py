"""Recipes: parts of a torch module are replaced by layers of torch, after its parameters are set."""

from __future__ import annotations

import torch

from grader.sandbox.protocol.script import Recipe, make


class Net(torch.nn.Module):  # type: ignore[misc]  # torch has no types here
    def __init__(self) -> None:
        super().__init__()
        self.proj = torch.nn.Linear(2, 2, bias=False)
        self.norm = torch.nn.LayerNorm(2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.as_tensor(self.norm(self.proj(x)))


def test_a_part_that_is_switched_off_shows_the_mode() -> None:
    state = {"proj.weight": torch.eye(2), "norm.weight": torch.zeros(2)}
    for training, wanted in ((True, [0.0, 0.0]), (False, [3.0, 4.0])):
        net = make(Net, Recipe((), state, training, parts={"norm": ("Dropout", 1.0)}).data)
        assert net(torch.tensor([3.0, 4.0])).tolist() == wanted
        assert net.training is training


def test_recipes_with_other_parts_are_not_the_same_object() -> None:
    plain, other = Recipe((4,)), Recipe((4,), parts={"norm": ("Dropout", 1.0)})
    assert plain.key != other.key
    assert other.key == Recipe((4,), plain.state, parts={"norm": ("Dropout", 1.0)}).key
