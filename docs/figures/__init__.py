"""The figures of the lessons, drawn from computed numbers. `python -m docs.figures` writes them."""
