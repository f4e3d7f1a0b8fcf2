"""PrairieLearn: a question with an external grader, and its results."""
