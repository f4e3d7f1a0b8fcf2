"""What authors wrote, read as data."""
