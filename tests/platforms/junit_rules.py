"""The rules of JUnit XML, from the schema of Jenkins (junit-10.xsd of its xUnit plugin)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from xml.etree.ElementTree import Element, fromstring

SECONDS = re.compile(r"(([0-9]{0,3},)*[0-9]{3}|[0-9]{0,3})*(\.[0-9]*)?")


@dataclass(frozen=True)
class Rule:
    """The attributes and children that an element must or may have, and whether it may contain text."""

    must: frozenset[str]
    may: frozenset[str]
    children: frozenset[str]
    text: bool = False


def _rule(must: str, may: str, children: str = "", *, text: bool = False) -> Rule:
    return Rule(frozenset(must.split()), frozenset(may.split()), frozenset(children.split()), text)


RULES = {
    "testsuites": _rule("", "name time tests failures errors", "testsuite"),
    "testsuite": _rule(
        "name tests failures errors",
        "group time skipped timestamp hostname id package file log url",
        "testsuite properties testcase system-out system-err",
    ),
    "properties": _rule("", "", "property"),
    "property": _rule("name value", ""),
    "testcase": _rule("name", "time classname group", "skipped error failure system-out system-err"),
    "skipped": _rule("", "type message", text=True),
    "error": _rule("", "type message", text=True),
    "failure": _rule("", "type message", text=True),
    "system-out": _rule("", "", text=True),
    "system-err": _rule("", "", text=True),
}


def check_junit(data: bytes) -> Element:
    """Check a file against the rules, and its totals against its cases; return its root."""
    root = fromstring(data)
    assert root.tag in ("testsuites", "testsuite")
    _check(root)
    suites = [root] if root.tag == "testsuite" else list(root)
    for suite in suites:
        cases = suite.findall("testcase")
        assert int(suite.attrib["tests"]) == len(cases) > 0
        for attribute, child in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
            assert int(suite.attrib[attribute]) == sum(case.find(child) is not None for case in cases)
        # Readers keep one outcome for each case, and identify a case by these two attributes.
        assert all(len(case) <= 1 for case in cases)
        assert len({(case.get("classname"), case.get("name")) for case in cases}) == len(cases)
    if root.tag == "testsuites":
        for attribute in ("tests", "failures", "errors"):
            assert int(root.attrib[attribute]) == sum(int(suite.attrib[attribute]) for suite in suites)
    return root


def _check(element: Element) -> None:
    rule = RULES[element.tag]
    assert rule.must <= element.attrib.keys() <= rule.must | rule.may, (element.tag, element.attrib)
    assert SECONDS.fullmatch(element.get("time", "0")), element.get("time")
    assert rule.text or not (element.text or "").strip(), element.tag
    for child in element:
        assert child.tag in rule.children, f"{child.tag} in {element.tag}"
        assert not (child.tail or "").strip()
        _check(child)
