"""A student at a terminal: the commands they run and the code they write, first wrong, then right."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from grader.course.course import Course
from grader.course.module import Module
from tests.acceptance.journey.terminal import Terminal

WIDTH = 80
# For each module, a mistake that its visible checks catch, and the function it is in.
MISTAKES = {
    "01_softmax": ("axis_zero", "softmax"),
    "02_loop_attention": ("no_scaling", "scaled_dot_product_attention"),
    "03_attention": ("softmax_over_queries", "ScaledDotProductAttention.compute_weights"),
    "04_masks": ("mask_after_softmax", "masked_softmax"),
    "05_torch_attention": ("softmax_over_queries", "ScaledDotProductAttention.forward"),
    "06_multi_head_attention": ("scale_of_the_whole_width", "MultiHeadAttention.forward"),
    "07_gpu_path": ("mask_left_on_the_cpu", "attention_on_device"),
    "08_positions": ("rope_half_split", "apply_rope"),
    "09_kv_cache": ("mask_from_the_top_left", "GroupedQueryAttention.forward"),
    "10_flash_attention": ("accumulator_not_rescaled", "flash_attention"),
    "11_efficient_attention": ("linear_without_normaliser", "linear_attention"),
    "12_transformer": ("model_without_mask", "GPT.forward"),
}


@dataclass
class StudentAtWork:
    """Runs `attn` in pseudo-terminals, in a bundle."""

    bundle: Course
    command: Sequence[str]
    env: Mapping[str, str] = field(default_factory=dict)

    def attn(self, *arguments: str) -> Terminal:
        """Begin a command."""
        return Terminal([*self.command, *arguments], self.bundle.root, self.env)

    def runs(self, *arguments: str, status: int = 0, shows: Sequence[str] = ()) -> str:
        """Run a command to its end, check what it shows, and return its output."""
        terminal = self.attn(*arguments)
        code = terminal.finish()
        assert code == status, f"attn {' '.join(arguments)} ended with {code}:\n{terminal.text}"
        for text in shows:
            assert text in terminal.text, f"attn {' '.join(arguments)} does not say {text!r}:\n{terminal.text}"
        # What their own code prints, where they are, and a command that must be copied in one piece.
        any_width = ("  | ", f"AttnLab in {self.bundle.root}", "  cd modules/")
        wide = [line for line in terminal.text.splitlines() if len(line) > WIDTH and not line.startswith(any_width)]
        assert not wide or "--json" in arguments, wide
        return terminal.text

    def writes(self, module: Module, text: str) -> None:
        """Save the file of a module."""
        module.stub.write_text(text, encoding="utf-8")

    def goes_through(self, module: Module, right: str, wrong: str, *, quick: bool = False) -> None:
        """Do a module: start, fail, diagnosis, hint, fix, pass, complete, profile; fewer of them if `quick`."""
        name, function = MISTAKES[module.name]
        slug = module.slug
        self.runs("start", slug, shows=[f"edit   modules/{module.name}/{slug}.py", f"run    attn test {slug}"])
        if not quick:
            self.runs("test", slug, status=1, shows=["not written yet", "Write next: "])
        self.writes(module, wrong)
        self.runs("test", slug, status=1, shows=[f"({name})", "Likely: ", "Look at: ", "Think: "])
        if not quick:
            hint = self.runs("hint", slug, shows=["hint 1 of 3"])
            assert hint.startswith(f"{function}, ")
            self.runs("complete", slug, status=1, shows=["is not complete: fix this first."])
        self.writes(module, right)
        total = len(re.findall(r"^def test_", module.checks.read_text(), re.MULTILINE))
        self.runs("test", slug, shows=[f"{total} of {total} visible checks pass."])
        self.runs("complete", slug, shows=["OK", "is complete and in your package `mylab`."])
        if not quick:
            self.runs("profile", slug, shows=["OK"])
        assert (self.bundle.root / "mylab" / f"{slug}.py").is_file()
