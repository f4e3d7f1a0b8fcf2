"""Discipline without a GPU: a student's code runs on the CPU's numbers, and every tensor pretends to live somewhere."""
