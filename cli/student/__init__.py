"""Commands for students."""
