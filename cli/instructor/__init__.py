"""Commands for instructors."""
