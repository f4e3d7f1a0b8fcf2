"""Classroom 50: a bundle with the visible checks for its runner, and its result.json."""
