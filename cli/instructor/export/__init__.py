"""The commands of `attn export`, one file per platform."""
