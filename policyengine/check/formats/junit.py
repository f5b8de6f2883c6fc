"""JUnit XML, which every CI shows as tests: a suite for each file, a failed test for each error."""

from __future__ import annotations

from xml.etree import ElementTree as xml

from policyengine.check.formats.results import Results, clean
from policyengine.source.finding import Finding, Severity


def render(results: Results) -> str:
    """A suite for every file that was looked at; warnings and infos pass, and say so in their output."""
    found: dict[str, list[Finding]] = {file: [] for file in results.files()}
    for finding in results.ordered:
        found[finding.place.file].append(finding)
    root = xml.Element("testsuites", name="policyengine lint")
    total = failed = 0
    for file, findings in found.items():
        errors = sum(finding.severity is Severity.ERROR for finding in findings)
        count = max(len(findings), 1)
        path = clean(results.path(file))
        suite = xml.SubElement(root, "testsuite", name=path, tests=str(count), failures=str(errors))
        suite.set("errors", "0")
        suite.set("skipped", "0")
        for finding in findings:
            _case(suite, path, finding)
        if not findings:
            xml.SubElement(suite, "testcase", classname=path, name="no findings", time="0")
        total, failed = total + count, failed + errors
    root.set("tests", str(total))
    root.set("failures", str(failed))
    root.set("errors", "0")
    xml.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + xml.tostring(root, encoding="unicode") + "\n"


def _case(suite: xml.Element, path: str, finding: Finding) -> None:
    place = finding.place
    name = f"{finding.code} at {place.line}:{place.column}"
    case = xml.SubElement(suite, "testcase", classname=path, name=name, file=path, line=str(place.line), time="0")
    text = clean(f"{path}:{place.line}:{place.column}: {finding.message}")
    if finding.hint:
        text += clean(f"\nhint: {finding.hint}")
    if finding.severity is Severity.ERROR:
        failure = xml.SubElement(case, "failure", message=clean(finding.message), type=finding.code)
        failure.text = text
    else:
        xml.SubElement(case, "system-out").text = f"{finding.severity}: {text}"
