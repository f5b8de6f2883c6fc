"""SARIF 2.1.0, which code hosts show beside the code."""

from __future__ import annotations

import json
from typing import Any

from policyengine.check.formats.results import Results
from policyengine.check.lint.rule import Rule
from policyengine.source.finding import Finding, Fix, Severity
from policyengine.source.place import Place

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}
_ROOT = "%SRCROOT%"


def render(results: Results) -> str:
    """One run with the rules and the findings."""
    index = {rule.code: number for number, rule in enumerate(results.rules)}
    driver: dict[str, Any] = {
        "name": "policyengine",
        "version": results.version,
        "rules": [_rule(rule) for rule in results.rules],
    }
    found = [_result(results, finding, mark, index) for finding, mark in results.fingerprints()]
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": found}
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, ensure_ascii=False, indent=2)


def _rule(rule: Rule) -> dict[str, Any]:
    # No `helpUri`, and no `informationUri` of the driver: there is no published page to point at. The whole text of the
    # rule goes along in `help`, which hosts show beside the finding.
    why, bad, good = rule.why.strip(), rule.bad.rstrip(), rule.good.rstrip()
    return {
        "id": rule.code,
        "shortDescription": {"text": rule.title},
        "fullDescription": {"text": " ".join(why.split())},
        "help": {
            "text": f"{why}\n\nBad:\n\n{bad}\n\nGood:\n\n{good}",
            "markdown": f"{why}\n\nBad:\n\n```yaml\n{bad}\n```\n\nGood:\n\n```yaml\n{good}\n```",
        },
        "defaultConfiguration": {"level": _LEVELS[rule.severity]},
    }


def _result(results: Results, finding: Finding, mark: str, index: dict[str, int]) -> dict[str, Any]:
    text = finding.message + (f" ({finding.hint})" if finding.hint else "")
    result: dict[str, Any] = {
        "ruleId": finding.code,
        "level": _LEVELS[finding.severity],
        "message": {"text": text},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": _artifact(results, finding.place.file),
                    "region": _region(finding.place),
                }
            }
        ],
        "partialFingerprints": {"policyengine/v1": mark},
    }
    if finding.code in index:
        result["ruleIndex"] = index[finding.code]
    if finding.fix is not None:
        result["fixes"] = [_fix(results, finding.fix)]
    return result


def _fix(results: Results, fix: Fix) -> dict[str, Any]:
    by_file: dict[str, list[dict[str, Any]]] = {}
    for edit in fix.edits:
        change = {"deletedRegion": _region(edit.place), "insertedContent": {"text": edit.text}}
        by_file.setdefault(edit.place.file, []).append(change)
    return {
        "description": {"text": fix.title},
        "artifactChanges": [
            {"artifactLocation": _artifact(results, file), "replacements": changes} for file, changes in by_file.items()
        ],
    }


def _artifact(results: Results, file: str) -> dict[str, str]:
    uri = results.uri(file)
    return {"uri": uri} if uri.startswith("file:") else {"uri": uri, "uriBaseId": _ROOT}


def _region(place: Place) -> dict[str, int]:
    return {
        "startLine": place.line,
        "startColumn": place.column,
        "endLine": place.end_line,
        "endColumn": place.end_column,
    }
