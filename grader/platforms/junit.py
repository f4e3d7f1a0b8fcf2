"""JUnit XML by the schema of Jenkins: a suite for each report, a case for each check and cost.

A failure is the student's fault, an error is the grader's fault, and a skipped case was not run.
"""

from __future__ import annotations

from collections.abc import Iterable
from xml.etree import ElementTree

from grader.classroom.marks import Mark
from grader.classroom.report_items import Item, diagnosed, items_of
from grader.core.report import Report
from grader.core.safe_text import visible, visible_line

IMPORT = "the file can be loaded"
GRADED = "the submission was graded"


def junit_text(reports: Iterable[tuple[Mark, Report]], name: str = "attnlab") -> str:
    """Return reports as XML, without the declaration."""
    root = ElementTree.Element("testsuites", name=_clean(name))
    for mark, report in reports:
        root.append(_suite(mark, report))
    for count in ("tests", "failures", "errors"):
        root.set(count, str(sum(int(suite.get(count, "0")) for suite in root)))
    ElementTree.indent(root, " ")
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=False, short_empty_elements=True) + "\n"


def junit_bytes(text: str) -> bytes:
    """Return the content of an XML file."""
    return b'<?xml version="1.0" encoding="UTF-8"?>\n' + text.encode("utf-8")


def _suite(mark: Mark, report: Report) -> ElementTree.Element:
    name = f"{report.module}.{mark.id or report.submission}"
    suite = ElementTree.Element("testsuite", name=_clean(name))
    properties = ElementTree.SubElement(suite, "properties")
    for key, value in _properties(mark, report).items():
        ElementTree.SubElement(properties, "property", name=key, value=_clean(value))
    cases = list(_cases(report, _clean(name)))
    suite.extend(cases)
    for attribute, child in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        suite.set(attribute, str(sum(case.find(child) is not None for case in cases)))
    suite.set("tests", str(len(cases)))
    suite.set("time", f"{report.timing.get('wall_s') or 0.0:.3f}")
    if diagnoses := "\n\n".join(dict.fromkeys(diagnosed(report))):
        ElementTree.SubElement(suite, "system-out").text = visible(diagnoses).expandtabs(4)
    return suite


def _properties(mark: Mark, report: Report) -> dict[str, str]:
    """Return the properties of a suite; a score only if the report has one."""
    scores = {"score": report.score, "final": mark.final, "override": mark.override}
    return {
        "student": mark.id or report.submission,
        "status": report.status,
        **{name: f"{value:g}" for name, value in scores.items() if value is not None},
        "max_score": f"{report.max_score:g}",
        **({"comment": mark.comment} if mark.comment else {}),
        "sandbox": report.sandbox,
        "needs_review": "true" if report.needs_review else "false",
    }


def _cases(report: Report, classname: str) -> Iterable[ElementTree.Element]:
    if report.status == "not_importable":
        yield _with_result(_case(IMPORT, classname), "failure", report.message, "not_importable")
    elif report.score is None:
        yield _with_result(_case(GRADED, classname), "error", report.message, report.status)
    for item in items_of(report):
        yield _item(item, f"{classname}.{item.target}", graded=report.score is not None)


def _item(item: Item, classname: str, *, graded: bool) -> ElementTree.Element:
    case = _case(item.name, classname)
    if item.outcome == "fault":
        return _with_result(case, "error", item.text or "the grader failed", "grader_fault")
    if item.outcome == "not_run" or not graded:
        return _with_result(case, "skipped", item.text or "not run", "")
    if item.outcome == "failed":
        return _with_result(case, "failure", f"{item.title}\n{item.text}".strip(), item.kind)
    return case


def _case(name: str, classname: str) -> ElementTree.Element:
    return ElementTree.Element("testcase", name=_clean(name), classname=_clean(classname))


def _with_result(case: ElementTree.Element, tag: str, text: str, kind: str) -> ElementTree.Element:
    """Add the result of a case: the first line of the text as its message, all of it as its content."""
    child = ElementTree.SubElement(case, tag, message=_clean(text.strip().partition("\n")[0]))
    if kind:
        child.set("type", kind)
    child.text = visible(text).expandtabs(4)
    return case


def _clean(text: str) -> str:
    """Return text that XML 1.0 allows, for an attribute."""
    return visible_line(text)
