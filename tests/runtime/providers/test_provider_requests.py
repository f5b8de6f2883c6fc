"""The request that really arrives at a server: cap, thinking, tool choice, turns, cache marks, signatures."""

from __future__ import annotations

import asyncio
import json
from base64 import b64decode, urlsafe_b64decode
from typing import Any

import pytest

from policyengine.kinds.capabilities import missing
from policyengine.runtime.messages import Call, Image, Message, Result, Text, Thinking
from policyengine.runtime.provider import Request, ToolSpec
from tests.runtime.peers.dialects import DIALECTS, anthropic_block, anthropic_end, anthropic_start, gemini_chunk, sse
from tests.runtime.peers.server import Peer, answer
from tests.runtime.providers.support import KEY, TOOL, Outcome, ask, facts, named, request, skip_without_sdk

ALL = list(DIALECTS)


def arrived(name: str, asked: Request, **options: Any) -> tuple[Any, Any]:
    """The body and the head of the request that arrives."""

    async def run() -> tuple[Any, Any]:
        async with Peer([answer(*DIALECTS[name].recorded)]) as peer:
            outcome = await ask(name, peer.url, asked, **options)
            assert outcome.kind == "whole"
            return peer.body, peer.requests[0]

    skip_without_sdk(name)
    return asyncio.run(run())


def body(name: str, asked: Request, **options: Any) -> Any:
    """The body that arrives."""
    return arrived(name, asked, **options)[0]


def user(text: str) -> Message:
    return Message("user", (Text(text),))


def said(*blocks: Any) -> Message:
    return Message("assistant", blocks)


def called(call_id: str = "c1", **fields: Any) -> Call:
    return Call(call_id, "read_file", {"path": "a"}, **fields)


def results(call_id: str = "c1", *parts: Text | Image, error: bool = False) -> Message:
    return Message("tool", (Result(call_id, "read_file", parts or (Text("content"),), error),))


# A turn whose model round was skipped, and the next message of the person.
SKIPPED = (user("one"), said(called()), results(), user("two"))


@pytest.mark.parametrize(
    ("name", "model", "options", "field"),
    [
        ("openai", "gpt-6-sol", {}, "max_completion_tokens"),
        ("openai", "gpt-4.1-2025-04-14", {}, "max_completion_tokens"),
        ("openai", "gpt-6-sol", {"cap_field": "max_tokens"}, "max_tokens"),
        ("openai", "a-local-model", {}, "max_tokens"),
        ("openai", "a-local-model", {"cap_field": "max_completion_tokens"}, "max_completion_tokens"),
        ("openai-responses", "gpt-5.3-codex", {}, "max_output_tokens"),
        ("qwen", "qwen3.8-max", {}, "max_tokens"),
        ("anthropic", "claude-haiku-5-5", {}, "max_tokens"),
        ("gemini", "gemini-2.5-flash", {}, "generationConfig.maxOutputTokens"),
    ],
)
def test_the_cap_has_the_field_of_model_and_server(name: str, model: str, options: Any, field: str) -> None:
    """R9, R10: a model and a server may each want a field of their own, and only that one is sent."""
    sent = body(name, request(name, model=model, max_output_tokens=20_000), **options)
    caps = {path: value for path, value in _leaves(sent) if value == 20_000}
    assert caps == {field: 20_000}


def _leaves(value: Any, path: str = "") -> list[tuple[str, Any]]:
    if isinstance(value, dict):
        return [leaf for key, item in value.items() for leaf in _leaves(item, f"{path}.{key}".lstrip("."))]
    return [(path, value)]


def test_without_a_cap_only_anthropic_sends_one_and_it_is_the_models_own() -> None:
    assert body("anthropic", request("anthropic"))["max_tokens"] == facts("claude-haiku-5-5")["max_output"]
    assert "max_completion_tokens" not in body("openai", request("openai"))


def test_anthropic_without_any_cap_is_refused_before_anything_is_sent() -> None:
    async def run() -> tuple[Outcome, int]:
        async with Peer([answer()]) as peer:
            asked = request("anthropic", model="a-local-model")
            return await ask("anthropic", peer.url, asked), len(peer.requests)

    skip_without_sdk("anthropic")
    outcome, sent = asyncio.run(run())
    assert (outcome.kind, sent) == ("refused", 0)


