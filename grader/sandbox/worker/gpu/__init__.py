"""The simulated GPU and the real one, inside the worker."""
