"""The `attn` command: thin commands and plain screens over the grader."""
