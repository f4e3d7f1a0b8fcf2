"""AttnLab's grader: the engine behind the `attn` command."""

__version__ = "0.1.0"
