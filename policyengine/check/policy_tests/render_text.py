"""A run of policy tests for people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from policyengine.check.policy_tests.report import Report
from policyengine.check.policy_tests.running import CaseResult
from policyengine.check.policy_tests.traces import deciding_lines, mismatch_lines, trace_lines, where
from policyengine.source.counts import counted, thousands
from policyengine.source.finding import Severity
from policyengine.source.render import in_order
from policyengine.source.render import render_text as render_findings
from policyengine.source.text import shown_path


def render_text(reports: Sequence[Report], *, color: bool = False, all_traces: bool = False) -> str:
    """The report of a bundle, or those of several, each under a line that names its bundle.

    A failing case is shown with what decided; the first one of each policy, and with `all_traces` every one, with its
    whole trace.
    """
    if len(reports) == 1:
        return _report(reports[0], color, all_traces)
    return "\n\n".join(
        f"bundle {one.bundle} {one.version} in {shown_path(one.folder)}\n\n{_report(one, color, all_traces)}"
        for one in reports
    )


def _report(report: Report, color: bool, all_traces: bool) -> str:
    """Failing cases, findings, the coverage where it was asked for, and one line of counts."""
    lines: list[str] = []
    traced: set[str] = set()
    for result in report.failed:
        policy = result.steps[-1].step.policy
        lines += [*_failure(result, color, traced=all_traces or policy not in traced), ""]
        traced.add(policy)
    if not all_traces and (short := len(report.failed) - len(traced)):
        lines += [f"{counted(short, 'failing case')} shown without the trace: --trace shows all", ""]
    if findings := in_order(report.all_findings):
        lines += [render_findings(findings, report.sources, color=color), ""]
    if report.show_coverage and not report.broken:
        lines += [*_coverage(report), ""]
    elif report.min_percent is None and not report.broken:
        lines += _not_seen(report)
    if report.mutants_wanted and not report.broken:
        lines += list(_mutants(report))
    lines.append(_painted(summary(report), "32" if report.passed else "31", color))
    return "\n".join(lines)


def _failure(result: CaseResult, color: bool, *, traced: bool) -> Iterator[str]:
    case = result.case
    step = result.steps[-1].step
    place = case.document.place(step.at)
    label = _painted("failed", "31", color)
    at = f" ({where(result)})" if where(result) else ""
    yield f"{place}: {label}: {step.policy}: {case.name}{at}"
    for mismatch in result.steps[-1].mismatches:
        yield from (f"  {line}" for line in mismatch_lines(mismatch))
    if not traced:
        yield from (f"  {line}" for line in deciding_lines(result))
        return
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
        f"{counted(mutation.total, 'mutant')}: {mutation.noticed} noticed, {len(mutation.explained)} explained, "
        f"{len(mutation.survivors)} not noticed" + (f", {mutation.untried} not tried" if mutation.untried else "")
    )


def summary(report: Report) -> str:
    """One line: how many cases passed and failed, and how much of the rules they cover."""
    if report.broken:
        found_wrong = counted(len(report.all_findings), "finding")
        return f"the bundle {shown_path(report.folder)} cannot be used, so nothing was tested; {found_wrong}"
    failed = len(report.failed)
    total = len(report.results)
    count = f"{counted(total, 'case')} in {counted(len(report.documents), 'document')}"
    parts = [f"{count}: {thousands(total - failed)} passed" + (f", {thousands(failed)} failed" if failed else "")]
    found = report.coverage
    need = "" if report.covered else f", {report.min_percent:g} % needed"
    parts.append(f"rules covered: {found.matched} of {found.total} ({_percent(found.percent)} %{need})")
    problems = sum(f.severity is Severity.ERROR for f in report.all_findings)
    if problems:
        parts.append(counted(problems, "finding"))
    return "; ".join(parts)


def _percent(value: float) -> str:
    """Rounded down, so that only all of them are 100 %."""
    return f"{int(value * 10) / 10:g}"


def _painted(text: str, code: str, color: bool) -> str:
    return f"\x1b[{code}m{text}\x1b[0m" if color else text
