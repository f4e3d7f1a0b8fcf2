"""Finds the misconception behind a failure from how the code behaves."""
