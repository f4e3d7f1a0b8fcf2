"""The course as its authors wrote it, read as data."""
