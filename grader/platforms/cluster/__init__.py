"""Grading on many machines with Dask."""

from __future__ import annotations


class ClusterError(Exception):
    """A cluster that cannot grade, and why, in one sentence."""


class ClusterLostError(Exception):
    """A cluster that is gone in the middle of a class: what is graded is saved, and the rest can follow."""
