"""Findings as JUnit XML, which CI services show as tests: a suite per environment, a case per rule."""

from __future__ import annotations

import re
from collections import defaultdict
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from hfenv.cli.report.text import visible
from hfenv.cli.report.validated import LEVELS, Checked, Unchecked, Validated
from hfenv.findings import Finding, Suppressed
from hfenv.rules.catalogue import RULES

# What XML 1.0 can't hold in any form.
_IMPOSSIBLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_WORDS = dict(LEVELS)


def render(validated: Validated, command: str = "validate") -> str:
    """The document in ASCII, other signs as references, so that it is right whatever the stream's encoding."""
    root = Element("testsuites", name=f"hfenv {command}")
    suites = [_suite(root, one, validated) for one in validated.checked]
    suites += [_unchecked(root, one) for one in validated.unchecked]
    for name in ("tests", "failures", "errors", "skipped"):
        root.set(name, str(sum(int(suite.get(name, "0")) for suite in suites)))
    indent(root)
    body: bytes = tostring(root, encoding="us-ascii", xml_declaration=False)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{body.decode()}'


def _suite(root: Element, one: Checked, validated: Validated) -> Element:
    findings: dict[str, list[Finding]] = defaultdict(list)
    for finding in one.report.findings:
        findings[finding.rule].append(finding)
    ignored: dict[str, list[Suppressed]] = defaultdict(list)
    for each in one.report.suppressed:
        ignored[each.finding.rule].append(each)
    skipped = {each.rule: each.reason for each in one.report.skipped}
    suite = SubElement(root, "testsuite", name=_clean(visible(one.path)), errors="0", time="0")
    failures = 0
    names = sorted({*one.report.ran, *skipped, *findings, *ignored})
    for rule in names:
        case = _case(suite, one.path, rule)
        failing = [finding for finding in findings[rule] if validated.fails(finding)]
        if failing:
            failures += 1
            failure = SubElement(case, "failure", type=rule, message=_clean(_line(failing[0])))
            failure.text = _clean("\n".join(map(_line, failing)))
        elif rule in skipped:
            SubElement(case, "skipped", message=_clean(visible(f"not run: {skipped[rule]}")))
        said = [_line(finding) for finding in findings[rule] if finding not in failing]
        said += [f"ignored ({visible(each.reason)}): {_line(each.finding)}" for each in ignored[rule]]
        if said:
            SubElement(case, "system-out").text = _clean("\n".join(said))
    suite.set("tests", str(len(names)))
    suite.set("failures", str(failures))
    suite.set("skipped", str(sum(1 for _ in suite.iter("skipped"))))
    return suite


def _unchecked(root: Element, one: Unchecked) -> Element:
    counts = {"tests": "1", "failures": "0", "errors": "1", "skipped": "0", "time": "0"}
    suite = SubElement(root, "testsuite", {"name": _clean(visible(one.path)), **counts})
    case = SubElement(suite, "testcase", classname=_clean(visible(one.path)), name="can be checked", time="0")
    SubElement(case, "error", message=_clean(visible(f"{one.message} {one.hint}".strip())))
    return suite


def _case(suite: Element, path: str, rule: str) -> Element:
    title = f"{rule} {RULES[rule].title}" if rule in RULES else rule
    return SubElement(suite, "testcase", classname=_clean(visible(path)), name=_clean(title), time="0")


def _line(finding: Finding) -> str:
    return visible(f"{finding.place}: {_WORDS[finding.severity]} {finding.rule} {finding.told}")


def _clean(text: str) -> str:
    return _IMPOSSIBLE.sub("\N{REPLACEMENT CHARACTER}", text)
