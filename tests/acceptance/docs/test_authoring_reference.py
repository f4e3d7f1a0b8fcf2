"""The examples of the authoring reference are contracts that can be read."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from cli.author.reference_tables import PAGE
from grader.complexity.contract_reader import read_contracts
from tests.conftest import ROOT

EXAMPLES = re.findall(r"```toml\n(\[complexity.*?)```", (ROOT / PAGE).read_text(), re.DOTALL)
# What an example leaves out, because another one on the page has it.
REST = {"sizes": {"n": [2, 1], "d": [2, 1]}, "large": [{"n": 50, "d": 3}], "points": 1, "steps": "1"}


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda text: text.partition("\n")[0])
def test_an_example_is_a_contract(example: str) -> None:
    tables = tomllib.loads(example)["complexity"]
    (contract,) = read_contracts(
        Path("m"), {name: ({} if "sizes" in one else REST) | one for name, one in tables.items()}
    )
    assert contract.limits


def test_there_are_examples() -> None:
    assert len(EXAMPLES) >= 6
