"""The expressions of a table, read and checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from policyengine.cel.cost import static_cost
from policyengine.cel.environment import Environment
from policyengine.cel.errors import Issue
from policyengine.cel.limits import MAX_STATIC_COST
from policyengine.cel.program import Program
from policyengine.cel.syntax import Ident, Words, walk
from policyengine.cel.types import DYN
from policyengine.rules.frozen import frozen
from policyengine.rules.table import Expression, Outcome, Table
from policyengine.source.finding import Severity


@dataclass(frozen=True, slots=True)
class Result:
    """What a rule or the default decides: fields that are known, and programs for the others."""

    literals: Mapping[str, object]
    computed: Mapping[str, Program]


@dataclass(slots=True)
class Programs:
    """A table's expressions.

    `conditions` and `results` go by the rules' positions; a condition of None always holds.
    """

    environment: Environment
    derived: dict[str, Program] = field(default_factory=dict)
    conditions: list[Program | None] = field(default_factory=list)
    results: list[Result] = field(default_factory=list)
    default: Result = field(default_factory=lambda: Result({}, {}))
    on_error: Mapping[str, object] = field(default_factory=dict)
    outputs: dict[str, Program] = field(default_factory=dict)
    issues: list[tuple[Expression, Issue]] = field(default_factory=list)
    cost: int = 0

    def everything(self) -> list[Program]:
        """All programs."""
        found = [*self.derived.values(), *(one for one in self.conditions if one is not None)]
        for result in (*self.results, self.default):
            found += result.computed.values()
        return [*found, *self.outputs.values()]

    def word_lists(self) -> frozenset[str]:
        """The names of the word lists that some expression looks for."""
        nodes = (node for one in self.everything() if one.node is not None for node in walk(one.node))
        return frozenset(node.name for node in nodes if isinstance(node, Words))


def read_programs(table: Table) -> Programs:
    """Read and check every expression of a table. Problems are collected, not raised."""
    return _Reader(table).programs


class _Reader:
    def __init__(self, table: Table) -> None:
        self.table = table
        self.programs = Programs(Environment.of_schema(table.input_schema, frozen(table.constants), table.words))
        self.read()

    def read(self) -> None:
        table, programs = self.table, self.programs
        for name, expression in table.derived.items():
            program = self.program(expression)
            programs.derived[name] = program
            known = DYN if program.type.kind == "error" else program.type
            programs.environment = programs.environment.with_variables({name: known})
        for rule in table.rules:
            programs.conditions.append(None if rule.when is None else self.condition(rule.when))
            programs.results.append(self.result(rule.outcome, programs.conditions[-1]))
        programs.default = self.result(table.default)
        programs.on_error = frozen(table.on_error)
        programs.outputs = {name: self.program(one) for name, one in table.outputs.items()}
        self.check_unused()
        if programs.cost > MAX_STATIC_COST:
            self.report_cost()

    def program(self, expression: Expression, holding: Program | None = None) -> Program:
        program = Program(expression.text, self.programs.environment, holding)
        self.programs.issues.extend((expression, issue) for issue in program.issues)
        if program.node is not None:
            self.programs.cost += static_cost(program.node)
        return program

    def condition(self, expression: Expression) -> Program:
        program = self.program(expression)
        if program.type.kind not in ("bool", "dyn", "error"):
            self.report(expression, "not-bool", f"a condition must be bool, this is {program.type}", None)
        return program

    def result(self, outcome: Outcome, when: Program | None = None) -> Result:
        computed = {name: self.program(expression, when) for name, expression in outcome.computed.items()}
        return Result(frozen(outcome.literals), computed)

    def report(
        self, expression: Expression, code: str, message: str, hint: str | None, severity: Severity = Severity.ERROR
    ) -> None:
        issue = Issue(code, message, 0, max(len(expression.text), 1), hint, severity)
        self.programs.issues.append((expression, issue))

    def check_unused(self) -> None:
        if not self.table.derived:
            return
        used: set[str] = set()
        for program in self.programs.everything():
            if program.node is not None:
                used |= {node.name for node in walk(program.node) if isinstance(node, Ident)}
        for name, expression in self.table.derived.items():
            if name not in used and not expression.generated:  # nobody wrote a generated one
                message = f"derived value {name!r} is used by no rule"
                self.report(expression, "unused-derived", message, "remove it, or use it", Severity.WARNING)

    def report_cost(self) -> None:
        """Name the most expensive expression."""
        written: list[tuple[int, Expression]] = []
        for expression in _expressions(self.table):
            program = Program(expression.text, self.programs.environment)
            if program.node is not None:
                written.append((static_cost(program.node), expression))
        cost, expression = max(written, key=lambda pair: pair[0])
        self.report(
            expression,
            "cost",
            f"this may take {cost} steps; a decision of the policy {self.programs.cost}, of {MAX_STATIC_COST} allowed",
            "walk over lists side by side instead of inside one another, or declare a smaller maxItems",
        )


def _expressions(table: Table) -> list[Expression]:
    found = [*table.derived.values(), *(rule.when for rule in table.rules if rule.when is not None)]
    for outcome in (*(rule.outcome for rule in table.rules), table.default):
        found += outcome.computed.values()
    return [*found, *table.outputs.values()]
