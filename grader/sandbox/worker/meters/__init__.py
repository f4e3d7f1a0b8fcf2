"""Meters that count what student code costs, inside the worker."""
