"""Messages between the grader and a worker."""
