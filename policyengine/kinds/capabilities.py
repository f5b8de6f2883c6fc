"""What a model cannot do, known from the catalogue before any request is sent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from policyengine.kinds.policy import Policy

Wish: TypeAlias = Literal["thinking_off", "tool_choice_none"]
APIS = ("chat", "responses")
"""APIs of OpenAI, by which a model's thinking settings may be told apart."""
RESPONSES_CAP = "max_output_tokens"
"""The catalogue gives this name of the output cap to models that only Responses serves."""


@dataclass(frozen=True, slots=True)
class Missing:
    """A wish that a model does not fulfil. `instead` is what is sent in its place."""

    model: str
    wish: Wish
    message: str
    instead: str


def missing(model: str, facts: Mapping[str, Any], wish: Wish, api: str = "") -> Missing | None:
    """What `model` lacks for `wish`, by the catalogue's `facts`; None where it can do it.

    `api` is `chat` or `responses` for OpenAI. A model that the catalogue does not know lacks what is not known.
    """
    return _thinking_off(model, facts, api) if wish == "thinking_off" else _tool_choice_none(model, facts)


def api_of(facts: Mapping[str, Any]) -> str:
    """The API of OpenAI that serves a model; for other providers it makes no difference."""
    return "responses" if facts.get("output_cap") == RESPONSES_CAP else "chat"


def for_api(setting: Mapping[str, Any] | None, api: str) -> Mapping[str, Any] | None:
    """A thinking setting of the catalogue for one API; None where there is none for it."""
    if not setting:
        return None
    if set(setting) <= set(APIS):
        found: Mapping[str, Any] | None = setting.get(api)
        return found
    return setting


def wishes(summary_round: Policy, facts: Mapping[str, Any], call: Literal["fast", "primary"]) -> tuple[Wish, ...]:
    """What a SummaryRound policy asks of a model that sums up a batch of final results."""
    style = summary_round.outcome(
        {
            "call": call,
            "continuation": True,
            "terminal": True,
            "tool_choice_none": facts.get("tool_choice_none"),
            "thinking": facts.get("thinking"),
        }
    )
    found: list[Wish] = []
    if style["thinking"] == "off":
        found.append("thinking_off")
    if style["tool_choice"] == "none":
        found.append("tool_choice_none")
    return tuple(found)


def _thinking_off(model: str, facts: Mapping[str, Any], api: str) -> Missing | None:
    if facts.get("thinking") == "none" or for_api(facts.get("thinking_off"), api) is not None:
        return None
    if not facts.get("known", True):
        why = f"`{model}` is not in the model catalogue, so how to turn its thinking off is not known"
    elif facts.get("thinking") == "always":
        why = f"`{model}` always thinks; its thinking cannot be turned off"
    elif facts.get("thinking_off"):
        why = f"the model catalogue does not say how to turn off thinking of `{model}` over the {api or 'given'} API"
    else:
        why = f"the model catalogue does not say how to turn off thinking of `{model}`"
    lowest = for_api(facts.get("thinking_lowest"), api)
    instead = "its lowest thinking is asked for" if lowest is not None else "nothing is sent about thinking"
    return Missing(model, "thinking_off", why, instead)


def _tool_choice_none(model: str, facts: Mapping[str, Any]) -> Missing | None:
    if facts.get("tool_choice_none"):
        return None
    if facts.get("tool_choice_none") is False:
        why = f"`{model}` does not take tool_choice none"
    else:
        why = f"the model catalogue does not say whether `{model}` takes tool_choice none"
    instead = "the tools are left out" if facts.get("tool_choice_none") is False else "it is sent all the same"
    return Missing(model, "tool_choice_none", why, instead)
