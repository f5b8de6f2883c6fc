"""A table to something that decides."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, TypeVar

from policyengine.cel.errors import CelError, Issue
from policyengine.cel.program import on_fresh_stack
from policyengine.rules.decision import INPUT, Decision, EvaluationError, RuleStatus, Step
from policyengine.rules.exact import decide_exactly
from policyengine.rules.fused import scans_of
from policyengine.rules.plain import Decisions, Outcomes, decision_function, outcome_function
from policyengine.rules.programs import Programs, read_programs
from policyengine.rules.table import Expression, Table
from policyengine.rules.tracing import traced_function
from policyengine.source.schema import input_check, input_misfits

F = TypeVar("F", bound=Callable[..., Any])


class CompiledTable:
    """A table, compiled: each way of deciding is one Python function. Deciding never raises.

    What decides takes the input as it is; `fits` tells beforehand whether its schema allows it, `refusal` is what is
    decided where it does not.

    - `issues`: what is wrong with its expressions, each with the expression.
    - `cost`: the most steps that one decision may take, as far as lists declare `maxItems`.
    """

    def __init__(self, table: Table) -> None:
        self.table = table
        self._programs = read_programs(table)
        self._scans = scans_of(self._programs)

    @property
    def programs(self) -> Programs:
        """The table's expressions, read and typed, for tools that reason about them."""
        return self._programs

    @property
    def issues(self) -> list[tuple[Expression, Issue]]:
        """What is wrong with the table's expressions, in their order."""
        return self._programs.issues

    @property
    def cost(self) -> int:
        """Worst-case steps of one decision."""
        return self._programs.cost

    @cached_property
    def outcome(self) -> Outcomes:
        """`outcome(input)`: what is decided for an input, and nothing else. The fastest way."""
        return self._made(outcome_function, lambda input: self.decide_once(input).outcome)

    @cached_property
    def _decide(self) -> Decisions:
        return self._made(decision_function, lambda input: self.decide_once(input))

    @cached_property
    def _trace(self) -> Decisions:
        return self._made(traced_function, lambda input: self.decide_once(input, True))

    def prepare(self, trace: bool = False) -> None:
        """Compile now what is otherwise compiled when first used; with `trace` the traced path too."""
        _ = self.outcome, self._decide
        if trace:
            _ = self._trace

    def _made(self, make: Callable[..., F], exactly: F) -> F:
        try:
            return on_fresh_stack(lambda: make(self.table, self._programs, self._scans, exactly))
        except (CelError, RecursionError, SyntaxError, MemoryError):
            return exactly  # Python's own compiler has limits; the interpreter needs no compiled code

    def decide_once(self, input: Mapping[str, Any], trace: bool = False) -> Decision:
        """What `decide` gives, by the interpreter: for so few questions that no code is worth compiling."""
        try:
            return on_fresh_stack(lambda: decide_exactly(self.table, self._programs, input, trace))
        except CelError as error:  # not even begun: there was no stack for it
            table, failure = self.table, EvaluationError("policy", str(error))
            return Decision(table.policy, table.version, self._programs.on_error, errors=(failure,))

    def decide(self, input: Mapping[str, Any], trace: bool = False) -> Decision:
        """What is decided for an input; with `trace` also why, rule by rule."""
        return self._trace(input) if trace else self._decide(input)

    @cached_property
    def fits(self) -> Callable[[Any], bool]:
        """`fits(input)`: whether the table's input schema allows an input."""
        return input_check(self.table.input_schema)

    def refusal(self, input: Any, trace: bool = False) -> Decision | None:
        """The `on_error` decision for an input that does not fit, with what is wrong with it; None where it fits."""
        try:
            plain = _plain(input)
            if plain is not input and self.fits(plain):
                return None
            misfits = input_misfits(plain, self.table.input_schema)
        except Exception as error:  # what explains has limits of its own (depth, numbers): nothing is decided on it
            misfits = [f"the input cannot be judged by its schema: {type(error).__name__}"]
        if not misfits:
            return None
        table = self.table
        errors = tuple(EvaluationError(INPUT, message) for message in misfits)
        steps = (Step(rule.id, RuleStatus.SKIPPED, rule.when.text if rule.when else "") for rule in table.rules)
        return Decision(table.policy, table.version, self._programs.on_error, (), errors, tuple(steps) if trace else ())

    def decide_many(self, rows: Iterable[Mapping[str, Any]] | Mapping[str, Sequence[Any]]) -> Iterator[Decision]:
        """Decide many inputs, one after the other: rows, or columns of equal length by property."""
        if isinstance(rows, Mapping):
            names = tuple(rows)
            rows = (dict(zip(names, row, strict=True)) for row in zip(*rows.values(), strict=True))
        return map(self._decide, rows)


def _plain(value: Any) -> Any:
    """The same with dicts and lists in place of other mappings and sequences, which JSON Schema does not know."""
    if isinstance(value, Mapping):
        items = {key: _plain(item) for key, item in value.items()}
        return value if type(value) is dict and all(items[key] is value[key] for key in value) else items
    if isinstance(value, (list, tuple)):
        parts = [_plain(item) for item in value]
        return value if type(value) is list and all(map(operator.is_, parts, value)) else parts
    return value


def compile_table(table: Table) -> CompiledTable:
    """Compile a table. What is wrong with its expressions is in `issues`; raises InputError for a bad input schema."""
    return CompiledTable(table)
