"""A comparison of AttnLab, nbgrader and otter-grader: one assignment, the same class, three graders."""
