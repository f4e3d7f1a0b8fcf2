"""The grading engine: a submission in, a report out. Nothing here prints."""

__version__ = "0.1.0"
