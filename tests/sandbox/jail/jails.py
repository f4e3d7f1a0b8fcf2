"""Jails for tests."""

from __future__ import annotations

import pytest

from grader.core.machine import Tier
from grader.sandbox.jail.spawner import JailError, ZygoteSpawner
from grader.sandbox.jail.tiers import plans
from tests.conftest import needs_tier


def zygote_of(tier: Tier) -> ZygoteSpawner:
    """Return a zygote of a tier, by the first plan that works here. The test is skipped where this tier does not."""
    needs_tier(tier)
    for plan in plans("numpy"):
        if plan.tier == tier:
            try:
                return ZygoteSpawner(plan)
            except JailError:
                continue
    pytest.fail(f"no plan of {tier} works")