@pytest.mark.parametrize(
    ("name", "model", "wanted"),
    [
        ("openai", "gpt-6-sol", {"reasoning_effort": "none"}),
        ("openai", "gpt-6-astra", {"reasoning_effort": "low"}),
        ("openai", "gpt-4.1-2025-04-14", {}),
        ("openai-responses", "gpt-6-sol", {"reasoning": {"effort": "none"}}),
        ("openai-responses", "gpt-5.2-codex", {"reasoning": {"effort": "low"}}),
        ("qwen", "qwen3.8-max", {"enable_thinking": False}),
        ("qwen", "qwq-plus", {}),
        ("anthropic", "claude-haiku-5-5", {"thinking": {"type": "disabled"}}),
        ("anthropic", "claude-opus-5-5", {"output_config": {"effort": "low"}}),
        ("gemini", "gemini-2.5-flash", {"generationConfig": {"thinkingConfig": {"thinkingBudget": 0}}}),
        ("gemini", "gemini-3.8-flash", {"generationConfig": {"thinkingConfig": {"thinkingLevel": "low"}}}),
    ],
)
def test_thinking_off_is_sent_as_the_catalogue_says(name: str, model: str, wanted: Any) -> None:
    asked = request(name, model=model, thinking="off")
    sent = body(name, asked)
    assert {key: sent[key] for key in wanted} == wanted
    untouched = body(name, request(name, model=model))
    assert {key for key in sent if sent[key] != untouched.get(key)} <= set(wanted)


def test_every_request_streams_and_asks_for_usage() -> None:
    """R14: no request is made without streaming, so that thinking may be on."""
    for name in ("openai", "qwen"):
        sent = body(name, request(name))
        assert (sent["stream"], sent["stream_options"]) == (True, {"include_usage": True})
    assert body("anthropic", request("anthropic"))["stream"] is True
    assert "streamGenerateContent" in arrived("gemini", request("gemini"))[1].path


NONE = {
    "openai": ("tool_choice", "none"),
    "openai-responses": ("tool_choice", "none"),
    "qwen": ("tool_choice", "none"),
    "anthropic": ("tool_choice", {"type": "none"}),
    "gemini": ("toolConfig", {"functionCallingConfig": {"mode": "NONE"}}),
}


@pytest.mark.parametrize("name", ALL)
def test_tool_choice_none_goes_with_tools_only(name: str) -> None:
    """R15: without tools both are left out."""
    field, value = NONE[name]
    with_tools = body(name, request(name, tools=(TOOL,), tool_choice="none"))
    assert with_tools[field] == value
    assert len(with_tools["tools"]) == 1
    without = body(name, request(name, tool_choice="none"))
    assert field not in without
    assert "tools" not in without
    assert field not in body(name, request(name, tools=(TOOL,)))


@pytest.mark.parametrize("name", ALL)
def test_a_model_that_refuses_tool_choice_none_gets_no_tools(name: str) -> None:
    known = facts(request(name).model) | {"tool_choice_none": False}
    sent = body(name, request(name, facts=known, tools=(TOOL,), tool_choice="none"))
    assert NONE[name][0] not in sent
    assert "tools" not in sent


@pytest.mark.parametrize("name", ALL)
def test_a_tool_arrives_with_its_schema(name: str) -> None:
    tool = json.dumps(body(name, request(name, tools=(TOOL,)))["tools"])
    assert json.dumps(dict(TOOL.parameters)) in tool
    assert TOOL.description in tool


def _roles(name: str, sent: Any) -> list[str]:
    if name == "gemini":
        return [turn["role"] for turn in sent["contents"]]
    if name == "openai-responses":
        return [item.get("role") or item["type"] for item in sent["input"]]
    return [message["role"] for message in sent["messages"]]


@pytest.mark.parametrize(
    ("name", "gap", "roles"),
    [
        ("openai", "tolerate", ["user", "assistant", "tool", "user"]),
        ("openai", "inject_empty_assistant", ["user", "assistant", "tool", "assistant", "user"]),
        ("qwen", "inject_empty_assistant", ["user", "assistant", "tool", "assistant", "user"]),
        ("openai-responses", "tolerate", ["user", "function_call", "function_call_output", "user"]),
        ("anthropic", "tolerate", ["user", "assistant", "user"]),
        ("anthropic", "inject_empty_assistant", ["user", "assistant", "user", "assistant", "user"]),
        ("gemini", "tolerate", ["user", "model", "user"]),
        ("gemini", "inject_empty_assistant", ["user", "model", "user", "model", "user"]),
    ],
)
def test_a_skipped_round_leaves_turns_as_the_policy_chose(name: str, gap: str, roles: list[str]) -> None:
    assert _roles(name, body(name, request(name, *SKIPPED), gap=gap)) == roles


