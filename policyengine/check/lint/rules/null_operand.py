"""A value that may be null is compared or calculated with, where no rule above has asked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policyengine.cel import CelError, Program
from policyengine.check.lint.conditions import Atom, Formula, Formulas, Join, Not, Term, UndecidedError
from policyengine.check.lint.context import Context
from policyengine.check.lint.rule import Hit, Rule
from policyengine.check.lint.rules.range_overlap import trial_input
from policyengine.check.lint.tables import hand_written, when_place
from policyengine.kinds.policy import Policy
from policyengine.rules.exact import DerivedValues
from policyengine.rules.table import HitPolicy
from policyengine.source.schema import fits


def check(context: Context) -> Iterator[Hit]:
    """Conditions of every table, by trying them with null: what is reported did fail."""
    for policy in hand_written(context):
        try:
            yield from _failing(context.formulas(policy), policy)
        except UndecidedError:
            continue  # the questions about this table have used up what they may take


def _failing(formulas: Formulas, policy: Policy) -> Iterator[Hit]:
    first = policy.table.hit is HitPolicy.FIRST
    told: set[str] = set()
    for term in _nullable(formulas):
        above: list[Formula] = []
        for rule in policy.table.rules:
            condition = formulas.conditions[rule.id]
            asked = rule.id not in told and rule.when is not None and term in _terms(condition)
            if asked and _may_fail(formulas, policy, term, (rule.id, condition), above if first else []):
                told.add(rule.id)
                shown = ".".join(term.path or ())
                message = f"`{shown}` may be null, and then the condition of `{rule.id}` fails"
                hint = f"ask first: {shown} != null && ..., or add a rule above for null"
                yield Hit(when_place(policy, rule), message, hint)
            above.append(condition)


def _may_fail(formulas: Formulas, policy: Policy, term: Term, rule: tuple[str, Formula], above: list[Formula]) -> bool:
    """Whether a rule's condition fails for some input in which the term is null, and which the rules above leave."""
    name, condition = rule
    # An operand that fails is seen where the others leave it open: all true beside `&&`, all false beside `||`.
    for asked in (_with(condition, term, True), Not(_with(condition, term, False))):
        found = formulas.satisfy([Atom(term, "==", None), asked], above)
        if found is not None and _fails(policy, found, name):
            return True
    return False


def _with(part: Formula, term: Term, value: bool) -> Formula:
    """A formula in which every comparison of a term has one value."""
    if isinstance(part, Atom):
        return value if part.term is term or term in (part.term.pair or ()) else part
    if isinstance(part, Join):
        return Join(part.all, tuple(_with(one, term, value) for one in part.parts))
    return Not(_with(part.part, term, not value)) if isinstance(part, Not) else part


def _nullable(formulas: Formulas) -> list[Term]:
    return [term for term in formulas.terms.values() if term.path is not None and term.domain.nullable]


def _terms(part: Formula) -> set[Term]:
    """The terms of a formula."""
    found: set[Term] = set()
    stack: list[Formula] = [part]
    while stack:
        one = stack.pop()
        if isinstance(one, Atom):
            found.add(one.term)
            found.update(one.term.pair or ())
        elif isinstance(one, Join):
            stack += one.parts
        elif isinstance(one, Not):
            stack.append(one.part)
    return found


def _fails(policy: Policy, found: dict[Term, Any], rule: str) -> bool:
    """Whether the engine fails in that rule, on a valid input made from an assignment."""
    input = trial_input(policy, found)
    if input is None:
        return False
    errors = policy.compiled.decide_once(input).errors
    failed = any(error.where == f"rule {rule}" and not error.clash for error in errors)
    return failed and fits(input, policy.input_schema) and not _accepted(policy, input)


def _accepted(policy: Policy, input: Mapping[str, Any]) -> bool:
    """Whether the owner accepts, with a reason, that expressions fail for an input: `check: no-errors`."""
    domains = [row["accepted"]["domain"] for row in policy.spec.get("properties", ()) if _about_errors(row)]
    programs = policy.compiled.programs
    values = DerivedValues(programs.derived, input)
    return any(_holds(Program(domain, programs.environment), values) for domain in domains)


def _about_errors(row: Mapping[str, Any]) -> bool:
    return row.get("check") == "no-errors" and "accepted" in row


def _holds(domain: Program, values: DerivedValues) -> bool:
    try:
        return domain.evaluate(values.input, values) is True
    except CelError:
        return False


RULE = Rule(
    code="null-operand",
    title="A value that may be null is compared",
    why="""\
Null is no number and no text: `null > 3` is an error, and the policy then gives its `on_error` outcome. Found by
trying the condition with null where the rules above have left it; what is reported did fail. Where a policy accepts
the failure in a property `check: no-errors`, with a reason, nothing is said.
""",
    bad="""\
rules:
  - {id: large, when: used > 1000, outcome: {result: large}}
""",
    good="""\
rules:
  - {id: unknown, when: used == null, outcome: {result: none}}
  - {id: large, when: used > 1000, outcome: {result: large}}
""",
    check=check,
)
