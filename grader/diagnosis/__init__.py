"""The misconception behind a failure, found by behaviour."""
