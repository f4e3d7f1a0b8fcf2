"""nbgrader: assignments, autograding and its gradebook."""
