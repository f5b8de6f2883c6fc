"""A table to something that decides."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, TypeVar

from policyengine.cel.errors import CelError, Issue
from policyengine.cel.program import on_fresh_stack
from policyengine.rules.decision import Decision, EvaluationError
from policyengine.rules.exact import decide_exactly
from policyengine.rules.fused import scans_of
from policyengine.rules.plain import Decisions, Outcomes, decision_function, outcome_function
from policyengine.rules.programs import Programs, read_programs
from policyengine.rules.table import Expression, Table
from policyengine.rules.tracing import traced_function

F = TypeVar("F", bound=Callable[..., Any])


class CompiledTable:
    """A table, compiled: each way of deciding is one Python function. Deciding never raises.

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
        return self._made(outcome_function, lambda input: self._exactly(input).outcome)

    @cached_property
    def _decide(self) -> Decisions:
        return self._made(decision_function, lambda input: self._exactly(input))

    @cached_property
    def _trace(self) -> Decisions:
        return self._made(traced_function, lambda input: self._exactly(input, True))

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

    def _exactly(self, input: Mapping[str, Any], trace: bool = False) -> Decision:
        try:
            return on_fresh_stack(lambda: decide_exactly(self.table, self._programs, input, trace))
        except CelError as error:  # not even begun: there was no stack for it
            table, failure = self.table, EvaluationError("policy", str(error))
            return Decision(table.policy, table.version, self._programs.on_error, errors=(failure,))

    def decide(self, input: Mapping[str, Any], trace: bool = False) -> Decision:
        """What is decided for an input; with `trace` also why, rule by rule."""
        return self._trace(input) if trace else self._decide(input)

    def decide_many(self, rows: Iterable[Mapping[str, Any]] | Mapping[str, Sequence[Any]]) -> Iterator[Decision]:
        """Decide many inputs, one after the other: rows, or columns of equal length by property."""
        if isinstance(rows, Mapping):
            names = tuple(rows)
            rows = (dict(zip(names, row, strict=True)) for row in zip(*rows.values(), strict=True))
        return map(self._decide, rows)


def compile_table(table: Table) -> CompiledTable:
    """Compile a table. What is wrong with its expressions is in `issues`; raises InputError for a bad input schema."""
    return CompiledTable(table)
