"""What the models of a session lack of what the policies ask of them: known at load time from the catalogue."""

from __future__ import annotations

from typing import Literal

from policyengine.kinds.capabilities import Missing, Wish, api_of, missing, wishes
from policyengine.runtime.live import Live

_WITHOUT_WINDOW = {
    "primary": "nothing is compacted before the provider refuses a prompt as too long",
    "fast": "rounds stay with the primary model (would_compress) wherever the strategy asks the vetoes",
}


WITHOUT_KIND = (
    "their calls count as `other`, as if they changed nothing; "
    "state a kind, or name them in a policy of kind ToolCatalogue"
)
"""What is done where neither a tool nor the tool catalogue says what the tool does."""


def without_window(call: Literal["fast", "primary"]) -> str:
    """What is done where the window of a model is unknown."""
    return _WITHOUT_WINDOW[call]


def lacks(live: Live, model: str, call: Literal["fast", "primary"], *, tools: bool) -> tuple[Missing, ...]:
    """What `model` lacks; nothing of a model that the catalogue does not know.

    A fast model is asked what SummaryRound asks; a primary one also what a compaction asks.
    """
    return live.once(("lacks", model, call, tools), lambda: _lacks(live, model, call, tools))


def _lacks(live: Live, model: str, call: Literal["fast", "primary"], tools: bool) -> tuple[Missing, ...]:
    facts = live.loop.model(model)
    if not facts["known"]:
        return ()
    asked: list[Wish] = list(wishes(live.policy("SummaryRound"), facts, call))
    if call == "primary":
        compaction = live.policy("CompactionCall").outcome(
            {"window": None, "input_tokens": 0, "cap": None, "max_output": facts["max_output"]}
        )
        if compaction["thinking"] == "off":
            asked.append("thinking_off")
        asked.append("tool_choice_none")
    found = (missing(model, facts, wish, api_of(facts)) for wish in dict.fromkeys(asked))
    return tuple(one for one in found if one is not None and (tools or one.wish != "tool_choice_none"))
