"""The figures of the lessons, drawn from computed numbers. `python -m tests.figures` writes them."""
