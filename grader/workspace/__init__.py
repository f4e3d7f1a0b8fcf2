"""A student's own copy of the course."""
