"""A run of policy tests for people."""

from __future__ import annotations

from collections.abc import Iterator

from policyengine.check.policy_tests.report import Report
from policyengine.check.policy_tests.running import CaseResult
from policyengine.check.policy_tests.traces import mismatch_lines, trace_lines, where
from policyengine.source.finding import Severity
from policyengine.source.render import in_order
from policyengine.source.render import render_text as render_findings


def render_text(report: Report, *, color: bool = False) -> str:
    """Failing cases with their trace, findings, the coverage where it was asked for, and one line of counts."""
    lines: list[str] = []
    for result in report.failed:
        lines += [*_failure(result, color), ""]
    if findings := in_order(report.all_findings):
        lines += [render_findings(findings, report.sources, color=color), ""]
    if report.show_coverage:
        lines += [*_coverage(report), ""]
    elif report.min_percent is None:
        lines += _not_seen(report)
    if report.mutants_wanted:
        lines += list(_mutants(report))
    lines.append(_painted(_summary(report), "32" if report.passed else "31", color))
    return "\n".join(lines)


def _failure(result: CaseResult, color: bool) -> Iterator[str]:
    case = result.case
    step = result.steps[-1].step
    place = case.document.place(step.at)
    label = _painted("failed", "31", color)
    at = f" ({where(result)})" if where(result) else ""
    yield f"{place}: {label}: {step.policy}: {case.name}{at}"
    for mismatch in result.steps[-1].mismatches:
        yield from (f"  {line}" for line in mismatch_lines(mismatch))
    yield "  trace"
    yield from (f"    {line}" for line in trace_lines(result))


def _coverage(report: Report) -> Iterator[str]:
    rows = []
    for policy in report.coverage.policies:
        seen = len(policy.counted) - len(policy.untested)
        notes = []
        if policy.untested:
            notes.append("untested: " + ", ".join(rule.id for rule in policy.untested))
        if policy.never_false:
            notes.append("never seen false: " + ", ".join(rule.id for rule in policy.never_false))
        if not policy.rules[-1].matched:
            notes.append("on_error untested")
        rows.append((policy.policy, str(policy.cases), f"{seen}/{len(policy.counted)}", "; ".join(notes)))
    head = ("policy", "cases", "rules matched", "")
    widths = [max(len(row[n]) for row in [head, *rows]) for n in range(3)]
    for name, cases, matched, note in [head, *rows]:
        yield f"{name:<{widths[0]}}  {cases:>{widths[1]}}  {matched:>{widths[2]}}  {note}".rstrip()


def _not_seen(report: Report) -> list[str]:
    """Where only some tests were run: the rules that they have not seen deciding."""
    rows = [
        f"  {policy.policy}: {', '.join(rule.id for rule in policy.untested)}"
        for policy in report.coverage.policies
        if policy.untested
    ]
    return ["rules that decide in none of these cases:", *rows, ""] if rows else []


def _mutants(report: Report) -> Iterator[str]:
    mutation = report.mutation
    if mutation is None:
        yield "no mutants were tried: make the tests pass first"
        return
    yield (
        f"{mutation.total} mutants: {mutation.noticed} noticed, {len(mutation.explained)} explained, "
        f"{len(mutation.survivors)} not noticed" + (f", {mutation.untried} not tried" if mutation.untried else "")
    )


def _summary(report: Report) -> str:
    failed = len(report.failed)
    total = len(report.results)
    count = f"{total} case{'' if total == 1 else 's'}"
    documents = f"{len(report.documents)} document{'' if len(report.documents) == 1 else 's'}"
    parts = [f"{count} in {documents}: {total - failed} passed" + (f", {failed} failed" if failed else "")]
    found = report.coverage
    need = "" if report.covered else f", {report.min_percent:g} % needed"
    parts.append(f"rules covered: {found.matched} of {found.total} ({_percent(found.percent)} %{need})")
    problems = sum(f.severity is Severity.ERROR for f in report.all_findings)
    if problems:
        parts.append(f"{problems} finding{'' if problems == 1 else 's'}")
    return "; ".join(parts)


def _percent(value: float) -> str:
    """Rounded down, so that only all of them are 100 %."""
    return f"{int(value * 10) / 10:g}"


def _painted(text: str, code: str, color: bool) -> str:
    return f"\x1b[{code}m{text}\x1b[0m" if color else text
