"""Gradescope: the autograder zip and its results."""
