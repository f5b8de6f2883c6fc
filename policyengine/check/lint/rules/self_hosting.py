"""A ladder whose own compaction call does not fit when `auto` fires."""

from __future__ import annotations

from collections.abc import Iterator

from policyengine.check.lint.context import Context
from policyengine.check.lint.ladders import Point, windows
from policyengine.check.lint.rule import Hit, Rule
from policyengine.source.counts import number
from policyengine.source.finding import Severity


def check(context: Context) -> Iterator[Hit]:
    """Each ladder, less what its owner accepts in a stated property. A threshold at 0 never fires."""
    for policy in context.policies_of("Ladder"):
        curve = context.curve(policy)
        for first, last in curve.where(_fails):
            if curve.accepted(first, last):
                continue
            message = (
                f"when `auto` fires the compaction call does not fit {windows(first, last, curve.last)}: "
                f"{number(last.auto)} + {number(last.cap)} tokens at {number(last.window)}"
            )
            place = policy.document.key_place(("spec", "thresholds", "auto"))
            yield Hit(place, message, "lower `auto` there, or accept it in a property of the ladder, with a reason")


def _fails(at: Point) -> bool:
    return at.auto > 0 and at.auto + at.cap > at.window


RULE = Rule(
    code="self-hosting",
    title="The compaction call does not fit when `auto` fires",
    why="""\
A compaction sends the whole prompt and asks for up to `compact_max_output_tokens` more. Where `auto` plus that is
above the window, the call that should make room is itself refused for size.
""",
    bad="""\
constants: {compact_max_output_tokens: 20000}
thresholds:
  auto: {greatest: {pct: 0.95 * window}}
""",
    good="""\
constants: {compact_max_output_tokens: 20000}
thresholds:
  auto: {least: {abs: window - compact_max_output_tokens - 13000.0}}
""",
    severity=Severity.WARNING,
    check=check,
)
