"""The jail that workers run in."""
