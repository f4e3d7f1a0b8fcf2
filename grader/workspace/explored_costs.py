"""The costs of a student's own attention, for the explorer's table of sizes."""

from __future__ import annotations

from collections.abc import Iterator

from grader.core.errors import StudentError
from grader.course.course import Course
from grader.submission.own_file import is_untouched
from grader.workspace.own_costs import OwnCost, own_costs

# The functions that make a complete attention, by module. Of 02 and 03 only the one that is explored.
_SHOWN = ("02_loop_attention", "03_attention")
_FUNCTIONS = {
    "02_loop_attention": ("scaled_dot_product_attention",),
    "03_attention": ("scaled_dot_product_attention",),
    "11_efficient_attention": ("sliding_window_attention", "linear_attention"),
}


def explored_costs(course: Course, attention: str) -> Iterator[tuple[str, OwnCost]]:
    """Yield a module and what one of its functions costs. What cannot be loaded or measured is left out."""
    for module in course.modules:
        other = module.name in _SHOWN and module.name != attention
        if other or module.name not in _FUNCTIONS or is_untouched(module):
            continue
        for function in _FUNCTIONS[module.name]:
            try:
                yield from ((module.name, cost) for cost in own_costs(course, module, function))
            except StudentError:
                break
