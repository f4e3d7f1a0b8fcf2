"""The simulated and the real GPU, inside the worker."""
