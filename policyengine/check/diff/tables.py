"""Whether two tables ever decide otherwise: an input on which they do, or a proof that there is none."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policyengine.cel.operators import equal
from policyengine.check.diff.model import Effect, Witness
from policyengine.check.proofs import calculation
from policyengine.check.proofs.deciding import decided, seen_outcome, tests_over_lists
from policyengine.check.proofs.reading import Read, read_table
from policyengine.check.proofs.searching import Search
from policyengine.check.proofs.solver import Term, both, either, no, z3
from policyengine.check.proofs.symbols import Symbol, Texts
from policyengine.kinds.policy import Policy
from policyengine.rules.decision import Decision
from policyengine.rules.table import HitPolicy
from policyengine.source.schema import validate_input


class TableDiff:
    """Two tables over the same input."""

    def __init__(self, old: Policy, new: Policy, timeout_ms: int) -> None:
        self.old, self.new = old, new
        reads: list[Read] = [read_table(policy.table) for policy in (old, new)]
        texts = Texts()
        tests = [tests_over_lists(read.programs()) for read in reads]
        # Each side needs places in lists for the tests of both, so both are asked for the sum.
        self.before = decided(reads[0], tests[1], texts, "old")
        self.after = decided(reads[1], tests[0], texts, "new")
        self.search = Search(new, reads[1], self.after, timeout_ms, [(reads[0], self.before)])

    def effect(self) -> tuple[Effect, Witness | None, str]:
        """What the change does, an input that shows it, and why it is not decided."""
        fields = list(dict.fromkeys((*self.after.outcome, *self.before.outcome)))
        principal = [name for name in fields if name in _required(self.new)] or fields
        for name in principal:
            # A difference in what the policy is there for is shown before one in a detail.
            found = self.search.find(self._differs(name), self._confirm([name]))
            if found.example is not None:
                return Effect.DIFFERENT, self._witness(found.example.input), ""
        found = self.search.find(either(*(self._differs(name) for name in fields)), self._confirm(fields))
        if found.example is not None:
            return Effect.DIFFERENT, self._witness(found.example.input), ""
        return (Effect.SAME, None, "") if found.impossible else (Effect.UNDECIDED, None, found.why)

    def _differs(self, name: str) -> Term:
        one, two = (made.outcome.get(name) for made in (self.before, self.after))
        if one is None or two is None:
            there = one or two
            return there[0] if there else False
        if name == "matches" and all(policy.table.hit is HitPolicy.COLLECT for policy in (self.old, self.new)):
            same = no(self._collected_differ())
        else:
            same = _same(one[1], two[1], name)
        return either(both(one[0], no(two[0])), both(two[0], no(one[0])), both(one[0], two[0], no(same)))

    def _collected_differ(self) -> Term:
        """Where lists of matches may differ: another rule is among them, or one with other fields."""
        before, after = self.before.rows, self.after.rows
        if [name for name in before if name in after] != [name for name in after if name in before]:
            return True  # in another order
        found: list[Term] = []
        for name in dict.fromkeys((*before, *after)):
            one, two = (made.matched.get(name, False) for made in (self.before, self.after))
            found += [both(one, no(two)), both(two, no(one))]
            own, other = before.get(name, {}), after.get(name, {})
            if name in before and name in after:
                alike = [own.keys() == other.keys()]
                alike += [_same(own[key], other[key], f"{name}.{key}") for key in own if key in other]
                found.append(both(one, two, no(both(*alike))))
        return either(*found)

    def _confirm(self, names: list[str]) -> Any:
        def confirm(input: Mapping[str, Any], decision: Decision) -> bool:
            if validate_input(input, self.old.input_schema):
                return False
            before, after = self.old.decide(input).outcome, decision.outcome
            return any(
                (name in before) != (name in after) or not equal(before.get(name), after.get(name)) for name in names
            )

        return confirm

    def _witness(self, input: Mapping[str, Any]) -> Witness:
        before, after = self.old.decide(input), self.new.decide(input)
        return Witness(input, before.outcome, after.outcome, seen_outcome(before)[1], seen_outcome(after)[1])


def _same(one: Symbol, two: Symbol, name: str) -> Term:
    """Whether two values are equal; where that is not known, they may or may not be."""
    same = calculation.equal(one, two)
    return z3().Bool(f"same?{name}") if same is None else same


def _required(policy: Policy) -> list[str]:
    names: list[str] = (policy.decision_schema or {}).get("required", [])
    return [name for name in names if name != "reason"]


def comparable(old: Policy, new: Policy) -> str:
    """Why two policies cannot be compared input by input; empty where they can."""
    if old.kind.name != new.kind.name:
        return f"a {old.kind.name} became a {new.kind.name}"
    return ""
