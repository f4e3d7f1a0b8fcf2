"""What functions cost: contracts, measurements and verdicts."""
