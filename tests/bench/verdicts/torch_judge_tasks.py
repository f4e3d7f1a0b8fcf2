"""The tasks of torch-judge that this course has, too."""

from __future__ import annotations

from tests.bench.verdicts.attention_tasks import ATTENTION, CACHE, CAUSAL, GROUPS, HEADS, ROPE, SOFTMAX
from tests.bench.verdicts.model_tasks import FLASH, LINEAR, LOSS, NORM, SAMPLING, WINDOW

TASKS = (SOFTMAX, ATTENTION, CAUSAL, HEADS, ROPE, GROUPS, CACHE, FLASH, LINEAR, WINDOW, NORM, LOSS, SAMPLING)
