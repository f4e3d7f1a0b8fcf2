"""All figures, by their path in the repository."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from docs.figures import (
    lesson_00,
    lesson_01,
    lesson_02,
    lesson_03,
    lesson_04,
    lesson_05,
    lesson_06,
    lesson_07,
    lesson_08,
    lesson_09,
    lesson_10,
    lesson_11,
    lesson_12,
    lesson_13,
)

FIGURES: Mapping[str, Mapping[str, Callable[[], str]]] = {
    "01_softmax": lesson_00.FIGURES | lesson_01.FIGURES,
    "02_loop_attention": lesson_02.FIGURES,
    "03_attention": lesson_03.FIGURES,
    "04_masks": lesson_04.FIGURES,
    "05_torch_attention": lesson_05.FIGURES,
    "06_multi_head_attention": lesson_06.FIGURES,
    "07_gpu_path": lesson_07.FIGURES,
    "08_positions": lesson_08.FIGURES,
    "09_kv_cache": lesson_09.FIGURES,
    "10_flash_attention": lesson_10.FIGURES,
    "11_efficient_attention": lesson_11.FIGURES,
    "12_transformer": lesson_12.FIGURES,
    "13_triton_flash": lesson_13.FIGURES,
}


def all_figures() -> dict[str, str]:
    """Return the text of every figure."""
    return {
        f"modules/{module}/{name}.svg": draw() for module, figures in FIGURES.items() for name, draw in figures.items()
    }
