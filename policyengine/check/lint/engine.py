"""Running lint: read a bundle, ask every rule, set severities, obey ignore comments."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from policyengine.check.lint.config import Config
from policyengine.check.lint.context import Context
from policyengine.check.lint.ignores import Ignore, apply_ignores, find_ignores, unusable, unused
from policyengine.check.lint.registry import BY_CODE, RULES
from policyengine.check.lint.rules.bundle import RULE as BUNDLE
from policyengine.check.lint.rules.ignore import RULE as IGNORE
from policyengine.check.lint.rules.schema import RULE as SCHEMA
from policyengine.check.lint.rules.unused_ignore import RULE as UNUSED
from policyengine.check.lint.rules.yaml import RULE as YAML
from policyengine.source.finding import Finding
from policyengine.source.render import in_order

_FIRST = (YAML.code, SCHEMA.code)
"""What is wrong with a document before anything in it can be looked at."""


@dataclass(frozen=True)
class Report:
    """What lint found, and the texts that it found it in, by the file names of its places."""

    findings: tuple[Finding, ...] = ()
    texts: Mapping[str, str] = field(default_factory=dict)
    unchecked: tuple[str, ...] = ()
    """Files with errors that keep their rules and expressions from being looked at."""

    @property
    def failed(self) -> bool:
        """Whether there is a finding of severity error."""
        return any(finding.severity == "error" for finding in self.findings)


def lint(path: Path, config: Config) -> Report:
    """Lint the bundle in a folder, or a single file. Raises InputError where there is nothing to read."""
    context = Context(path)
    findings = [*_below(context, config), *_asked(context, config)]
    findings = _without_echoes(findings)
    ignores = list(_ignores(context))
    findings = apply_ignores(findings, ignores)
    findings += [IGNORE.finding(hit, IGNORE.severity) for hit in unusable(ignores)]
    # Where something cannot be used, rules have not looked at everything: what they did not find may be there.
    whole = not any(finding.severity == "error" for finding in context.findings)
    if whole and (severity := config.severity(UNUSED)) is not None:
        ran = {rule.code for rule in RULES if config.severity(rule) is not None}
        late = [UNUSED.finding(hit, severity) for hit in unused(ignores, ran)]
        findings += apply_ignores(late, ignores)
    first = {
        finding.place.file for finding in context.findings if finding.severity == "error" and finding.code in _FIRST
    }
    return Report(tuple(in_order(findings)), context.texts, tuple(sorted(first)))


def joined(reports: Sequence[Report]) -> Report:
    """Several reports as one."""
    findings: list[Finding] = []
    texts: dict[str, str] = {}
    for report in reports:
        findings += report.findings
        texts.update(report.texts)
    unchecked = dict.fromkeys(file for report in reports for file in report.unchecked)
    return Report(tuple(in_order(findings)), texts, tuple(unchecked))


def _below(context: Context, config: Config) -> Iterator[Finding]:
    """What the layers below found, with the severities that a team has set."""
    for finding in context.findings:
        rule = BY_CODE.get(finding.code)
        if rule is None or rule.fixed or rule.code not in config.severities:
            yield finding
        elif (severity := config.severities[rule.code]) is not None:
            yield replace(finding, severity=severity)


def _asked(context: Context, config: Config) -> Iterator[Finding]:
    for rule in RULES:
        severity = config.severity(rule)
        if rule.check is not None and severity is not None:
            for hit in rule.check(context):
                yield rule.finding(hit, severity)


def _without_echoes(findings: list[Finding]) -> list[Finding]:
    """Leave out what the bundle says in general about a place where a rule says what is wrong."""
    said = {finding.place for finding in findings if finding.code != BUNDLE.code}
    return [finding for finding in findings if finding.code != BUNDLE.code or finding.place not in said]


def _ignores(context: Context) -> Iterator[Ignore]:
    documents = context.documents + context.tests
    for file, text in context.texts.items():
        yield from find_ignores(file, text, [document for document in documents if document.file == file])
