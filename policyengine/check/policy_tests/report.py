"""What a run of policy tests came to: data, so that every renderer can print it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from policyengine.check.policy_tests.coverage import Coverage
from policyengine.check.policy_tests.model import TestDocument
from policyengine.check.policy_tests.mutating import Mutation
from policyengine.check.policy_tests.running import CaseResult
from policyengine.source.counts import counted
from policyengine.source.finding import Finding, Severity


@dataclass(slots=True)
class Report:
    """A run. `min_percent` is the share of rules that has to be covered, None where it is only listed."""

    bundle: str
    version: str
    documents: Sequence[TestDocument]
    results: Sequence[CaseResult]
    findings: Sequence[Finding]
    coverage: Coverage
    min_percent: float | None = None
    show_coverage: bool = False
    mutation: Mutation | None = None
    """None where mutants were not asked for, or could tell nothing because something failed already."""
    mutants_wanted: bool = False
    sources: dict[str, str] = field(default_factory=dict)
    """Text of the files that findings are about, by name."""
    folder: Path = Path()
    """Where the bundle lies."""
    broken: bool = False
    """Whether the bundle cannot be used, so that nothing was tested; `findings` say why, as lint does."""

    @property
    def failed(self) -> list[CaseResult]:
        """The cases that came out otherwise than expected."""
        return [result for result in self.results if not result.passed]

    @property
    def covered(self) -> bool:
        """Whether enough rules are covered."""
        return self.min_percent is None or self.coverage.percent >= self.min_percent

    @property
    def passed(self) -> bool:
        """Whether nothing failed."""
        return not self.failed and not any(finding.severity is Severity.ERROR for finding in self.all_findings)

    @property
    def all_findings(self) -> list[Finding]:
        """What is wrong in test documents, with the coverage and with mutants."""
        return [*self.findings, *self._coverage(), *self._mutation()]

    def _coverage(self) -> Iterator[Finding]:
        if self.min_percent is None:
            return
        severity = Severity.WARNING if self.covered else Severity.ERROR
        for policy in self.coverage.policies:
            if policy.counted and not policy.cases:
                count = len(policy.counted)
                rules = "its rule is" if count == 1 else f"its {count} rules are"
                message = f"no case tests the policy `{policy.policy}`; {rules} untested"
                yield Finding("untested", severity, message, policy.place, "write a test beside it: NAME.test.yaml")
                continue
            for rule in policy.untested:
                message = f"the rule `{rule.id}` of `{policy.policy}` decides in no case"
                yield Finding("untested", severity, message, rule.place, "add a case in which it decides")

    def _mutation(self) -> Iterator[Finding]:
        if self.mutation is None:
            return
        for mutant in self.mutation.survivors:
            message = f"no test notices a mutant of `{mutant.policy}`: {mutant.id}"
            hint = "add a case that tells the two apart, or explain the mutant under explained_mutants:"
            yield Finding("mutant", Severity.ERROR, message, mutant.place, hint)
        for one in self.mutation.unused:
            message = f"no mutant of `{one.policy}` that survives is called {one.mutant!r}"
            yield Finding("explained", Severity.ERROR, message, one.place, "remove the explanation")
        if self.mutation.untried and self.documents:
            place = self.documents[0].document.place()
            message = f"the time was over before {counted(self.mutation.untried, 'mutant was', 'mutants were')} tried"
            yield Finding("mutant", Severity.ERROR, message, place, "give more time with --max-seconds")
