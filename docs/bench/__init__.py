"""Speed, as ratios measured in one run: `make bench`. No test depends on it."""
