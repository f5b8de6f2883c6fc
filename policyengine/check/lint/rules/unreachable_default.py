"""A default that never decides, because the rules above it take every input."""

from __future__ import annotations

from collections.abc import Iterator

from policyengine.cel import Program
from policyengine.cel.syntax import Ident, walk
from policyengine.check.lint.conditions import UndecidedError
from policyengine.check.lint.context import Context
from policyengine.check.lint.rule import Hit, Rule
from policyengine.check.lint.tables import hand_written
from policyengine.kinds.policy import Policy
from policyengine.rules.table import HitPolicy
from policyengine.source.finding import Severity


def check(context: Context) -> Iterator[Hit]:
    """Tables with a default, by what their conditions take whatever their constants are."""
    for policy in hand_written(context):
        spec = policy.spec
        if "default" not in spec or policy.table.hit is HitPolicy.COLLECT:
            continue
        formulas = context.formulas(policy)
        try:
            reached = formulas.satisfy([], [formulas.conditions[name] for name in _steady(policy)]) is not None
        except UndecidedError:
            continue
        if not reached:
            place = policy.document.key_place(("spec", "default"))
            hint = "remove it, or narrow the rule that should leave it something"
            yield Hit(place, "the default is never reached: the rules together match every input", hint)


def _steady(policy: Policy) -> Iterator[str]:
    """The rules whose conditions ask for no constant: that is a switch, which takes something only as it stands."""
    programs = policy.compiled.programs
    switched: set[str] = set()
    for name, program in programs.derived.items():
        if _asks(program, switched):
            switched.add(name)
    default = policy.spec["default"].get("id")
    for rule, condition in zip(policy.table.rules, programs.conditions, strict=True):
        if rule.id != default and (condition is None or not _asks(condition, switched)):
            yield rule.id


def _asks(program: Program, switched: set[str]) -> bool:
    """Whether an expression reads a constant, or a derived value that does."""
    if program.node is None:
        return True
    names = (node for node in walk(program.node) if isinstance(node, Ident))
    return any(node.role == "constant" or node.name in switched for node in names)


RULE = Rule(
    code="unreachable-default",
    title="The default is never reached",
    why="""\
A default beside rules that match every input looks as if it were in force and decides nothing. Often the last rule is
wider than it was meant to be. Found only where it is certain, whatever the constants are. An input for which a
condition fails is decided by `on_error`, not by the default.
""",
    bad="""\
rules:
  - {id: large, when: tokens > 1000, outcome: {result: large}}
  - {id: small, when: tokens >= 0, outcome: {result: small}}
default: {outcome: {result: none}}
""",
    good="""\
rules:
  - {id: large, when: tokens > 1000, outcome: {result: large}}
  - {id: small, when: tokens > 0, outcome: {result: small}}
default: {outcome: {result: none}}
""",
    severity=Severity.WARNING,
    check=check,
)