@pytest.mark.parametrize("name", ["openai", "qwen", "anthropic", "gemini"])
def test_injected_turns_alternate_begin_and_end_with_the_user(name: str) -> None:
    odd = (said(Text("a")), said(Text("b")), user("c"), user("d"), said(Text("e")))
    sent = body(name, request(name, *odd), gap="inject_empty_assistant", filler="(nothing)")
    roles = [role.replace("model", "assistant") for role in _roles(name, sent)]
    assert roles == ["user", "assistant", "user", "assistant", "user", "assistant", "user"]
    assert json.dumps(sent).count("(nothing)") == 3
    for text in "abcde":
        assert text in json.dumps(sent)


def test_anthropic_gets_results_before_text_and_no_blank_text() -> None:
    mixed = (user("one"), said(Text(" \n"), called()), Message("user", (Text("and"),)), results())
    sent = body("anthropic", request("anthropic", *mixed, cache_marks=False))
    assert [part["type"] for part in sent["messages"][1]["content"]] == ["tool_use"]
    assert [part["type"] for part in sent["messages"][2]["content"]] == ["tool_result", "text"]


@pytest.mark.parametrize("name", ALL)
def test_results_arrive_with_id_error_and_image(name: str) -> None:
    history = (
        user("one"),
        said(called("id-1")),
        results("id-1", Text("no such file"), Image("image/png", "aGk="), error=True),
    )
    sent = json.dumps(body(name, request(name, *history)))
    assert "no such file" in sent
    assert "aGk=" in sent
    assert sent.count("id-1") == 2
    if name == "anthropic":
        assert '"is_error": true' in sent
    if name == "gemini":
        assert '"response": {"error": "no such file"}' in sent


@named(["openai", "qwen"])
def test_an_image_follows_all_results_of_its_batch(name: str) -> None:
    batch = (results("a", Text("x"), Image("image/png", "aGk=")), results("b"))
    sent = body(name, request(name, user("one"), said(called("a"), called("b")), *batch, cache_marks=False))
    assert _roles(name, sent) == ["user", "assistant", "tool", "tool", "user"]
    assert sent["messages"][-1]["content"][0]["image_url"]["url"] == "data:image/png;base64,aGk="


def test_arguments_that_were_no_json_go_back_as_they_came() -> None:
    call = Call("c1", "read_file", {}, raw_arguments='{"path": ')
    for name in ("openai", "openai-responses"):
        sent = json.dumps(body(name, request(name, user("one"), said(call), results())))
        assert json.dumps('{"path": ') in sent


def test_ids_of_another_provider_are_made_plain_for_anthropic() -> None:
    odd = "functions.read:0|é"
    sent = body("anthropic", request("anthropic", user("one"), said(called(odd)), results(odd)))
    call = sent["messages"][1]["content"][0]["id"]
    assert sent["messages"][2]["content"][0]["tool_use_id"] == call
    assert call.isascii()
    assert call.replace("_", "").isalnum()


def _marks(sent: Any, path: str = "") -> list[str]:
    if isinstance(sent, dict):
        here = [path] if "cache_control" in sent else []
        return here + [mark for key, item in sent.items() for mark in _marks(item, f"{path}.{key}".lstrip("."))]
    if isinstance(sent, list):
        return [mark for index, item in enumerate(sent) for mark in _marks(item, f"{path}[{index - len(sent)}]")]
    return []


@pytest.mark.parametrize(
    ("name", "marks"),
    [
        ("openai", []),
        ("openai-responses", []),
        ("gemini", []),
        ("anthropic", ["messages[-1].content[-1]", "system[-1]", "tools[-1]"]),
        ("qwen", ["messages[-1].content[-1]", "messages[-5].content[-1]", "tools[-1]"]),
    ],
)
def test_cache_marks_stand_on_system_last_message_and_last_tool(name: str, marks: list[str]) -> None:
    tools = (TOOL, ToolSpec("grep", "Search.", {"type": "object", "properties": {}}))
    asked = request(name, *SKIPPED, system="Be brief.", tools=tools)
    assert sorted(_marks(body(name, asked))) == sorted(marks)
    unmarked = request(name, *SKIPPED, system="Be brief.", tools=tools, cache_marks=False)
    assert _marks(body(name, unmarked)) == []


