"""A run of policy tests as JUnit XML, which CI servers read."""

from __future__ import annotations

import re
from collections.abc import Sequence
from xml.etree import ElementTree as Xml

from policyengine.check.policy_tests.report import Report
from policyengine.check.policy_tests.running import CaseResult
from policyengine.check.policy_tests.traces import mismatch_lines, trace_lines, where
from policyengine.source.finding import Finding, Severity
from policyengine.source.render import in_order

# What XML 1.0 cannot hold.
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def render_junit(reports: Sequence[Report]) -> str:
    """One suite a document with one test case a case, and for each bundle one for what is wrong besides."""
    root = Xml.Element("testsuites", name=_clean(", ".join(report.bundle for report in reports)))
    for report in reports:
        for document in report.documents:
            results = [result for result in report.results if result.case.document is document.document]
            _suite(root, document.file, results)
        findings = [f for f in in_order(report.all_findings) if f.severity is Severity.ERROR]
        if findings:
            _findings(root, findings)
    for count in ("tests", "failures", "errors"):
        root.set(count, str(sum(int(suite.get(count, "0")) for suite in root)))
    Xml.indent(root)
    text: str = Xml.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}'


def _suite(root: Xml.Element, file: str, results: Sequence[CaseResult]) -> None:
    failures = sum(not result.passed for result in results)
    suite = Xml.SubElement(
        root, "testsuite", name=_clean(file), tests=str(len(results)), failures=str(failures), errors="0"
    )
    for result in results:
        place = result.case.place
        case = Xml.SubElement(
            suite, "testcase", classname=_clean(result.steps[-1].step.policy), name=_clean(result.case.name),
            file=_clean(place.file), line=str(place.line),
        )  # fmt: skip
        if not result.passed:
            mismatches = result.steps[-1].mismatches
            lines = [line for mismatch in mismatches for line in mismatch_lines(mismatch)]
            at = f"{where(result)}: " if where(result) else ""
            message = at + "; ".join(lines)
            failure = Xml.SubElement(case, "failure", message=_clean(message), type="mismatch")
            failure.text = _clean("\n".join([*lines, "trace", *(f"  {line}" for line in trace_lines(result))]))


def _findings(root: Xml.Element, findings: Sequence[Finding]) -> None:
    count = str(len(findings))
    suite = Xml.SubElement(root, "testsuite", name="findings", tests=count, failures="0", errors=count)
    for finding in findings:
        place = finding.place
        case = Xml.SubElement(
            suite, "testcase", classname=finding.code, name=_clean(f"{place}: {finding.message}"),
            file=_clean(place.file), line=str(place.line),
        )  # fmt: skip
        error = Xml.SubElement(case, "error", message=_clean(finding.message), type=finding.code)
        error.text = _clean(str(finding))


def _clean(text: str) -> str:
    return _NOT_XML.sub(lambda found: f"\\u{ord(found.group()):04x}", text)
