"""What students handed in: untrusted files, read with care."""