SIGNED = {"type": "thinking", "thinking": "Hm, é…", "signature": "EqQBCkYIARgCKkD+/=="}
REDACTED = {"type": "redacted_thinking", "data": "Eu8+/ab=="}


@pytest.mark.parametrize(
    ("model", "asked", "kept"),
    [
        ("claude-haiku-5-5", "claude-haiku-5-5", True),
        ("claude-haiku-4-5", "claude-haiku-4-5-20251001", False),
        ("claude-haiku-4-5-20251001", "claude-haiku-4-5", True),
        ("claude-opus-5", "claude-haiku-5-5", False),
    ],
)
def test_thinking_goes_back_to_the_same_model_only(model: str, asked: str, kept: bool) -> None:
    """R40: blocks of another model are dropped, those of the same model stay as they are."""
    blocks = [Thinking(model, "anthropic", block) for block in (SIGNED, REDACTED)]
    history = (user("one"), said(*blocks, called()), results())
    content = body("anthropic", request("anthropic", *history, model=asked))["messages"][1]["content"]
    assert content[:-1] == ([SIGNED, REDACTED] if kept else [])


@pytest.mark.parametrize("name", ALL)
def test_thinking_of_another_provider_is_dropped(name: str) -> None:
    foreign = Thinking(request(name).model, "elsewhere", {"type": "thinking", "signature": "zzz"})
    signed = called(provider_data={"thoughtSignature": "zzz", "model": "elsewhere"})
    assert "zzz" not in json.dumps(body(name, request(name, user("one"), said(foreign, signed), results())))


def test_anthropic_thinking_comes_and_goes_byte_for_byte() -> None:
    """Signature in pieces, thinking in pieces, and back in the next request."""
    stream = [
        anthropic_start(),
        *anthropic_block(
            0,
            {"type": "thinking", "thinking": "", "signature": ""},
            {"type": "thinking_delta", "thinking": "Hm, "},
            {"type": "thinking_delta", "thinking": "é…"},
            {"type": "signature_delta", "signature": "EqQBCkYI"},
            {"type": "signature_delta", "signature": "ARgCKkD+/=="},
        ),
        *anthropic_block(1, REDACTED),
        *anthropic_end(),
    ]
    assert _replayed("anthropic", stream)["messages"][1]["content"] == [SIGNED, REDACTED]


def test_gemini_signatures_come_and_go_byte_for_byte() -> None:
    text, call = "aGVsbG8+/w==", "c2lnbmF0dXJl"
    stream = [
        gemini_chunk({"text": "Hi", "thoughtSignature": text}),
        gemini_chunk({"functionCall": {"name": "read_file", "args": {}}, "thoughtSignature": call}, finish="STOP"),
    ]
    parts = _replayed("gemini", stream)["contents"][1]["parts"]
    # The SDK writes the other alphabet of base64; the bytes are the same.
    back = [urlsafe_b64decode(part["thoughtSignature"]) for part in parts]
    assert back == [b64decode(text), b64decode(call)]


def test_responses_reasoning_comes_and_goes_byte_for_byte() -> None:
    item = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAAA+/=="}
    done = {"type": "response.output_item.done", "output_index": 0, "item": item}
    stream = [sse(done, done["type"]), *DIALECTS["openai-responses"].recorded]
    assert _replayed("openai-responses", stream)["input"][1] == item


def _replayed(name: str, stream: list[bytes]) -> Any:
    """The next request after an answer whose thinking blocks and calls were kept."""
    from policyengine.runtime.provider import CallFinished, ThinkingBlock

    async def run() -> Any:
        async with Peer([answer(*stream)]) as peer:
            asked = request(name, user("one"))
            outcome = await ask(name, peer.url, asked)
            blocks: list[Any] = []
            for event in outcome.events:
                if isinstance(event, ThinkingBlock):
                    blocks.append(Thinking(asked.model, "openai" if name.startswith("openai") else name, event.raw))
                elif isinstance(event, CallFinished):
                    arguments = json.loads(event.arguments)
                    blocks.append(Call(event.id, event.name, arguments, provider_data=event.provider_data))
            done = [
                Message("tool", (Result(block.id, block.name, (Text("ok"),)),))
                for block in blocks
                if isinstance(block, Call)
            ]
            await ask(name, peer.url, request(name, user("one"), said(*blocks), *(done or [user("go on")])))
            return peer.body

    skip_without_sdk(name)
    return asyncio.run(run())


