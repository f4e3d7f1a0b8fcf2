"""What measuring costs: CPU of the worker for each function's profile, and a class with and without."""

from __future__ import annotations

from grader.complexity.accounts import accounts_of
from grader.course import Course
from grader.reference import load_reference
from grader.sandbox.client import Program, Session
from grader.sandbox.limits import Limits
from grader.sandbox.tiers import open_spawner

FUNCTION_SECONDS, MODULE_SECONDS = 0.25, 1.0


def print_profiles(course: Course) -> bool:
    """Print the CPU of every profile of the references, once warm; return whether it is as little as promised."""
    print("profiles of the references, CPU of the worker")
    good = True
    for module in course.modules:
        source = course.solution(module).read_text().encode()
        files = {module.slug: {"file": f"{module.slug}.py", "cells": [source], "notebook": False}}
        accounts = accounts_of(module, "bench", load_reference(course, module))
        seconds = {}
        with open_spawner(module.backend) as spawner:
            for contract in accounts.contracts:
                session = Session(spawner, Program(files, module.slug, ()), Limits())
                account = accounts.of(session, contract)
                session.close()
                assert all(cost.verdict == "pass" for cost in account.costs), account.costs
                seconds[contract.function] = session.cpu_s or 0.0
        slowest = max(seconds, key=lambda name: seconds[name])
        total = sum(seconds.values())
        print(f"  {module.name:<20} {total * 1000:5.0f} ms, the most for {slowest}: {seconds[slowest] * 1000:.0f} ms")
        good = good and total <= MODULE_SECONDS and seconds[slowest] <= FUNCTION_SECONDS
    print(f"  allowed: {FUNCTION_SECONDS * 1000:.0f} ms a function, {MODULE_SECONDS * 1000:.0f} ms a module")
    return good
