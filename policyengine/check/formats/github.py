"""GitHub: workflow commands that annotate lines, and a job summary for what does not fit among them.

A step shows ten annotations; GitHub drops the others without a word. So the worst ten are annotated, and the summary
lists every finding.
"""

from __future__ import annotations

from dataclasses import replace

from policyengine.check.formats.markdown import cell, plain
from policyengine.check.formats.results import Results, clean
from policyengine.source.finding import Finding, Severity
from policyengine.source.render import tally

SHOWN = 10
"""How many annotations a step shows."""

_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}
_RANK = {severity: rank for rank, severity in enumerate(_COMMANDS)}
_MAX_SUMMARY = 1_000_000
"""A step's summary may have one megabyte (bytes)."""


def render(results: Results) -> str:
    """Annotations of the worst findings, and a line that says how many more there are."""
    worst = sorted(results.ordered, key=lambda finding: _RANK[finding.severity])
    lines = [_annotation(results, finding) for finding in worst[:SHOWN]]
    if len(worst) > SHOWN:
        lines.append(f"{len(worst) - SHOWN} more; the job summary lists all {len(worst)}")
    return "\n".join(lines) if lines else "No findings."


def rest(results: Results) -> str:
    """The findings that were not annotated, as lines: for where there is no job summary."""
    worst = sorted(results.ordered, key=lambda finding: _RANK[finding.severity])
    return "\n".join(clean(str(finding)).replace("\n", " ") for finding in worst[SHOWN:])


def summary(results: Results, title: str) -> str:
    """Every finding as a Markdown table for $GITHUB_STEP_SUMMARY, below a title."""
    lines = [f"### {title}", ""]
    if not results.ordered:
        return "\n".join([*lines, "No findings.", ""])
    lines += [f"{tally(results.ordered)}.", ""]
    lines += ["| severity | rule | place | message |", "|---|---|---|---|"]
    size = sum(len(line) for line in lines)
    for number, finding in enumerate(results.ordered):
        place = finding.place
        where = str(replace(place, file=results.path(place.file)))
        text = finding.message + (f" ({finding.hint})" if finding.hint else "")
        line = f"| {finding.severity} | `{finding.code}` | {plain(clean(where))} | {cell(clean(text))} |"
        size += len(line.encode()) + 1
        if size > _MAX_SUMMARY - 200:
            lines += ["", f"{len(results.ordered) - number} more do not fit here; the log of the step lists them."]
            break
        lines.append(line)
    return "\n".join([*lines, ""])


def _annotation(results: Results, finding: Finding) -> str:
    place = finding.place
    properties = {"file": results.path(place.file), "line": str(place.line), "endLine": str(place.end_line)}
    if place.line == place.end_line:  # GitHub takes columns within one line only
        properties |= {"col": str(place.column), "endColumn": str(place.end_column)}
    properties["title"] = f"policyengine {finding.code}"
    text = finding.message + (f"\nhint: {finding.hint}" if finding.hint else "")
    given = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    return f"::{_COMMANDS[finding.severity]} {given}::{_data(clean(text))}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
