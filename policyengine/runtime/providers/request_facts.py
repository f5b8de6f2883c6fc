"""What the model catalogue says about a request: cap, thinking, cache marks, whose thinking blocks may go back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from policyengine.runtime.messages import Thinking
from policyengine.runtime.provider import Request, ToolSpec

APIS = ("chat", "responses")
"""APIs that a model's thinking settings may be told apart by."""


def thinking_fields(request: Request, api: str = "") -> Mapping[str, Any]:
    """The request fields that turn thinking off, or to its lowest where there is no off; none where not asked.

    Where the catalogue knows neither, nothing is sent; `capabilities` says so at load time.
    """
    if request.thinking != "off":
        return {}
    for name in ("thinking_off", "thinking_lowest"):
        found = for_api(request.facts.get(name), api)
        if found is not None:
            return found
    return {}


def for_api(setting: Mapping[str, Any] | None, api: str) -> Mapping[str, Any] | None:
    """A thinking setting of the catalogue for one API; None where there is none for it."""
    if not setting:
        return None
    if set(setting) <= set(APIS):
        found: Mapping[str, Any] | None = setting.get(api)
        return found
    return setting


def with_headroom(request: Request, headroom: int) -> int | None:
    """The cap for an API whose cap covers thoughts and text, where thinking was asked off and has no off.

    cap on the wire = min(output limit of the model, cap + headroom), both in tokens. The text itself may then
    grow past the cap by what thinking leaves over; `Finished.over_cap` says so.
    """
    cap, limit = request.max_output_tokens, request.facts.get("max_output")
    if cap is None or request.thinking != "off" or request.facts.get("thinking") != "always":
        return cap
    return max(cap, min(limit, cap + headroom)) if limit is not None else cap + headroom


def tools_on_wire(request: Request) -> tuple[Sequence[ToolSpec], bool]:
    """The tools to send, and whether `tool_choice` none goes with them.

    Without tools there is no choice either; a model that refuses none gets no tools instead.
    """
    none = request.tool_choice == "none" and bool(request.tools)
    if none and request.facts.get("tool_choice_none") is False:
        return (), False
    return request.tools, none


def marks_cache(request: Request) -> bool:
    """Whether cache marks go into the request."""
    return request.cache_marks and request.facts.get("cache") == "ephemeral"


def goes_back(block: Thinking, request: Request, provider: str) -> bool:
    """Whether a thinking block was written by this very model, under any of its names."""
    return block.provider == provider and same_model(block.model, request)


def same_model(model: object, request: Request) -> bool:
    """Whether `model` is a name of the request's model."""
    return isinstance(model, str) and model in (request.model, request.facts.get("id"))


def tokens_over(output: int | None, cap: int | None) -> bool:
    """Whether a reported output is larger than the cap that was sent."""
    return output is not None and cap is not None and output > cap
