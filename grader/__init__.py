"""AttnLab's grader: the engine behind the `attn` command."""

__version__ = "1.0.0"
