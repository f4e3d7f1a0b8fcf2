"""Cost meters, inside the worker."""
