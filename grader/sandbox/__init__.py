"""Conversations with student code in its jail."""
