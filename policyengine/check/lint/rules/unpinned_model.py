"""A model name that the provider may point at another model."""

from __future__ import annotations

from collections.abc import Iterator

from policyengine.check.lint.context import Context
from policyengine.check.lint.edits import replace_scalar
from policyengine.check.lint.rule import Hit, Rule
from policyengine.source.finding import Fix, Severity


def check(context: Context) -> Iterator[Hit]:
    """The models that routing names."""
    models = context.models
    if models is None:
        return
    for document in context.of_kind("Routing"):
        for provider, name in document.data["spec"].get("fast_models", {}).items():
            row = models.of_name.get(name)
            path = ("spec", "fast_models", provider)
            if row is None:
                continue
            if name in row.get("moving_aliases", ()):
                message = f"`{name}` is an alias that may move; today it is `{row['id']}`"
                edit = replace_scalar(document, path, row["id"])
                fix = Fix(f"write `{row['id']}`", (edit,), safe=True) if edit else None
                yield Hit(document.place(path), message, f"write `{row['id']}`", fix)
            elif row.get("pinned") is False:
                message = f"`{name}` may be pointed at another model by its provider"
                yield Hit(document.place(path), message, "name a dated snapshot, or ignore this with a reason")


RULE = Rule(
    code="unpinned-model",
    title="A model name may move",
    why="""\
An alias such as `-latest` changes its model overnight: tests, replays and measured gates then speak about a model
that is no longer the one in use.
""",
    bad="""\
fast_models: {anthropic: claude-haiku-4-5}
""",
    good="""\
fast_models: {anthropic: claude-haiku-4-5-20251001}
""",
    severity=Severity.WARNING,
    fixable=True,
    check=check,
)
