"""A ladder in which `auto` and `hard` coincide for some windows."""

from __future__ import annotations

from collections.abc import Iterator

from policyengine.check.lint.context import Context
from policyengine.check.lint.ladders import windows
from policyengine.check.lint.rule import Hit, Rule
from policyengine.source.finding import Severity


def check(context: Context) -> Iterator[Hit]:
    """Each ladder. Thresholds that only rounding to whole tokens brings together do not count."""
    for policy in context.policies_of("Ladder"):
        curve = context.curve(policy)
        for first, last in curve.where(lambda at: at.auto == at.hard):
            probes = {first.window, (first.window + last.window) // 2, last.window}
            if not any(exact["auto"] == exact["hard"] for exact in map(curve.exact, probes)):
                continue
            message = f"`auto` and `hard` coincide {windows(first, last, curve.last)}"
            place = policy.document.key_place(("spec", "thresholds", "hard"))
            yield Hit(place, message, "keep a gap between them, so that a forced compaction has room to work in")


RULE = Rule(
    code="ladder-collapse",
    title="`auto` and `hard` coincide for some windows",
    why="""\
Where both begin at the same count, `hard` is looked at first: the tier goes from `warn` straight to a forced
compaction, which has no room to work in when the unforced one would have been due.
""",
    bad="""\
hard:
  greatest: {collapsed: auto, abs: effective_window - hard_buffer}
""",
    good="""\
hard:
  greatest: {gap: auto + gap_buffer, abs: effective_window - hard_buffer}
  at_most: {window: window}
""",
    severity=Severity.INFO,
    check=check,
)
