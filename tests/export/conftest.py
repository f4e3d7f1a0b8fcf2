"""What the tests of exports share: reports of every status, and the schemas."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tests.cli.conftest import attn, bundle
from tests.conftest import ROOT

__all__ = ["attn", "bundle"]

HERE = Path(__file__).parent
Validate = Callable[[Any], None]


def validator(path: Path) -> Validate:
    """Return a function that holds data against a JSON Schema; the schema itself is held against its own first."""
    schema = json.loads(path.read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    validate: Validate = jsonschema.Draft202012Validator(schema).validate
    return validate


@pytest.fixture(scope="session")
def valid_results() -> Validate:
    return validator(HERE / "results.schema.json")


@pytest.fixture(scope="session")
def valid_report() -> Validate:
    return validator(ROOT / "docs" / "report.schema.json")
