"""Tools whose schema somebody else wrote: refused by name when they are made, and never a reason to stop."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from runtime_kit import Script, calls, events, of, says, session, valid

from policyengine.runtime.events import ToolEnded, TurnEnded
from policyengine.runtime.tools import Tool
from policyengine.source.errors import InputError


def _tool(parameters: Any, ran: list[Any]) -> Tool:
    def run(arguments: Any) -> str:
        ran.append(arguments)
        return "done"

    return Tool("mcp__theirs", "A tool of theirs.", parameters, run)


@pytest.mark.parametrize(
    "parameters",
    [
        {"$ref": "#/nope"},
        {"$ref": "http://127.0.0.1:9/schema.json"},
        {"type": "strng"},
        {"type": "object", "properties": {"a": {"pattern": "(?=a)"}}},
        None,
        {"type": "object", "default": object()},
    ],
    ids=["a reference to nothing", "to a server", "a type that is none", "a pattern", "nothing", "no JSON"],
)
def test_a_tool_with_a_schema_that_cannot_be_used_is_refused_by_its_name(parameters: Any) -> None:
    with pytest.raises(
        InputError, match=r"^the tool mcp__theirs cannot be used: the schema of its parameters: [^\n]+$"
    ):
        _tool(parameters, [])


RECURSIVE: dict[str, Any] = {"$defs": {"a": {"anyOf": [{"$ref": "#/$defs/a"}]}}, "$ref": "#/$defs/a"}


@pytest.mark.parametrize(
    ("parameters", "arguments", "said"),
    [
        (RECURSIVE, {}, "not checked, and the tool was not run: the data is nested too deeply"),
        ({"properties": {"a": {"pattern": "^(a+)+$"}}}, {"a": "a" * 40 + "b"}, "does not match"),
        ({"properties": {"a": {"multipleOf": 0.1}}}, {"a": 10**400}, "not checked, and the tool was not run"),
    ],
    ids=["endless", "a pattern that hangs Python", "a fault of the check"],
)
def test_arguments_that_cannot_be_judged_are_an_error_for_the_model_and_the_loop_goes_on(
    parameters: Any, arguments: dict[str, Any], said: str
) -> None:
    ran: list[Any] = []
    script = Script([calls(("c1", "mcp__theirs", arguments)), says("so be it")])
    one = session(script, tools=[_tool(parameters, ran)])
    found = asyncio.run(events(one.send("try it")))
    (ended,) = of(found, ToolEnded)
    assert ended.error
    assert said in ended.output
    assert ran == []
    assert of(found, TurnEnded)[0].status == "completed"
    valid(one)
