"""Which rules the cases of a run have seen matching, and which they have seen not matching."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from policyengine.check.policy_tests import subjects
from policyengine.check.policy_tests.model import DEFAULT, ON_ERROR
from policyengine.check.policy_tests.running import CaseResult
from policyengine.check.policy_tests.subjects import Subjects
from policyengine.kinds.policy import Policy
from policyengine.rules.decision import RuleStatus
from policyengine.source.place import Place


@dataclass(slots=True)
class RuleCoverage:
    """How often one rule was seen. `conditional` is False for a rule that always matches."""

    id: str
    place: Place
    conditional: bool = True
    matched: int = 0
    seen_false: int = 0
    required: bool = True
    """Whether it counts: `on_error` does not, since no valid input may lead there."""


@dataclass(slots=True)
class PolicyCoverage:
    """The rules of one policy, its default and its `on_error` at the end."""

    policy: str
    place: Place
    rules: list[RuleCoverage] = field(default_factory=list)
    cases: int = 0

    @property
    def counted(self) -> list[RuleCoverage]:
        """The rules that count."""
        return [rule for rule in self.rules if rule.required]

    @property
    def untested(self) -> list[RuleCoverage]:
        """Rules that count and decided in no case."""
        return [rule for rule in self.counted if not rule.matched]

    @property
    def never_false(self) -> list[RuleCoverage]:
        """Rules with a condition that no case has seen not to hold."""
        return [rule for rule in self.counted if rule.conditional and not rule.seen_false]


@dataclass(frozen=True, slots=True)
class Coverage:
    """The coverage of a run."""

    policies: Sequence[PolicyCoverage]

    @property
    def matched(self) -> int:
        """Rules that decided in some case."""
        return self.total - sum(len(one.untested) for one in self.policies)

    @property
    def total(self) -> int:
        """All rules that count."""
        return sum(len(one.counted) for one in self.policies)

    @property
    def percent(self) -> float:
        """Share of the rules that decided in some case; 100 where there is no rule at all."""
        return 100.0 * self.matched / self.total if self.total else 100.0


def coverage(results: Iterable[CaseResult], bundle: Subjects, names: Iterable[str]) -> Coverage:
    """What `results`, run with their traces, cover of the policies `names`."""
    policies = {name: _empty(bundle.policy(name)) for name in names}
    by_id = {name: {rule.id: rule for rule in one.rules} for name, one in policies.items()}
    for result in results:
        for name in result.case.policies & policies.keys():
            policies[name].cases += 1
        for step in result.steps:
            if (rules := by_id.get(step.step.policy)) is None:
                continue
            decision = step.decision
            for looked in decision.trace:
                if looked.status is RuleStatus.FALSE:
                    rules[looked.rule].seen_false += 1
            if decision.errors:
                rules[ON_ERROR].matched += 1
            elif not decision.rules and DEFAULT in rules:
                rules[DEFAULT].matched += 1
            for rule in decision.rules:
                rules[rule].matched += 1
    return Coverage(list(policies.values()))


def _empty(policy: Policy) -> PolicyCoverage:
    place = policy.document.place(("metadata", "name"))
    found = PolicyCoverage(policy.name, place)
    found.rules = [RuleCoverage(rule.id, rule.place, rule.when is not None) for rule in policy.table.rules]
    if subjects.default_can_decide(policy) and DEFAULT not in subjects.rule_ids(policy):
        found.rules.append(RuleCoverage(DEFAULT, _place(policy, "default"), conditional=False))
    found.rules.append(RuleCoverage(ON_ERROR, _place(policy, "on_error"), conditional=False, required=False))
    return found


def _place(policy: Policy, key: str) -> Place:
    stated = key in policy.document.data["spec"]
    return policy.document.key_place(("spec", key)) if stated else policy.document.place(("metadata", "name"))
