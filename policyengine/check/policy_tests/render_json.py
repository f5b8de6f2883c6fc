"""A run of policy tests for programs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from policyengine.check.policy_tests.mutants import Mutant
from policyengine.check.policy_tests.report import Report
from policyengine.check.policy_tests.running import CaseResult
from policyengine.check.policy_tests.traces import step_json
from policyengine.source.place import Place
from policyengine.source.render import render_json as render_findings


def render_json(reports: Sequence[Report]) -> str:
    """The report of a bundle as one JSON document, those of several under `bundles`; docs/policy-tests.md has both."""
    whole = (
        _report(reports[0])
        if len(reports) == 1
        else {"passed": all(report.passed for report in reports), "bundles": [_report(report) for report in reports]}
    )
    return json.dumps(whole, ensure_ascii=False, indent=2, default=str)


def _report(report: Report) -> dict[str, Any]:
    found = json.loads(render_findings(report.all_findings))
    return {
        "bundle": {"name": report.bundle, "version": report.version},
        "passed": report.passed,
        "broken": report.broken,
        "counts": {
            "documents": len(report.documents),
            "cases": len(report.results),
            "passed": len(report.results) - len(report.failed),
            "failed": len(report.failed),
        },
        "cases": [_case(result) for result in report.results],
        "findings": found["findings"],
        "coverage": _coverage(report),
        "mutants": _mutants(report),
    }


def _case(result: CaseResult) -> dict[str, Any]:
    case = result.case
    last = result.steps[-1]
    about: dict[str, Any] = {
        "name": case.name,
        "policy": last.step.policy,
        **_place(case.place),
        "passed": result.passed,
    }
    if not result.passed:
        about["step"] = result.failed_step
        about["mismatches"] = [{"field": m.field, "expected": m.expected, "actual": m.actual} for m in last.mismatches]
        hidden = last.step.start.recorded is not None
        about["trace"] = [step_json(step, hidden) for step in last.decision.trace]
    return about


def _coverage(report: Report) -> dict[str, Any]:
    return {
        "percent": report.coverage.percent,
        "matched": report.coverage.matched,
        "rules": report.coverage.total,
        "min": report.min_percent,
        "policies": [
            {
                "policy": policy.policy,
                "cases": policy.cases,
                "rules": [
                    {
                        "id": rule.id,
                        **_place(rule.place),
                        "matched": rule.matched,
                        "seen_false": rule.seen_false,
                        "counted": rule.required,
                    }
                    for rule in policy.rules
                ],
                "untested": [rule.id for rule in policy.untested],
                "never_false": [rule.id for rule in policy.never_false],
            }
            for policy in report.coverage.policies
        ],
    }


def _mutants(report: Report) -> dict[str, Any] | None:
    mutation = report.mutation
    if mutation is None:
        return None
    return {
        "total": mutation.total,
        "noticed": mutation.noticed,
        "untried": mutation.untried,
        "survivors": [_mutant(one) for one in mutation.survivors],
        "explained": [{**_mutant(one), "reason": why.reason} for one, why in mutation.explained],
        "unused_explanations": [{"mutant": one.mutant, **_place(one.place)} for one in mutation.unused],
    }


def _mutant(mutant: Mutant) -> dict[str, Any]:
    return {"policy": mutant.policy, "mutant": mutant.id, **_place(mutant.place)}


def _place(place: Place) -> dict[str, Any]:
    return {"file": place.file, "line": place.line, "column": place.column}
