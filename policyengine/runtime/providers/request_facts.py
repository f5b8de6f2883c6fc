"""What the model catalogue says about a request: cap, thinking, cache marks, whose thinking blocks may go back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from policyengine.kinds.capabilities import for_api
from policyengine.runtime.messages import Thinking
from policyengine.runtime.provider import Request, ToolSpec


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
