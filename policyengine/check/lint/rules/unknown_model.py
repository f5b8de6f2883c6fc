"""A model that the catalogue does not know."""

from __future__ import annotations

from collections.abc import Iterator

from policyengine.check.lint.context import Context
from policyengine.check.lint.rule import Hit, Rule
from policyengine.source.nearest import did_you_mean


def check(context: Context) -> Iterator[Hit]:
    """The models that routing names against the model catalogue."""
    models = context.models
    if models is None:
        return
    for document in context.of_kind("Routing"):
        for provider, name in document.data["spec"].get("fast_models", {}).items():
            row = models.of_name.get(name)
            place = document.place(("spec", "fast_models", provider))
            if row is None:
                hint = did_you_mean(name, models.of_name) or "add it to the model catalogue"
                yield Hit(place, f"the catalogue has no model `{name}`", hint)
            elif row["provider"] != provider:
                message = f"`{name}` is a model of {row['provider']}, not of {provider}"
                yield Hit(place, message, "name a model that the provider of the primary model serves")


RULE = Rule(
    code="unknown-model",
    title="A model is not in the catalogue",
    why="""\
Without its window nothing is known about when a model would compact, so that a fast model outside the catalogue is
never used: the veto `would_compress` always holds. A model of another provider cannot be called by the same client.
""",
    bad="""\
fast_models: {anthropic: claude-haiku-5.5}
""",
    good="""\
fast_models: {anthropic: claude-haiku-5-5}
""",
    check=check,
)
