"""What each platform exports: one file for each platform."""
