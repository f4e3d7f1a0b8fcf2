"""Pages that people look at: a student's report, the feedback of a class, and its dashboard."""
