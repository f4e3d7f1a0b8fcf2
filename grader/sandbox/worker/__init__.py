"""Code that runs in the same process as student code."""
