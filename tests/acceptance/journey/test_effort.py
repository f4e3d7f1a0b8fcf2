"""The way through modules 01 to 04, with three mistakes in each: few commands, and screens that fit."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.acceptance.journey.effort import MISTAKES, ROOT, ROWS, way_in

pytestmark = pytest.mark.exhaustive


def test_with_commands_every_mistake_is_named_on_a_screen_that_fits(tmp_path: Path) -> None:
    effort = way_in(ROOT, tmp_path).with_commands()
    assert effort.commands == 1 + 6 * len(MISTAKES)
    assert effort.unnamed == []
    assert effort.wide == []
    assert max(effort.screens) <= ROWS


def test_watch_takes_one_command_and_a_key_for_each_module(tmp_path: Path) -> None:
    effort = way_in(ROOT, tmp_path).with_watch("n")
    assert (effort.commands, effort.keys) == (1, len(MISTAKES) + 1)
    assert effort.unnamed == []
    assert effort.wide == []
    assert max(effort.screens) < ROWS  # the last row is for what comes next
