"""The reserve in the arithmetic is not the cap on the wire."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from policyengine.check.lint.context import Context
from policyengine.check.lint.rule import Hit, Rule
from policyengine.source.counts import number

_CAP = "compact_max_output_tokens"
_RESERVE = "summary_reserve"


def check(context: Context) -> Iterator[Hit]:
    """Each ladder by itself, and the compaction call against the ladder that serves."""
    for document in context.of_kind("Ladder"):
        constants = document.data["spec"].get("constants", {})
        if _differ(constants.get(_RESERVE), constants.get(_CAP)):
            message = f"`{_RESERVE}` is {number(constants[_RESERVE])}, `{_CAP}` is {number(constants[_CAP])}"
            hint = "the reserve has to be what the call may write: give both one value"
            yield Hit(document.place(("spec", "constants", _RESERVE)), message, hint)
    ladder, call = context.serving("Ladder"), context.serving("CompactionCall")
    if ladder is None or call is None:
        return
    mine, theirs = call.spec.get("constants", {}).get(_CAP), ladder.spec.get("constants", {}).get(_CAP)
    if _differ(mine, theirs):
        message = f"`{_CAP}` is {number(mine)} here and {number(theirs)} in the ladder `{ladder.name}`"
        place = call.document.place(("spec", "constants", _CAP))
        yield Hit(place, message, "the call has to write no more than the ladder has reserved: give both one value")


def _differ(one: Any, two: Any) -> bool:
    return isinstance(one, int | float) and isinstance(two, int | float) and one != two


RULE = Rule(
    code="reserve-not-cap",
    title="The reserve is not the output cap of the compaction call",
    why="""\
What a ladder takes off the top of the window is meant for the summary. Where the call may write more than that, the
request overflows; where it may write less, room is wasted on every send.
""",
    bad="""\
constants: {summary_reserve: 20000, compact_max_output_tokens: 32000}
""",
    good="""\
constants: {summary_reserve: 20000, compact_max_output_tokens: 20000}
""",
    check=check,
)
