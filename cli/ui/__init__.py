"""Screens, colours and keys that the commands share."""
