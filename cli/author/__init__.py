"""Commands for authors, and pages made from the code."""
