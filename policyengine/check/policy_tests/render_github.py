"""A run of policy tests as findings, a failing case at its place, for the formats that show findings."""

from __future__ import annotations

from collections.abc import Sequence

from policyengine.check.formats.results import Results
from policyengine.check.policy_tests.report import Report
from policyengine.check.policy_tests.running import CaseResult
from policyengine.check.policy_tests.traces import deciding_lines, mismatch_lines, where
from policyengine.source.finding import Finding, Severity

CODE = "failed"
"""Code of a finding that is a failing case."""


def results(reports: Sequence[Report]) -> Results:
    """The failing cases and everything else that is wrong."""
    found = [finding for report in reports for finding in (*map(_failure, report.failed), *report.all_findings)]
    texts = {file: text for report in reports for file, text in report.sources.items()}
    return Results(tuple(found), texts)


def _failure(result: CaseResult) -> Finding:
    step = result.steps[-1].step
    at = f" ({where(result)})" if where(result) else ""
    lines = [line for mismatch in result.steps[-1].mismatches for line in mismatch_lines(mismatch)]
    why = "; ".join(" ".join(line.split()) for line in (*lines, *deciding_lines(result)))
    message = f"{step.policy}: {result.case.name}{at}: {why}"
    return Finding(CODE, Severity.ERROR, message, result.case.document.place(step.at))
