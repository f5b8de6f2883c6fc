"""The plain path: what is decided, and nothing else."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from typing import Any

from policyengine.cel.pytree import compare, name_of
from policyengine.rules.decision import Decision
from policyengine.rules.fused import Frame, Scans, append, assign
from policyengine.rules.programs import Programs, Result
from policyengine.rules.table import HitPolicy, Table

Outcomes = Callable[[Mapping[str, Any]], Mapping[str, Any]]
Decisions = Callable[[Mapping[str, Any]], Decision]


def outcome_function(table: Table, programs: Programs, scans: Scans, exactly: Outcomes) -> Outcomes:
    """The function from an input to its outcome."""
    return _Writer(table, Frame(programs, scans), whole=False).function(exactly)


def decision_function(table: Table, programs: Programs, scans: Scans, exactly: Decisions) -> Decisions:
    """The function from an input to its decision, without a trace."""
    return _Writer(table, Frame(programs, scans), whole=True).function(exactly)


class _Writer:
    def __init__(self, table: Table, frame: Frame, whole: bool) -> None:
        self.table, self.frame, self.whole = table, frame, whole

    def function(self, exactly: Callable[[Any], Any]) -> Callable[[Any], Any]:
        write = {HitPolicy.FIRST: self.first, HitPolicy.UNIQUE: self.unique, HitPolicy.COLLECT: self.collect}
        body = write[self.table.hit]()
        return self.frame.function("decide" if self.whole else "outcome", body, exactly)

    def first(self) -> list[ast.stmt]:
        """`if CONDITION: return OUTCOME`, rule by rule."""
        frame = self.frame
        body: list[ast.stmt] = []
        for at, program in enumerate(frame.programs.conditions):
            if program is None:
                return [*body, *self.answer(frame.programs.results[at], at)]
            test = frame.write(program, condition=True)
            body += frame.take()
            body.append(ast.If(test, self.answer_inside(frame.programs.results[at], at), []))
        return [*body, *self.answer(frame.programs.default, None)]

    def unique(self) -> list[ast.stmt]:
        """Every rule is looked at; a second match gives up."""
        frame = self.frame
        body: list[ast.stmt] = [assign("hit", ast.Constant(-1))]
        for at, program in enumerate(frame.programs.conditions):
            test = ast.Constant(True) if program is None else frame.write(program, condition=True)
            body += frame.take()
            another = ast.If(compare(name_of("hit"), ast.GtE(), ast.Constant(0)), [frame.give_up()], [])
            body.append(ast.If(test, [another, assign("hit", ast.Constant(at))], []))
        for at, result in enumerate(frame.programs.results):
            chosen = compare(name_of("hit"), ast.Eq(), ast.Constant(at))
            body.append(ast.If(chosen, self.answer_inside(result, at), []))
        return [*body, *self.answer(frame.programs.default, None)]

    def collect(self) -> list[ast.stmt]:
        """Every match adds its outcome; computed fields come once all conditions have held."""
        frame = self.frame
        body: list[ast.stmt] = [assign("found", ast.List([], ast.Load())), assign("ids", ast.List([], ast.Load()))]
        for at, program in enumerate(frame.programs.conditions):
            test = ast.Constant(True) if program is None else frame.write(program, condition=True)
            result = frame.programs.results[at]
            fields = frame.own_fields(result)
            body += frame.take()
            add = [append("found", fields)]
            if self.whole:
                add.append(append("ids", ast.Constant(self.table.rules[at].id)))
            body.append(ast.If(test, add, []))
        outputs = {name: frame.write(program) for name, program in frame.programs.outputs.items()}
        body += frame.take()
        keys: list[ast.expr | None] = [ast.Constant("matches"), *(ast.Constant(name) for name in outputs)]
        whole = ast.Dict(keys, [name_of("found"), *outputs.values()])
        ids = frame.code.call(tuple, name_of("ids"))
        return [*body, ast.Return(self.wrapped(whole, ids))]

    def answer_inside(self, result: Result, at: int) -> list[ast.stmt]:
        """The answer of a branch."""
        with self.frame.branch():
            return self.answer(result, at)

    def answer(self, result: Result, at: int | None) -> list[ast.stmt]:
        frame = self.frame
        ids = (self.table.rules[at].id,) if at is not None else ()
        if self.whole and not result.computed and not frame.programs.outputs:
            fixed = Decision(self.table.policy, self.table.version, result.literals, ids)
            return [ast.Return(frame.code.shared(fixed, "decision"))]
        outcome = frame.outcome(result)
        return [*frame.take(), ast.Return(self.wrapped(outcome, frame.code.shared(ids, "ids")))]

    def wrapped(self, outcome: ast.expr, ids: ast.expr) -> ast.expr:
        if not self.whole:
            return outcome
        table = self.table
        return self.frame.code.call(Decision, ast.Constant(table.policy), ast.Constant(table.version), outcome, ids)
