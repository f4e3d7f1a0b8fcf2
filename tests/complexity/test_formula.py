"""The flops of the reference's multi-head attention match the formula of the course exactly."""

from __future__ import annotations

from fractions import Fraction

import pytest

from grader.complexity.measurer import cost_measurer
from grader.complexity.polynomial import parse_polynomial
from grader.course.course import Course
from grader.course.loading import load_reference
from grader.course.module import Backend
from grader.sandbox.jail.limits import Limits
from grader.sandbox.jail.spawner import Spawner
from grader.sandbox.session import Program, Session

FORMULA = "4*b*n_q*e^2 + 4*b*n_k*e^2 + 4*b*n_q*n_k*e"


@pytest.mark.exhaustive
def test_the_reference_costs_what_the_formula_says(course: Course, spawners: dict[Backend, Spawner]) -> None:
    module = course.module("06_multi_head_attention")
    files = {
        module.slug: {"file": "f.py", "cells": [course.solution(module).read_bytes()], "notebook": False},
    }
    measurer = cost_measurer(module, "a salt", load_reference(course, module))
    (contract,) = (one for one in measurer.contracts if one.function == "MultiHeadAttention.forward")
    session = Session(spawners["torch"], Program(files, module.slug, ()), Limits())
    try:
        found = measurer.of(session, contract).profile.exact["flops"]
    finally:
        session.close()
    formula = parse_polynomial(FORMULA, contract.lattice.names)
    assert {powers: found.terms[powers] for powers in formula.terms} == formula.terms
    lower = {powers: factor for powers, factor in found.terms.items() if powers not in formula.terms}
    degree = formula.degree
    assert all(sum(powers) < degree for powers in lower)
    assert not found.beyond(formula)
    assert all(isinstance(factor, Fraction) and factor.denominator == 1 for factor in found.terms.values())
