"""A fast model that lacks what the bundle asks of it."""

from __future__ import annotations

from collections.abc import Iterator

from policyengine.check.lint.context import Context
from policyengine.check.lint.rule import Hit, Rule
from policyengine.kinds.capabilities import api_of, missing, wishes
from policyengine.source.finding import Severity


def check(context: Context) -> Iterator[Hit]:
    """What SummaryRound asks of each fast model, against what the model catalogue says it can."""
    models, style = context.models, context.serving("SummaryRound")
    if models is None or style is None:
        return
    for document in context.of_kind("Routing"):
        for provider, name in document.data["spec"].get("fast_models", {}).items():
            facts = models.of_name.get(name)
            if facts is None:
                continue
            for wish in wishes(style, facts, "fast"):
                lack = missing(name, facts, wish, api_of(facts))
                if lack is not None:
                    message = f"`{style.name}` asks for {_WORDS[wish]}, but {lack.message}; {lack.instead}"
                    hint = f"name another fast model, or have `{style.name}` ask only models that can"
                    yield Hit(document.place(("spec", "fast_models", provider)), message, hint)


_WORDS = {"thinking_off": "thinking off", "tool_choice_none": "tool_choice none"}

RULE = Rule(
    code="missing-capability",
    title="A fast model lacks what is asked of it",
    why="""\
Thinking off and tool_choice none are savings on a round that only sums up. A model that cannot turn its thinking off
thinks all the same and takes longer than the primary model would have; one that refuses tool_choice none gets its
tools left out, which breaks the cached prefix. The model catalogue knows both before any request is sent.
""",
    bad="""\
fast_models: {openai: acme-thinker}    # acme-thinker always thinks; SummaryRound asks for thinking off
""",
    good="""\
fast_models: {openai: acme-mini}       # thinking: optional
""",
    severity=Severity.WARNING,
    check=check,
)
