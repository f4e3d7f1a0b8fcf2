"""nbgrader: assignments, autograding and the gradebook."""
