"""One submission in, one report out; many in parallel."""
