"""Reports, marks and pages made by hand, and a reader of pages."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any

from grader.classroom.marks import Mark
from grader.core.report import CheckResult, CostResult, Diagnosis, Excerpt, ForbiddenCall, Report, ReviewItem, ValueGap

STUDENTS = ("ana", "ben", "chloe", "dev", "emil", "farah", "hana", "ines", "jun")
ROSTER = "id,name,section\n" + "".join(
    f"{who},{who.title()} Sample,{'Mon' if at % 2 else 'Tue'}\n" for at, who in enumerate((*STUDENTS, "zoe"))
)


def made_mark(student: str = "ana", module: str = "01_softmax", **changes: Any) -> Mark:
    """Return a mark of 3 of 4 points, with changes."""
    values: dict[str, Any] = {"id": student, "name": "", "section": "", "submission": student, "module": module}
    values |= {"status": "graded", "score": 3.0, "max_score": 4.0, "handed_in": "", "due": "", "late_s": 0.0}
    values |= {"penalty": 0.0, "final": 3.0, "attempt": "", "attempts": 1, "needs_review": False}
    return Mark(**(values | changes))


def made_report(text: str = "words", **changes: Any) -> Report:
    """Return a report that has a text in every place where text of a student can be."""
    code = Excerpt(text, 3, 4, (text, text, "    return x"))
    failed = CheckResult("rows", "visible", "softmax", 2.0, 0.0, "failed", "rows sum to 1", text, "a hidden input")
    hidden = CheckResult("many", "hidden", "softmax", 1.0, 0.0, "failed", "right for all", "not true", "input was 8372")
    message = f"softmax({text})\n  yours:    [1, 2]\n  expected: [1, 3]\nLikely: {text} (axis_zero)\nNext: fix it"
    gap = ValueGap(f"softmax({text})", "", (("1", text),), (("1", "3"),))
    values: dict[str, Any] = {
        "module": "01_softmax",
        "submission": text,
        "file": text,
        "status": "graded",
        "score": 3.0,
        "max_score": 4.0,
        "message": text,
        "checks": (failed, hidden),
        "costs": (
            CostResult("softmax", "softmax", "work", "m·n", "m·n²", "fail", 1.0, 0.0, 4, text, code),
            CostResult("softmax", "softmax", "steps", "1", text, "inconclusive", 0.0, 0.0, 4, text, code),
        ),
        "forbidden": (ForbiddenCall("softmax", text, 3, text),),
        "endings": (),
        "diagnoses": (Diagnosis("softmax", text, message, 4, code=code, gap=gap),),
        "sandbox": "strict",
        "environment": {"python": "3.11", "attnlab": text},
        "timing": {},
        "reviews": (ReviewItem(text, "cost", text, 4, text, 0.0, code=text),),
    }
    return Report(**(values | changes))


@dataclass
class ReadPage(HTMLParser):
    """What a browser sees of a page: tags, attributes, text, and what could run."""

    tags: set[str] = field(default_factory=set)
    attributes: set[tuple[str, str]] = field(default_factory=set)
    values: list[str] = field(default_factory=list)
    text: str = ""
    scripts: list[str] = field(default_factory=list)
    policy: str = ""
    _inside: str = ""

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        found = dict(attrs)
        self.attributes |= {(tag, name) for name in found}
        self.values += [value or "" for name, value in attrs if name in ("href", "src", "action", "xlink:href")]
        if found.get("http-equiv") == "Content-Security-Policy":
            self.policy = found["content"] or ""
        self._inside = tag
        if tag == "script":
            self.scripts.append("")

    def handle_data(self, data: str) -> None:
        if self._inside == "script":
            self.scripts[-1] += data
        elif self._inside != "style":
            self.text += data

    def handle_endtag(self, tag: str) -> None:
        self._inside = "" if tag == self._inside else self._inside


def read_page(text: str) -> ReadPage:
    """Read a page as a browser does."""
    page = ReadPage()
    page.feed(text)
    page.close()
    return page
