"""Costs: contracts, measurements and verdicts."""
