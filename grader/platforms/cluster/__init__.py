"""Grading on many machines with Dask."""
