"""Submissions: the untrusted files that students hand in."""
