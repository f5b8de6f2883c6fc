"""A breaker that is open before anything has failed."""

from __future__ import annotations

from collections.abc import Iterator

from policyengine.check.lint.context import Context
from policyengine.check.lint.rule import Hit, Rule

_LIMITS = ("max_consecutive_failures", "max_rescues")


def check(context: Context) -> Iterator[Hit]:
    """The limits of each breaker."""
    for document in context.of_kind("Breaker"):
        constants = document.data["spec"].get("constants", {})
        for name in _LIMITS:
            limit = constants.get(name)
            if isinstance(limit, int | float) and limit < 1:
                message = f"`{name}` is {limit}: the path is closed before anything has failed"
                yield Hit(document.place(("spec", "constants", name)), message, "write 1 or more")


RULE = Rule(
    code="breaker-limit",
    title="A breaker limit is below 1",
    why="""\
A breaker opens when its count reaches the limit. With a limit of 0 it is open from the start, so that nothing is ever
compacted, and no hidden switch should be needed for that.
""",
    bad="""\
constants: {max_consecutive_failures: 0}
""",
    good="""\
constants: {max_consecutive_failures: 3}
""",
    check=check,
)
