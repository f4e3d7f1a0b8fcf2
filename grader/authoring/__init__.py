"""Tools that build a course and prove it sound."""