def test_calls_of_another_model_get_the_stand_in_signature_where_one_is_set() -> None:
    history = (user("one"), said(called()), results())
    part = body("gemini", request("gemini", *history), unsigned_call_signature="c3RhbmQtaW4=")["contents"][1]["parts"][
        0
    ]
    assert part["thoughtSignature"] == "c3RhbmQtaW4="


@pytest.mark.parametrize("name", ALL)
def test_the_key_goes_into_a_header_and_nowhere_else(name: str) -> None:
    sent, head = arrived(name, request(name))
    assert KEY in " ".join(head.headers.values())
    assert KEY not in head.path
    assert KEY not in json.dumps(sent)


@pytest.mark.parametrize(
    ("model", "wish", "api", "says"),
    [
        ("gpt-6-sol", "thinking_off", "chat", None),
        ("gpt-6-astra", "thinking_off", "chat", "always thinks"),
        ("gpt-5.3-codex", "thinking_off", "responses", None),
        ("gpt-5.3-codex", "thinking_off", "chat", "over the chat API"),
        ("gpt-4.1-2025-04-14", "thinking_off", "chat", None),
        ("gemini-2.5-pro", "thinking_off", "", "always thinks"),
        ("qwq-plus", "thinking_off", "", "always thinks"),
        ("a-local-model", "thinking_off", "", "not in the model catalogue"),
        ("claude-haiku-5-5", "tool_choice_none", "", None),
        ("a-local-model", "tool_choice_none", "", "does not say"),
    ],
)
def test_what_a_model_lacks_is_known_before_any_request(model: str, wish: Any, api: str, says: str | None) -> None:
    found = missing(model, facts(model), wish, api)
    assert (found is None) if says is None else (found is not None and says in found.message)


def test_openai_takes_the_api_that_a_model_has() -> None:
    from policyengine.runtime.providers.openai_by_model import OpenAIByModel
    from policyengine.runtime.providers.openai_chat import ChatOptions
    from tests.runtime.providers.support import collect

    async def run(model: str, name: str) -> str:
        async with Peer([answer(*DIALECTS[name].recorded)]) as peer:
            given = OpenAIByModel(ChatOptions(base_url=f"{peer.url}/v1", api_key=KEY))
            assert (await collect(given, request("openai", model=model))).kind == "whole"
            await given.close()
            return peer.requests[0].path

    skip_without_sdk("openai")
    assert asyncio.run(run("gpt-6-sol", "openai")) == "/v1/chat/completions"
    assert asyncio.run(run("gpt-5.3-codex", "openai-responses")) == "/v1/responses"


# What llama-cpp-python's server refuses (null) or its chat template cannot take (a list), and what it is sent instead.
PLAIN = [
    (said(called()), None, ""),
    (said(Text("Let me see."), called()), "Let me see.", "Let me see."),
    (
        Message("user", (Text("one"), Text("two"))),
        [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}],
        "one\ntwo",
    ),
]


@pytest.mark.parametrize(("message", "usual", "plain"), PLAIN, ids=["only calls", "text and calls", "two texts"])
def test_a_server_that_takes_only_strings_gets_strings(message: Message, usual: Any, plain: str) -> None:
    history = (user("look"), message, *([results()] if message.role == "assistant" else []))
    for option, expected in ((False, usual), (True, plain)):
        sent = body("openai", request("openai", *history, tools=(TOOL,)), plain_text=option)
        assert sent["messages"][1]["content"] == expected


def test_an_image_is_sent_to_a_server_of_strings_too() -> None:
    history = (user("look"), said(called()), results("c1", Image("image/png", "AAAA")))
    sent = body("openai", request("openai", *history, tools=(TOOL,)), plain_text=True)
    assert [part["type"] for part in sent["messages"][-1]["content"]] == ["image_url"]
