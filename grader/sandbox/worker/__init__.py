"""Everything that runs in the same process as student code."""
