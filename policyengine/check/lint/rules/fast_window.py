"""A fast model with a larger window than any primary beside it."""

from __future__ import annotations

from collections.abc import Iterator

from policyengine.check.lint.context import Context
from policyengine.check.lint.rule import Hit, Rule
from policyengine.source.counts import number
from policyengine.source.finding import Severity


def check(context: Context) -> Iterator[Hit]:
    """Each fast model against the other models of its provider, as far as their windows are known."""
    models = context.models
    if models is None:
        return
    for document in context.of_kind("Routing"):
        for provider, name in document.data["spec"].get("fast_models", {}).items():
            fast = models.of_name.get(name)
            if fast is None or fast["window"] is None:
                continue
            others = [row for row in models.rows if row["provider"] == provider and row is not fast]
            known = [row["window"] for row in others if row["window"] is not None]
            if not known or len(known) < len(others) or fast["window"] <= max(known):
                continue
            message = (
                f"the fast model `{name}` has a window of {number(fast['window'])}, larger than that of every other "
                f"{provider} model ({number(max(known))} at most)"
            )
            hint = "are fast and primary swapped, or is the window mistyped?"
            yield Hit(document.place(("spec", "fast_models", provider)), message, hint)


RULE = Rule(
    code="fast-window",
    title="The fast model has a larger window than any primary",
    why="""\
A fast model is the smaller sibling. Where its window is larger than that of every model it could stand in for, either
the two were swapped or a window in the catalogue is wrong, and the veto `would_compress` protects nothing.
""",
    bad="""\
fast_models: {openai: acme-large}    # acme-large 1 000 000, acme-mini 128 000
""",
    good="""\
fast_models: {openai: acme-mini}
""",
    severity=Severity.WARNING,
    check=check,
)
