"""Shared records and helpers."""
