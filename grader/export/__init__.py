"""Grades handed on: what a report is to other platforms, each in the format that it publishes."""
