"""The expressions of a table, read and checked, by what they are for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from policyengine.cel import CelError, Environment, Program, Type, compile_expression
from policyengine.cel.syntax import Node
from policyengine.rules.table import Expression, Outcome, Rule, Table
from policyengine.source.finding import Severity


class UnreadableError(Exception):
    """An expression with errors in it; `str()` says the first."""


@dataclass(frozen=True, slots=True)
class Row:
    """A rule: its condition, and its computed fields."""

    rule: Rule
    when: Program | None
    computed: Mapping[str, Program]


@dataclass(frozen=True)
class Read:
    """A table and the trees of its expressions. `environment` knows the input, the constants and the derived values."""

    table: Table
    environment: Environment
    derived: Mapping[str, Program]
    rows: tuple[Row, ...]
    default: Mapping[str, Program]
    outputs: Mapping[str, Program]

    def programs(self) -> Iterator[Program]:
        """Every expression of the table."""
        yield from self.derived.values()
        for row in self.rows:
            if row.when is not None:
                yield row.when
            yield from row.computed.values()
        yield from self.default.values()
        yield from self.outputs.values()

    def expression(self, text: str, more: Mapping[str, Type] | None = None) -> Program:
        """An expression over the same names, and `more`. Raises `UnreadableError`."""
        environment = self.environment.with_variables(more) if more else self.environment
        return checked(compile_expression(text, environment))

    def values(self, input: Mapping[str, Any]) -> Mapping[str, Any]:
        """The derived values of one input, worked out by the evaluator; one that fails is its CelError."""
        return Derived(self, input)


class Derived(Mapping[str, Any]):
    """Derived values of one input, each worked out when asked for, at most once."""

    def __init__(self, read: Read, input: Mapping[str, Any]) -> None:
        self._read, self._input = read, input
        self._known: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._known:
            try:
                self._known[name] = self._read.derived[name].evaluate(self._input, self)
            except CelError as error:
                self._known[name] = error
        return self._known[name]

    def __contains__(self, name: object) -> bool:
        return name in self._read.derived

    def __iter__(self) -> Iterator[str]:
        return iter(self._read.derived)

    def __len__(self) -> int:
        return len(self._read.derived)


def read_table(table: Table) -> Read:
    """Read every expression of a table. What is wrong in one is in its program's `issues`."""
    environment = Environment.of_schema(table.input_schema, table.constants, table.words)
    derived: dict[str, Program] = {}
    for name, expression in table.derived.items():
        derived[name] = compile_expression(expression.text, environment)
        environment = environment.with_variables({name: derived[name].type})

    def programs(expressions: Mapping[str, Expression]) -> dict[str, Program]:
        return {name: compile_expression(one.text, environment) for name, one in expressions.items()}

    def row(rule: Rule) -> Row:
        when = compile_expression(rule.when.text, environment) if rule.when is not None else None
        return Row(rule, when, programs(rule.outcome.computed))

    rows = tuple(row(rule) for rule in table.rules)
    return Read(table, environment, derived, rows, programs(table.default.computed), programs(table.outputs))


def outcomes(table: Table) -> Iterator[Outcome]:
    """Every outcome that a rule or the default decides."""
    yield from (rule.outcome for rule in table.rules)
    yield table.default


def checked(program: Program) -> Program:
    """The program. Raises `UnreadableError` where it has an error."""
    for issue in program.issues:
        if issue.severity is Severity.ERROR:
            hint = f" ({issue.hint})" if issue.hint else ""
            raise UnreadableError(f"{issue.message}{hint}")
    return program


def tree(program: Program) -> Node:
    """The tree of a program. Raises `UnreadableError` where it could not be read."""
    if program.node is None:
        raise UnreadableError(program.issues[0].message)
    return program.node
