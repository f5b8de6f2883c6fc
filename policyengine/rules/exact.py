"""A table decided step by step by the interpreter: what compiled code must agree with, and falls back to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policyengine.cel.errors import CelError, Failure
from policyengine.cel.program import Program
from policyengine.rules.decision import Decision, EvaluationError, RuleStatus, Step
from policyengine.rules.programs import Programs, Result
from policyengine.rules.table import HitPolicy, Table


def decide_exactly(table: Table, programs: Programs, input: Mapping[str, Any], trace: bool) -> Decision:
    """Decide. Never raises: what fails is in the decision's `errors`."""
    return _Run(table, programs, input, trace).decision()


class DerivedValues(Mapping[str, Any]):
    """Derived values, worked out when asked for, at most once. One that failed is its CelError."""

    def __init__(self, programs: Mapping[str, Program], input: Mapping[str, Any]) -> None:
        self.programs, self.input = programs, input
        self.known: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self.known:
            program = self.programs[name]
            try:
                self.known[name] = program.evaluate(self.input, _Above(self, name))
            except CelError as error:
                self.known[name] = CelError(f"derived {name}: {error}")
        return self.known[name]

    def __contains__(self, name: object) -> bool:
        return name in self.programs

    def __iter__(self) -> Iterator[str]:
        return iter(self.programs)

    def __len__(self) -> int:
        return len(self.programs)

    def shown(self) -> dict[str, Any]:
        """The values that were needed; for one that failed, its error as a Failure."""
        return {name: Failure(value) if isinstance(value, CelError) else value for name, value in self.known.items()}


class _Above(Mapping[str, Any]):
    """The derived values above one: all that it sees. Its own name, in its expression, still means the input."""

    def __init__(self, derived: DerivedValues, name: str) -> None:
        self.derived = derived
        self.names = frozenset(list(derived.programs)[: list(derived.programs).index(name)])

    def __getitem__(self, name: str) -> Any:
        if name not in self.names:
            raise KeyError(name)
        return self.derived[name]

    def __contains__(self, name: object) -> bool:
        return name in self.names

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)


class _Run:
    def __init__(self, table: Table, programs: Programs, input: Mapping[str, Any], trace: bool) -> None:
        self.table, self.programs, self.input, self.trace = table, programs, input, trace
        self.values = DerivedValues(programs.derived, input)
        self.errors: list[EvaluationError] = []
        self.steps: list[Step] = []

    def decision(self) -> Decision:
        table = self.table
        matched = self.matches()
        if table.hit is HitPolicy.UNIQUE and len(matched) > 1 and not self.errors:
            one, two = (table.rules[at].id for at in matched[:2])
            self.errors.append(EvaluationError(f"rule {two}", f"only one rule may match, {one} does too"))
        outcome: Mapping[str, Any] = {} if self.errors else self.outcome(matched)
        failed = bool(self.errors)
        return Decision(
            table.policy,
            table.version,
            self.programs.on_error if failed else outcome,
            () if failed else tuple(table.rules[at].id for at in matched),
            tuple(self.errors),
            tuple(self.steps) if self.trace else (),
            self.values.shown() if self.trace else {},
        )

    def matches(self) -> list[int]:
        """The positions of the rules that match; for `first`, the looking ends with the first match or error."""
        first = self.table.hit is HitPolicy.FIRST
        found: list[int] = []
        decided = False
        for at, rule in enumerate(self.table.rules):
            status = RuleStatus.SKIPPED if decided else self.look(at)
            if status is RuleStatus.SKIPPED:
                self.steps.append(Step(rule.id, status, rule.when.text if rule.when else ""))
            elif status is RuleStatus.MATCHED:
                found.append(at)
            decided = decided or (first and status in (RuleStatus.MATCHED, RuleStatus.ERROR))
        return found

    def look(self, at: int) -> RuleStatus:
        rule, program = self.table.rules[at], self.programs.conditions[at]
        text = rule.when.text if rule.when else ""
        seen: dict[str, Any] = {}
        error: str | None = None
        status = RuleStatus.MATCHED
        if program is not None:
            try:
                value = program.evaluate(self.input, self.values)
                if value is not True and value is not False:
                    raise CelError("the condition is not a bool")
                status = RuleStatus.MATCHED if value else RuleStatus.FALSE
            except CelError as failure:
                status, error = RuleStatus.ERROR, str(failure)
                self.errors.append(EvaluationError(f"rule {rule.id}", error))
            if self.trace:
                seen = program.observe(self.input, self.values)
        self.steps.append(Step(rule.id, status, text, seen, error))
        return status

    def outcome(self, matched: list[int]) -> Mapping[str, Any]:
        chosen = [self.programs.results[at] for at in matched]
        if self.table.hit is HitPolicy.COLLECT:
            matches = [self.fields(one) for one in chosen]
            return {"matches": matches, **self.computed(self.programs.outputs)}
        fields = self.fields(chosen[0] if chosen else self.programs.default)
        return {**fields, **self.computed(self.programs.outputs)}

    def fields(self, result: Result) -> dict[str, Any]:
        return {**result.literals, **self.computed(result.computed)}

    def computed(self, programs: Mapping[str, Program]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for name, program in programs.items():
            try:
                found[name] = program.evaluate(self.input, self.values)
            except CelError as error:
                self.errors.append(EvaluationError(f"output {name}", str(error)))
        return found
