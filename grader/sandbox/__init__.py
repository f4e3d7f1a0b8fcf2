"""Student code in a process of its own: the wire, the worker, and the trusted side that holds its end."""
