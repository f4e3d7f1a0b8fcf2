"""What travels between the grader and a worker."""
