"""What the rules say about themselves, as text, as JSON and as the page `docs/rules.md`."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from policyengine.check.lint.rule import Rule

_WIDTH = 100


def as_json(rule: Rule) -> dict[str, object]:
    """A rule's texts."""
    return {
        "code": rule.code,
        "title": rule.title,
        "severity": str(rule.severity),
        "fixable": rule.fixable,
        "fixed_severity": rule.fixed,
        "why": " ".join(rule.why.split()),
        "bad": rule.bad,
        "good": rule.good,
    }


def explanation(rule: Rule) -> str:
    """A rule for a terminal."""
    why = textwrap.fill(" ".join(rule.why.split()), _WIDTH)
    parts = [f"{rule.code}: {rule.title}", _about(rule), why]
    parts += [f"Bad:\n\n{textwrap.indent(rule.bad, '  ')}", f"Good:\n\n{textwrap.indent(rule.good, '  ')}"]
    return "\n\n".join(part.rstrip() for part in parts) + "\n"


def page(rules: Sequence[Rule]) -> str:
    """The page about all rules."""
    lines = [
        "# Lint rules",
        "",
        "Made by `policyengine rules --format markdown`; the texts stand beside each rule's check.",
        "",
        "| rule | severity | fix | |",
        "|---|---|---|---|",
    ]
    for rule in rules:
        fix = "yes" if rule.fixable else ""
        lines.append(f"| [`{rule.code}`](#{rule.code}) | {rule.severity} | {fix} | {rule.title} |")
    lines += [
        "",
        "A team sets severities in `policyengine.toml`, or under `[tool.policyengine]` in `pyproject.toml`:",
        "",
        "```toml",
        "[lint.rules]",
        'missing-owner = "error"   # error, warning, info or off',
        "```",
        "",
        "In `pyproject.toml` the table is `[tool.policyengine.lint.rules]`.",
        "",
        "Lint looks in the folder of the bundle, then in each folder above it. In each it takes `policyengine.toml`,",
        "or `pyproject.toml` where that has a `[tool.policyengine]`. The first file found holds alone; files above it",
        "add nothing. So an empty `policyengine.toml` in a bundle hides what the `pyproject.toml` of the repository",
        "says. One that is no TOML ends the search too, with a finding. `--config FILE` takes that file and looks for",
        "no other. A run over several bundles takes for each its own file.",
        "",
        "One finding is excused on its line, or on the line above, with a reason:",
        "",
        "```yaml",
        "max_consecutive_failures: 0  # policyengine: ignore[breaker-limit] this stage never compacts by itself",
        "```",
    ]
    for rule in rules:
        lines += [
            "",
            f"## {rule.code}",
            "",
            f"{rule.title}. {_about(rule)}",
            "",
            textwrap.fill(" ".join(rule.why.split()), 118),
            "",
            "Bad:",
            "",
            "```yaml",
            rule.bad.rstrip(),
            "```",
            "",
            "Good:",
            "",
            "```yaml",
            rule.good.rstrip(),
            "```",
        ]
    return "\n".join(lines) + "\n"


def _about(rule: Rule) -> str:
    parts = [f"Severity {rule.severity}"]
    if rule.fixed:
        parts.append("which cannot be changed or ignored")
    if rule.fixable:
        parts.append("`--fix` can repair it")
    return ", ".join(parts) + "."
