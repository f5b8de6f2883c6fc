"""A table to something that decides."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from policyengine.cel import CelError, Environment, Issue, Program, compile_expression
from policyengine.rules.decision import Decision, EvaluationError, RuleStatus, Step
from policyengine.rules.table import Expression, HitPolicy, Outcome, Table


class CompiledTable:
    """A table, compiled."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.issues: list[tuple[Expression, Issue]] = []
        self.cost = 0
        environment = Environment.of_schema(table.input_schema, table.constants, table.words)
        self.derived: dict[str, Program] = {}
        for name, expression in table.derived.items():
            program = self._compile(expression, environment)
            self.derived[name] = program
            environment = environment.with_variables({name: program.type})
        self.conditions: dict[str, Program | None] = {}
        self.computed: dict[int, dict[str, Program]] = {}
        for rule in table.rules:
            self.conditions[rule.id] = None
            if rule.when is not None:
                program = self._compile(rule.when, environment)
                if program.type.kind not in ("bool", "dyn", "error"):
                    message = f"a condition must be bool, this is {program.type}"
                    self.issues.append(
                        (rule.when, Issue("not-bool", message, 0, max(len(rule.when.text), 1)))
                    )
                self.conditions[rule.id] = program
            self._outcome(rule.outcome, environment)
        self._outcome(table.default, environment)
        self.outputs = {name: self._compile(one, environment) for name, one in table.outputs.items()}

    def _compile(self, expression: Expression, environment: Environment) -> Program:
        program = compile_expression(expression.text, environment)
        self.issues.extend((expression, issue) for issue in program.issues)
        return program

    def _outcome(self, outcome: Outcome, environment: Environment) -> None:
        self.computed[id(outcome)] = {
            name: self._compile(one, environment) for name, one in outcome.computed.items()
        }

    def outcome(self, input: Mapping[str, Any]) -> Mapping[str, Any]:
        """What is decided for an input."""
        return self.decide(input).outcome

    def decide_many(
        self, rows: Iterable[Mapping[str, Any]] | Mapping[str, Sequence[Any]]
    ) -> Iterator[Decision]:
        """Decide many inputs: rows, or columns of equal length."""
        if isinstance(rows, Mapping):
            columns = rows
            rows = (dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True))
        return (self.decide(row) for row in rows)

    def decide(self, input: Mapping[str, Any], trace: bool = False) -> Decision:
        """What is decided for an input, and with `trace` why."""
        return _Run(self, input, trace).decision()


class _Values(Mapping[str, Any]):
    """Derived values, worked out when asked for, at most once."""

    def __init__(self, compiled: CompiledTable, input: Mapping[str, Any]) -> None:
        self.compiled, self.input = compiled, input
        self.known: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self.known:
            try:
                self.known[name] = self.compiled.derived[name].evaluate(self.input, self)
            except CelError as error:
                self.known[name] = error
        return self.known[name]

    def __contains__(self, name: object) -> bool:
        return name in self.compiled.derived

    def __iter__(self) -> Iterator[str]:
        return iter(self.compiled.derived)

    def __len__(self) -> int:
        return len(self.compiled.derived)


class _Run:
    def __init__(self, compiled: CompiledTable, input: Mapping[str, Any], trace: bool) -> None:
        self.compiled, self.input, self.trace = compiled, input, trace
        self.values = _Values(compiled, input)

    def decision(self) -> Decision:
        table = self.compiled.table
        steps: list[Step] = []
        errors: list[EvaluationError] = []
        matched = []
        done = False
        for rule in table.rules:
            when = rule.when.text if rule.when else ""
            if done:
                steps.append(Step(rule.id, RuleStatus.SKIPPED, when))
                continue
            program = self.compiled.conditions[rule.id]
            seen = program.observe(self.input, self.values) if self.trace and program else {}
            try:
                hit = True if program is None else program.evaluate(self.input, self.values)
                if hit is not True and hit is not False:
                    raise CelError("the condition is not a bool")
            except CelError as error:
                errors.append(EvaluationError(f"rule {rule.id}", str(error)))
                steps.append(Step(rule.id, RuleStatus.ERROR, when, seen, str(error)))
                done = done or table.hit is HitPolicy.FIRST
                continue
            steps.append(Step(rule.id, RuleStatus.MATCHED if hit else RuleStatus.FALSE, when, seen))
            if hit:
                matched.append(rule)
                done = table.hit is HitPolicy.FIRST
        if table.hit is HitPolicy.UNIQUE and len(matched) > 1:
            named = " and ".join(rule.id for rule in matched[:2])
            errors.append(
                EvaluationError(f"rule {matched[1].id}", f"only one rule may match, but {named} do")
            )
        outcome: Mapping[str, Any] = {}
        if not errors:
            outcome = self.result([rule.outcome for rule in matched], errors)
        if errors:
            outcome = table.on_error
        return Decision(
            table.policy,
            table.version,
            outcome,
            () if errors else tuple(rule.id for rule in matched),
            tuple(errors),
            tuple(steps) if self.trace else (),
            {name: self.values[name] for name in self.values.known} if self.trace else {},
        )

    def result(self, chosen: list[Outcome], errors: list[EvaluationError]) -> Mapping[str, Any]:
        table = self.compiled.table
        extra = self.fields(self.compiled.outputs, errors)
        if table.hit is HitPolicy.COLLECT:
            matches = [
                {**one.literals, **self.fields(self.compiled.computed[id(one)], errors)} for one in chosen
            ]
            return {"matches": matches, **extra}
        outcome = chosen[0] if chosen else table.default
        return {**outcome.literals, **self.fields(self.compiled.computed[id(outcome)], errors), **extra}

    def fields(self, programs: Mapping[str, Program], errors: list[EvaluationError]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for name, program in programs.items():
            try:
                found[name] = program.evaluate(self.input, self.values)
            except CelError as error:
                errors.append(EvaluationError(f"output {name}", str(error)))
        return found


def compile_table(table: Table) -> CompiledTable:
    """Compile a table. What is wrong with its expressions is in `issues`; nothing is raised."""
    return CompiledTable(table)
