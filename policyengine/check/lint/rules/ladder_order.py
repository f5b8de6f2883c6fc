"""A ladder whose tiers change places for some window."""

from __future__ import annotations

from collections.abc import Iterator

from policyengine.check.lint.context import Context
from policyengine.check.lint.ladders import windows
from policyengine.check.lint.rule import Hit, Rule
from policyengine.source.counts import number


def check(context: Context) -> Iterator[Hit]:
    """Each pair of neighbouring tiers of each ladder."""
    for policy in context.policies_of("Ladder"):
        curve = context.curve(policy)
        for low, high in (("warn", "auto"), ("auto", "hard")):
            found = next(curve.where(lambda at, low=low, high=high: getattr(at, low) > getattr(at, high)), None)  # type: ignore[misc]
            if found is None:
                continue
            first, last = found
            message = (
                f"`{low}` lies above `{high}` {windows(first, last, curve.last)}: "
                f"{number(getattr(first, low))} and {number(getattr(first, high))} at {number(first.window)}"
            )
            place = policy.document.key_place(("spec", "thresholds", high))
            yield Hit(place, message, f"bound `{high}` from below by `{low}`, for example with at_least:")


RULE = Rule(
    code="ladder-order",
    title="Tiers of a ladder change places",
    why="""\
For every window, `warn` comes before `auto` and `auto` before `hard`. Where they change places a tier is never
reached or fires too early. Small windows, where buffers are larger than the window, are where this happens.
""",
    bad="""\
thresholds:
  auto: {greatest: {pct: 0.7 * window}}
  hard: {greatest: {abs: effective_window - 3000.0}}   # below auto for small windows
""",
    good="""\
thresholds:
  auto: {greatest: {pct: 0.7 * window}}
  hard: {greatest: {abs: effective_window - 3000.0, collapsed: auto}}
""",
    check=check,
)
