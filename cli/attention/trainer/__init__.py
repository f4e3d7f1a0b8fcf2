"""Training of a student's GPT in a process of its own. It is not jailed: students run their own code, and no grade."""
