"""Sessions with student code in its jail."""
