"""AttnLab's grader: the engine behind the `attn` command."""

from grader.core.old_names import accept_old_names

__version__ = "1.0.0"

accept_old_names()
