"""A tool of which nobody says what it does is told before it is called: no veto keeps its calls from the fast model."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import pytest
from runtime_kit import Script, adapter, builtin, events, of, quick, says, tool

from policyengine import Advisor
from policyengine.runtime import ToolKindUnknown

LISTED = builtin().serving("ToolCatalogue").spec["tools"][0]["names"][0]


@pytest.mark.parametrize(
    ("tools", "told"),
    [
        ([tool("deploy", kind=None), tool("look", kind=None), tool("stated", kind="edit")], ("deploy", "look")),
        ([tool(LISTED, kind=None), tool("stated", kind="other")], None),
        ([tool("mcp__theirs__write", kind=None), tool("theirs", kind=None, mcp=True)], None),
        ([], None),
    ],
)
def test_a_session_tells_its_tools_of_no_known_kind_once(tools: list[Any], told: tuple[str, ...] | None) -> None:
    made, _ = adapter(Script([says("fine")] * 2), bundle=quick())
    one = made.session("big", tools=tools, window=100_000)
    found = of(asyncio.run(events(one.send("hi"))), ToolKindUnknown)
    assert [event.tools for event in found] == ([told] if told else [])
    assert all("`other`" in event.instead for event in found)
    assert not of(asyncio.run(events(one.send("hi"))), ToolKindUnknown)


def test_an_advisor_tells_each_tool_of_no_known_kind_once() -> None:
    said: list[Any] = []
    advisor = Advisor(builtin(), say=said.append)
    names = ("deploy", LISTED, "deploy", "mcp__theirs__write", "look")
    kinds = [advisor.call(name, {}).kind for name in names]
    assert (kinds[0], kinds[2], kinds[4]) == ("other",) * 3
    assert said == [ToolKindUnknown((name,), said[0].instead) for name in ("deploy", "look")]


def test_where_nobody_listens_it_is_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "policyengine.runtime"):
        Advisor(builtin()).call("deploy", {"secret": "s3cr3t"})
    (line,) = caplog.messages
    assert line.startswith("tools of no known kind: deploy; ")
    assert "s3cr3t" not in line
