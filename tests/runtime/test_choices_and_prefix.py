"""The life cycle of the two choices, and what changed the cached prefix."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from runtime_kit import Script, adapter, calls, changed, events, says, tool

from policyengine.kinds.prompt_size import Sizes
from policyengine.runtime.choices import Choices
from policyengine.runtime.prefix import Prefix
from policyengine.runtime.toolset import Toolset

# moment, what comes with it, explicit choice after, summary tier after; before both are set (`mine`, `fast`).
LIFE: list[tuple[Any, dict[str, Any], Any, Any]] = [
    ("user_turn", {}, None, None),
    ("skill_model", {"model": "skilled"}, "skilled", "fast"),
    ("batch_done", {"tier": "primary"}, "mine", "primary"),
    ("fallback", {}, "mine", "primary"),
    ("user_retry", {}, "mine", "primary"),
    ("model_switched", {}, "mine", None),
]


@pytest.mark.parametrize(("moment", "about", "model", "tier"), LIFE, ids=[row[0] for row in LIFE])
def test_what_becomes_of_the_two_choices(moment: Any, about: dict[str, Any], model: Any, tier: Any) -> None:
    choices = Choices("mine", "fast")
    choices.at(moment, **about)
    assert (choices.explicit_model, choices.summary_tier) == (model, tier)


A, B = tool("a"), tool("b")
ONE, TWO = Toolset([A]).digest, Toolset([A, B]).digest
BASE: tuple[Any, ...] = ("system", "memory", ONE, "big")
CHANGES: list[tuple[str, tuple[Any, ...]]] = [
    ("none", BASE),
    ("system", ("other", "memory", ONE, "big")),
    ("memory", ("system", "other", ONE, "big")),
    ("tools", ("system", "memory", TWO, "big")),
    ("model", ("system", "memory", ONE, "small")),
    # The first change in the prompt is the one that breaks the cache.
    ("system", ("other", "other", TWO, "small")),
]


def test_tools_are_written_out_once_and_anew_where_they_are_others() -> None:
    tools = Toolset([A, B])
    assert tools.of({"a": A, "b": B})
    for others in ({"a": A}, {"b": B, "a": A}, {"a": A, "b": tool("b")}, {"a": A, "b": B, "c": tool("c")}):
        assert not tools.of(others)
    assert Toolset([tool("a")]).digest == ONE != TWO
    assert tools.sizes(None).json_bytes > Toolset([A]).sizes(None).json_bytes > 0
    assert tools.sizes(len) == Sizes(tokens=tools.sizes(None).json_bytes)
    assert tools.sizes(None) is tools.sizes(None)


@pytest.mark.parametrize(("expected", "after"), CHANGES)
def test_what_changed_the_prefix(expected: str, after: tuple[Any, ...]) -> None:
    prefix = Prefix()
    assert prefix.round(*BASE) == "none"
    assert prefix.round(*after) == expected
    assert prefix.round(*after) == "none"
    prefix.compacted()
    assert prefix.round(*after) == "compaction"
    assert prefix.round(*after) == "none"


def test_an_instruction_to_be_brief_is_added_once() -> None:
    async def run() -> None:
        bundle = changed(summary_round={"brief": True, "no_tools": True})
        turn = [calls(("c1", "git_log", {})), says("fine")]
        script = Script([*turn, *turn])
        made, log = adapter(script, bundle=bundle)
        one = made.session("big", system="You help.", tools=[tool("git_log", kind="read")])
        await events(one.send("show the log"))
        await events(one.send("show the log"))
        systems = [request.system for request in script.requests]
        assert systems[0] == "You help."
        assert systems[1] == systems[2] == systems[3] == "You help.\n\nAnswer briefly, from the results above."
        # A model that is not known to take `tool_choice: none` is not asked to.
        assert {request.tool_choice for request in script.requests} == {"auto"}
        changes = [record["prefix_changed"] for record in log.records if record["kind"] == "Ladder"]
        assert changes == ["none", "system", "none", "none"]

    asyncio.run(run())
