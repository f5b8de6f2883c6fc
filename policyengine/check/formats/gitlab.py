"""GitLab code quality: one JSON array, shown in merge requests."""

from __future__ import annotations

import json

from policyengine.check.formats.results import Results
from policyengine.source.finding import Severity

_SEVERITIES = {Severity.ERROR: "major", Severity.WARNING: "minor", Severity.INFO: "info"}


def render(results: Results) -> str:
    """An entry for each finding."""
    entries = [
        {
            "description": finding.message + (f" ({finding.hint})" if finding.hint else ""),
            "check_name": finding.code,
            "fingerprint": mark,
            "severity": _SEVERITIES[finding.severity],
            "location": {
                "path": results.path(finding.place.file),
                "positions": {
                    "begin": {"line": finding.place.line, "column": finding.place.column},
                    "end": {"line": finding.place.end_line, "column": finding.place.end_column},
                },
                "lines": {"begin": finding.place.line, "end": finding.place.end_line},
            },
        }
        for finding, mark in results.fingerprints()
    ]
    return json.dumps(entries, ensure_ascii=False, indent=2)
