"""The traced path: the same decision, with what every rule saw."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from typing import Any

from policyengine.cel.pytree import name_of
from policyengine.rules.decision import Decision, RuleStatus, Step
from policyengine.rules.fused import MISSING, Frame, Scans, append, assign
from policyengine.rules.programs import Programs, Result
from policyengine.rules.table import HitPolicy, Table

Decisions = Callable[[Mapping[str, Any]], Decision]


def traced_function(table: Table, programs: Programs, scans: Scans, exactly: Decisions) -> Decisions:
    """The function from an input to its decision with a trace."""
    frame = Frame(programs, scans)
    return frame.function("trace", _Writer(table, frame).body(), exactly)


class _Writer:
    def __init__(self, table: Table, frame: Frame) -> None:
        self.table, self.frame = table, frame
        self.skipped = [Step(rule.id, RuleStatus.SKIPPED, rule.when.text if rule.when else "") for rule in table.rules]

    def body(self) -> list[ast.stmt]:
        """The statements of the function: one step a rule, then the outcome."""
        frame, hit = self.frame, self.table.hit
        body = [assign("steps", ast.List([], ast.Load())), assign("hits", ast.List([], ast.Load()))]
        for at in range(len(self.table.rules)):
            body += self.look(at)
            if hit is HitPolicy.FIRST:
                with frame.branch():
                    leave = self.answer(frame.programs.results[at], at)
                body.append(ast.If(name_of("hit"), leave, []))
        if hit is HitPolicy.COLLECT:
            return [*body, *self.collected()]
        if hit is HitPolicy.UNIQUE:
            several = ast.Compare(ast.Call(name_of("len"), [name_of("hits")], []), [ast.Gt()], [ast.Constant(1)])
            body.append(ast.If(several, [frame.give_up()], []))
            for at, result in enumerate(frame.programs.results):
                with frame.branch():
                    leave = self.answer(result, at)
                chosen = ast.Compare(ast.Constant(at), [ast.In()], [name_of("hits")])
                body.append(ast.If(chosen, leave, []))
        return [*body, *self.answer(frame.programs.default, None)]

    def look(self, at: int) -> list[ast.stmt]:
        """Test one rule and note the step."""
        frame, rule = self.frame, self.table.rules[at]
        program = frame.programs.conditions[at]
        if program is None:
            test: ast.expr = ast.Constant(True)
        else:
            test = frame.write(program, condition=True, observe="see")
        body = [
            assign("seen", ast.Dict([], [])),
            assign("see", ast.Attribute(name_of("seen"), "setdefault", ast.Load())),
            *frame.take(),
            assign("hit", test),
        ]
        matched, false = (
            frame.code.call(
                Step,
                ast.Constant(rule.id),
                frame.code.shared(status, "status"),
                ast.Constant(rule.when.text if rule.when else ""),
                name_of("seen"),
            )
            for status in (RuleStatus.MATCHED, RuleStatus.FALSE)
        )
        body.append(append("steps", ast.IfExp(name_of("hit"), matched, false)))
        if self.table.hit is not HitPolicy.FIRST:
            body.append(ast.If(name_of("hit"), [append("hits", ast.Constant(at))], []))
        return body

    def answer(self, result: Result, at: int | None) -> list[ast.stmt]:
        """Return the decision of one rule, or of the default."""
        frame = self.frame
        outcome = frame.outcome(result)
        ids = () if at is None else (self.table.rules[at].id,)
        skipped = self.skipped[at + 1 :] if at is not None and self.table.hit is HitPolicy.FIRST else []
        return [*frame.take(), self.decision(outcome, frame.code.shared(ids, "ids"), skipped)]

    def collected(self) -> list[ast.stmt]:
        """Return the decision of all rules that matched."""
        frame = self.frame
        body: list[ast.stmt] = [assign("found", ast.List([], ast.Load())), assign("ids", ast.List([], ast.Load()))]
        for at, result in enumerate(frame.programs.results):
            fields = frame.own_fields(result)
            chosen = ast.Compare(ast.Constant(at), [ast.In()], [name_of("hits")])
            add = [append("found", fields), append("ids", ast.Constant(self.table.rules[at].id))]
            body += [*frame.take(), ast.If(chosen, add, [])]
        outputs = {name: frame.write(program) for name, program in frame.programs.outputs.items()}
        keys: list[ast.expr | None] = [ast.Constant("matches"), *(ast.Constant(name) for name in outputs)]
        whole = ast.Dict(keys, [name_of("found"), *outputs.values()])
        return [*body, *frame.take(), self.decision(whole, frame.code.call(tuple, name_of("ids")), [])]

    def decision(self, outcome: ast.expr, ids: ast.expr, skipped: list[Step]) -> ast.stmt:
        frame, table = self.frame, self.table
        derived = {name: own for (kind, name), own in frame.known.items() if kind == "derived"}
        values = ast.Dict([ast.Constant(name) for name in derived], [name_of(own) for own in derived.values()])
        made = frame.code.call(
            _decision,
            ast.Constant(table.policy),
            ast.Constant(table.version),
            outcome,
            ids,
            name_of("steps"),
            frame.code.shared(skipped, "skipped"),
            values,
        )
        return ast.Return(made)


def _decision(
    policy: str,
    version: str,
    outcome: Mapping[str, Any],
    ids: tuple[str, ...],
    steps: list[Step],
    skipped: list[Step],
    derived: dict[str, Any],
) -> Decision:
    if derived:
        derived = {name: value for name, value in derived.items() if value is not MISSING}
    return Decision(policy, version, outcome, ids, (), (*steps, *skipped), derived)
