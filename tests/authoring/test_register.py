"""The register of a module: what it must have, and what makes it wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.authoring.build import build_module
from grader.authoring.marks import read_marks
from grader.authoring.proof import Proof, proof_key
from grader.authoring.register import RegisterCount, read_register, register_file
from grader.authoring.register_rules import register_problems
from grader.authoring.sentences import sentences, stub_sentences
from grader.authoring.soundness import check_module
from grader.course.course import Course, read_course
from grader.course.module import CourseError
from tests.authoring.small_courses import built as built_course
from tests.authoring.small_courses import edit

COMPLETE = """\
[[tiny]]
says = "Return twice x: replace this by what the module is about, and state every rule a student can lose points by."
checks = ["tiny_of_three", "tiny_agrees_with_the_oracle", "tiny_is_linear"]
wrong = ["squares"]

[[tiny]]
says = '''
    x: array of any shape. Returns an array
    of the same shape.
'''
checks = ["tiny_agrees_with_the_oracle"]
wrong = ["squares"]

[[tiny]]
says = "x is not modified."
checks = ["tiny_leaves_its_arguments"]
wrong = ["modifies_input"]

[[lesson]]
says = "Why this exists, the shapes,"
no_promise = "it is for the author"
"""


def problems(course: Course) -> str:
    (module,) = course.modules
    return "\n".join(f"{one.what} | {one.fix}" for one in check_module(course, module).problems)


@pytest.fixture
def registered(tiny: Course) -> Course:
    """The small course, with a complete register."""
    register_file(tiny, tiny.modules[0]).write_text(COMPLETE)
    return tiny


def test_a_text_is_split_into_sentences() -> None:
    text = """Return x: (n, d). Ends (in brackets.) New

    a, b: arrays (..., n), such as 1.5. mask: None, or
    bool.

    Two points:
    - the first, i = 0, 1, ..., n - 1
      on two lines;
    - the second. It goes on.

    1. A number
    """
    assert sentences(text) == (
        *("Return x: (n, d).", "Ends (in brackets.)", "New", "a, b: arrays (..., n), such as 1.5."),
        *("mask: None, or bool.", "Two points:", "the first, i = 0, 1, ..., n - 1 on two lines;", "the second."),
        *("It goes on.", "A number"),
    )


def test_the_sentences_of_a_stub_are_those_about_what_a_student_writes() -> None:
    stub = (
        'def sort(x):\n    """One. Two."""\n\n\ndef _own(x):\n    """Not this."""\n\n\n'
        'class Cache:\n    """Three."""\n\n    def __init__(self):\n        """Four."""\n\n'
        '    def update(self):\n        """Five."""\n\n    def _own(self):\n        """Nor this."""\n'
    )
    found = {"sort": ("One.", "Two."), "Cache": ("Three.", "Four."), "Cache.update": ("Five.",)}
    assert stub_sentences(stub) == found


def test_everything_that_can_cost_points_is_a_mark(course: Course) -> None:
    marks = {mark.name: mark.is_proved for mark in read_marks(course, course.module("02"))}
    assert marks["dot_product_of_the_shared_example"]  # visible
    assert marks["dot_product_dtype"]  # hidden
    assert marks["dot_product_leaves_its_arguments"]  # the engine's own
    assert marks["dot_product smul"]
    assert marks["dot_product work"] is False  # its contract leaves it unguarded
    assert marks["forbidden products"] is False
    on_gpu = {mark.name: mark.is_proved for mark in read_marks(course, course.module("07"))}
    assert on_gpu["fused_attention gpu_mem"] is False
    assert course.gpu_suite(course.module("07")) is not None
    assert len(on_gpu) > len([name for name, proved in on_gpu.items() if proved])
    assert not any(mark.is_proved for mark in read_marks(course, course.module("13")))


def test_a_complete_register_is_sound_and_counted(registered: Course) -> None:
    assert problems(registered) == ""
    register = read_register(registered, registered.modules[0])
    assert register is not None
    assert register.count == RegisterCount(promises=4, unchecked=0, unproved=0, unwritten=0)


def test_a_module_without_a_register_is_sound(tiny: Course) -> None:
    assert read_register(tiny, tiny.modules[0]) is None
    assert problems(tiny) == ""


def test_a_register_is_no_part_of_the_proof(tiny: Course) -> None:
    (module,) = tiny.modules
    key = proof_key(tiny, module)
    register_file(tiny, module).write_text(COMPLETE)
    assert proof_key(tiny, module) == key
    other = register_file(tiny, module).with_name("other.toml")
    other.write_text("")
    assert proof_key(tiny, module) != key


WRONG = {
    "a sentence is missing": (
        ("x is not modified.", "Returns an array of the same shape."),
        "register.toml does not have a sentence about tiny: x is not modified.",
    ),
    "a sentence is not the stub's": (
        ("x is not modified.", "x is not modified. It is fast."),
        "a sentence that the stub does not say about tiny: It is fast. | Copy the sentence from the docstring",
    ),
    "a sentence is there twice": (
        ("x is not modified.", "x is not modified. x: array of any shape."),
        "register.toml has a sentence twice: x: array of any shape.",
    ),
    "no function has this name": (
        ("[[tiny]]", "[[tinny]]"),
        "a sentence that the stub does not say about tinny: Return twice x",
    ),
    "the lesson does not say it": (
        ("Why this exists", "Why that exists"),
        "a sentence that the lesson does not have: Why that exists, the shapes,",
    ),
    "a check is gone": (
        ('"tiny_is_linear"', '"tiny_is_straight"'),
        "register.toml names tiny_is_straight, which is no check and no limit",
    ),
    "a check verifies no sentence": (
        (', "tiny_is_linear"', ""),
        "tiny_is_linear can cost points, but verifies no sentence in register.toml",
    ),
    "a wrong way is gone": (
        ('wrong = ["squares"]', 'wrong = ["squares", "cubes"]'),
        "register.toml names cubes, which is not a misconception | Name one that breaks: Return twice x",
    ),
    "a wrong way breaks something else": (
        ('wrong = ["squares"]', 'wrong = ["squares", "modifies_input"]'),
        "the misconception modifies_input passes the checks of a sentence that it should break: Return twice x",
    ),
    "a check has no wrong way": (
        ('wrong = ["squares"]', ""),
        "tiny_is_linear fails for none of the wrong ways that break the sentence: Return twice x: replace this by "
        "what the module is about, and state every rule a student can lose points by. | Add one that breaks this "
        "sentence, such as squares",
    ),
    "a check is called unwritten, and has a sentence": (
        ("[[lesson]]", '[[unwritten]]\nchecks = ["tiny_is_linear"]\nwhy = "later"\n\n[[lesson]]'),
        "register.toml says that tiny_is_linear is unwritten, and has a sentence for it | Remove one of the two",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_with_a_register_is_told(registered: Course, name: str) -> None:
    (old, new), message = WRONG[name]
    edit(register_file(registered, registered.modules[0]), old, new)
    assert message in problems(registered)


@pytest.mark.parametrize(
    "kind", ['unchecked = "nobody can see it"', 'no_promise = "it is an example"', '[[unwritten]]\nwhy = "later"\nX']
)
def test_a_gap_that_is_marked_is_no_problem(registered: Course, kind: str) -> None:
    checks = 'checks = ["tiny_leaves_its_arguments"]'
    old = f'{checks}\nwrong = ["modifies_input"]'
    left = f'unchecked = "why"\n\n{kind.replace("X", checks)}' if "X" in kind else kind
    if "X" not in kind:
        left += f'\n\n[[unwritten]]\n{checks}\nwhy = "later"'
    edit(register_file(registered, registered.modules[0]), old, left)
    assert problems(registered) == ""
    register = read_register(registered, registered.modules[0])
    assert register is not None
    assert register.count.unwritten == 1


def test_a_sentence_may_be_unproved(registered: Course) -> None:
    edit(register_file(registered, registered.modules[0]), 'wrong = ["modifies_input"]', 'unproved = "nobody does it"')
    assert problems(registered) == ""
    register = read_register(registered, registered.modules[0])
    assert register is not None
    assert register.count == RegisterCount(promises=4, unchecked=0, unproved=1, unwritten=0)


UNREADABLE = {
    "not TOML": ("[[tiny]]", "[[tiny]", "is not TOML"),
    "a table in place of a list": ("[[lesson]]", "[lesson]", "lesson: is not a list of tables. Write [[lesson]] above"),
    "a misspelt key": ('checks = ["tiny_of', 'check = ["tiny_of', "tiny: has an entry that cannot be read"),
    "checks and a reason": ("wrong = ", 'unchecked = "why"\nwrong = ', "tiny: has an entry that cannot be read"),
    "neither": ('no_promise = "it is for the author"', "", "lesson: has an entry that cannot be read"),
    "a reason and a wrong way": ("no_promise =", 'wrong = ["squares"]\nno_promise =', "lesson: has wrong in the entry"),
    "a wrong way and why there is none": (
        "wrong =",
        'unproved = "why"\nwrong =',
        "has wrong and unproved in the entry",
    ),
    "a key of another table": ("wrong = ", 'why = "later"\nwrong = ', "tiny: has an entry that cannot be read"),
    "no list": ('wrong = ["squares"]', 'wrong = "squares"', "tiny: has an entry that cannot be read"),
}


@pytest.mark.parametrize("name", UNREADABLE)
def test_a_register_that_cannot_be_read_is_a_mistake_of_the_course(registered: Course, name: str) -> None:
    old, new, message = UNREADABLE[name]
    edit(register_file(registered, registered.modules[0]), old, new)
    assert message in problems(registered)
    with pytest.raises(CourseError):
        read_register(registered, registered.modules[0])


def test_a_new_sentence_of_the_docstring_needs_an_entry(registered: Course) -> None:
    (module,) = registered.modules
    edit(registered.solution(module), "x is not modified.", "x is not modified. Keeps the dtype.")
    build_module(read_course(registered.root), module)
    assert "does not have a sentence about tiny: Keeps the dtype." in problems(read_course(registered.root))


LOOSER = {
    "deleted": ("def test_tiny_is_linear", "def no_longer_tiny_is_linear", "names tiny_is_linear, which is no check"),
    "looser": (
        "array_like(one, x.shape) + array_like(other, y.shape))",
        "array_like(one, x.shape) + array_like(other, y.shape), Tolerance(10, 1000))",
        "tiny_is_linear fails for none of the wrong ways",
    ),
}


@pytest.mark.parametrize("name", LOOSER)
def test_a_check_that_is_deleted_or_looser_is_told(registered: Course, name: str) -> None:
    old, new, message = LOOSER[name]
    suite = registered.hidden_suite(registered.modules[0])
    edit(suite, old, new)
    if name == "deleted":
        edit(suite, '@worth(3, "the double of a sum is the sum of the doubles")\n', "")
    edit(suite, "import arguments,", "import Tolerance, arguments,")
    assert message in problems(registered)


def test_a_costly_wrong_way_breaks_its_limits(tmp_path: Path) -> None:
    course = built_course("tiles", tmp_path)
    (module,) = course.modules
    broken = check_module(course, module).proof.broken_limits
    assert broken["all_keys_at_once"] == ["tiled_sum mem"]
    assert {name for names in broken.values() for name in names} <= {one.name for one in read_marks(course, module)}


def test_the_registers_of_the_course_have_every_sentence_and_check(course: Course) -> None:
    unknown = Proof("", "", (), None)  # what wrong ways break is compared where the modules are proved
    for module in course.all_modules:
        assert list(register_problems(course, module, unknown)) == [], module.name
