"""What a provider makes of a stream: usage, finish reasons, tool calls in odd pieces, signs of life, ids, cuts."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import Any

import pytest

from policyengine.kinds.usage import prompt_tokens
from policyengine.runtime.messages import Call, Message, Text
from policyengine.runtime.provider import ReasoningDelta, Request, TextDelta, UsageReport
from policyengine.runtime.providers.usage import UsageSoFar, sources
from tests.runtime.peers.dialects import (
    ANTHROPIC,
    ANTHROPIC_INPUT,
    CHAT_DONE,
    CHAT_USAGE,
    DIALECTS,
    GEMINI,
    OPENAI,
    anthropic_block,
    anthropic_end,
    anthropic_event,
    anthropic_start,
    chat_chunk,
    chat_piece,
    dashscope_calls,
    gemini_chunk,
    gemini_usage,
    responses_end,
    responses_event,
    responses_text,
    sse,
)
from tests.runtime.peers.server import Answer, Arrived, Cut, Pause, Peer, Step, Until, answer
from tests.runtime.providers.support import (
    Outcome,
    ask,
    collect,
    loop,
    provider,
    request,
    skip_without_sdk,
)

PATIENCE_S = 60
"""When a test gives up; the machine may be busy."""


def played(name: str, *steps: Step, asked: Request | None = None, **options: Any) -> Outcome:
    """What comes of a stream."""

    async def run() -> Outcome:
        async with Peer([answer(*steps)]) as peer:
            outcome = await ask(name, peer.url, asked, **options)
            assert len(peer.requests) == 1
            return outcome

    skip_without_sdk(name)
    return asyncio.run(run())


CHAT_TEXT = chat_chunk({"role": "assistant", "content": "Hi"})
ANTHROPIC_TEXT = anthropic_block(0, {"type": "text", "text": ""}, {"type": "text_delta", "text": "Hi"})


def chat_end(raw: str) -> list[bytes]:
    return [CHAT_TEXT, chat_chunk({}, raw), chat_chunk(usage=CHAT_USAGE), CHAT_DONE]


def anthropic_stop(raw: str | None) -> list[bytes]:
    return [anthropic_start(), *ANTHROPIC_TEXT, *anthropic_end(raw)]


def responses_stop(status: str, reason: str | None = None) -> list[bytes]:
    return [responses_text("Hi"), responses_end(status, incomplete_details=reason and {"reason": reason})]


def gemini_stop(raw: str) -> list[bytes]:
    return [gemini_chunk({"text": "Hi"}, finish=raw, usageMetadata=gemini_usage(20, 5))]


@pytest.mark.parametrize(
    ("name", "stream", "reason", "raw"),
    [
        ("openai", chat_end("stop"), "stop", "stop"),
        ("openai", chat_end("length"), "length", "length"),
        ("openai", chat_end("content_filter"), "content_filter", "content_filter"),
        ("openai", chat_end("something_new"), "error", "something_new"),
        ("openai", chat_end("tool_calls"), "error", "tool_calls"),  # and there is none
        ("qwen", chat_end("length"), "length", "length"),
        ("openai-responses", responses_stop("completed"), "stop", "completed"),
        ("openai-responses", responses_stop("incomplete", "max_output_tokens"), "length", "max_output_tokens"),
        ("openai-responses", responses_stop("incomplete", "content_filter"), "content_filter", "content_filter"),
        ("anthropic", anthropic_stop("end_turn"), "stop", "end_turn"),
        ("anthropic", anthropic_stop("stop_sequence"), "stop", "stop_sequence"),
        ("anthropic", anthropic_stop("max_tokens"), "length", "max_tokens"),
        (
            "anthropic",
            anthropic_stop("model_context_window_exceeded"),
            "length",
            "model_context_window_exceeded",
        ),
        ("anthropic", anthropic_stop("refusal"), "content_filter", "refusal"),
        ("anthropic", anthropic_stop(None), "error", ""),
        ("gemini", gemini_stop("STOP"), "stop", "STOP"),
        ("gemini", gemini_stop("MAX_TOKENS"), "length", "MAX_TOKENS"),
        ("gemini", gemini_stop("CONTINUATION"), "length", "CONTINUATION"),
        ("gemini", gemini_stop("SAFETY"), "content_filter", "SAFETY"),
        ("gemini", gemini_stop("MALFORMED_FUNCTION_CALL"), "error", "MALFORMED_FUNCTION_CALL"),
        ("gemini", [sse({"promptFeedback": {"blockReason": "OTHER"}})], "content_filter", "OTHER"),
    ],
)
def test_finish_reasons_have_one_vocabulary_and_the_raw_word(
    name: str, stream: Sequence[bytes], reason: str, raw: str
) -> None:
    """R18."""
    finished = played(name, *stream).finished
    assert finished is not None
    assert (finished.reason, finished.raw) == (reason, raw)


def test_a_call_decides_over_a_plain_stop() -> None:
    """Some servers and Gemini end an answer with calls as if it had none."""
    calls = [chat_chunk(chat_piece(0, "c1", "grep", "{}")), chat_chunk({}, "stop"), CHAT_DONE]
    outcome = played("openai", *calls)
    assert outcome.finished is not None
    assert (outcome.finished.reason, outcome.finished.raw) == ("tool_calls", "stop")


def test_a_continuation_is_not_followed() -> None:
    ended = gemini_chunk({"text": "Hi"}, finish="CONTINUATION")
    ended = ended.replace(b'"index": 0', b'"index": 0, "continuationToken": "dG9rZW4="')
    assert played("gemini", ended).kind == "whole"  # `played` sees to it that one request arrived


@pytest.mark.parametrize("name", DIALECTS)
def test_a_stream_that_ends_at_40_of_60_tokens_is_incomplete(name: str) -> None:
    dialect = DIALECTS[name]
    outcome = played(name, *dialect.opening, *(dialect.text_event(f"t{n} ") for n in range(40)), Cut("end"))
    assert outcome.kind == "incomplete"
    assert outcome.text.split() == [f"t{n}" for n in range(40)]


def test_a_finish_reason_without_done_is_incomplete_unless_the_server_never_sends_it() -> None:
    stream = [CHAT_TEXT, chat_chunk({}, "stop")]
    assert played("openai", *stream).kind == "incomplete"
    assert played("openai", *stream, done_marker=False).kind == "whole"


def prompt_size(name: str, report: UsageReport | None) -> int | None:
    """The prompt's size by the catalogue's contract."""
    assert report is not None
    contract = loop().models.spec.get("usage")[name]
    fields = {"input": report.input, "cache_read": report.cache_read, "cache_write": report.cache_write}
    return prompt_tokens(fields, contract)


def test_cached_tokens_count_once() -> None:
    """R24, R25."""
    anthropic = played("anthropic", *ANTHROPIC.recorded).usage
    assert prompt_size("anthropic", anthropic) == 10_007
    openai = played("openai", *OPENAI.recorded).usage
    assert prompt_size("openai", openai) == 100
    assert openai is not None
    assert (openai.input or 0) - (openai.cache_read or 0) == 25
    gemini = played("gemini", *GEMINI.recorded).usage
    assert prompt_size("gemini", gemini) == 100
    assert gemini is not None
    assert (gemini.output, gemini.reasoning) == (20, 5)


def test_running_totals_are_not_added() -> None:
    outcome = played(
        "gemini", *(gemini_chunk({"text": "a"}, usageMetadata=gemini_usage(n, 5)) for n in (3, 6)), *gemini_stop("STOP")
    )
    assert [report.output for report in outcome.of(UsageReport)] == [3, 6, 20]
    delta = anthropic_event("message_delta", delta={"stop_reason": None}, usage={"output_tokens": 9})
    outcome = played("anthropic", anthropic_start(), *ANTHROPIC_TEXT, delta, *anthropic_end())
    assert outcome.usage == UsageReport(7, 10_000, 0, 20, None)


def test_a_zero_that_gemini_leaves_out_is_told_by_the_total() -> None:
    only_thoughts = {"promptTokenCount": 100, "thoughtsTokenCount": 50, "totalTokenCount": 150}
    usage = played("gemini", gemini_chunk(finish="MAX_TOKENS", usageMetadata=only_thoughts)).usage
    assert usage is not None
    assert (usage.output, usage.reasoning) == (0, 50)
    unknown = played("gemini", gemini_chunk(finish="MAX_TOKENS", usageMetadata={"promptTokenCount": 100})).usage
    assert unknown is not None
    assert unknown.output is None


def test_usage_of_an_aborted_stream_has_a_source_for_each_field() -> None:
    """OpenAI reports nothing then; Anthropic the input and a placeholder that counts for nothing."""

    async def aborted(name: str) -> UsageReport | None:
        dialect = DIALECTS[name]
        async with Peer([answer(*dialect.opening, dialect.text_event("Hi"), Pause())]) as peer:
            given = provider(name, peer.url)
            usage = None
            events = given.stream(request(name))
            async for event in events:
                usage = event if isinstance(event, UsageReport) else usage
                if isinstance(event, TextDelta) and event.text:
                    break
            await events.aclose()  # type: ignore[attr-defined]
            await given.close()
            return usage

    for name in ("openai", "anthropic"):
        skip_without_sdk(name)
    assert set(sources(asyncio.run(aborted("openai"))).values()) == {"estimated"}
    anthropic = sources(asyncio.run(aborted("anthropic")))
    assert (anthropic["input"], anthropic["cache_read"], anthropic["output"]) == ("usage", "usage", "estimated")


@pytest.mark.parametrize(
    ("reports", "result"),
    [
        ([{"input": 0, "output": 0}], UsageReport(output=0)),
        ([{"input": 0, "cache_read": 50}], UsageReport(input=0, cache_read=50)),
        ([{"input": 10}, {"output": 3}, {"input": None, "output": 5}], UsageReport(input=10, output=5)),
        ([{"input": True, "output": -1, "reasoning": "5"}], None),
    ],
)
def test_unknown_is_never_zero(reports: list[dict[str, Any]], result: UsageReport | None) -> None:
    usage = UsageSoFar()
    for report in reports:
        usage.take(**report)
    assert usage.report == result


def test_an_answer_larger_than_its_cap_is_told() -> None:
    """R10: a compatible server that ignores the cap: 5 were allowed, 76 came."""
    usage = {"prompt_tokens": 10, "completion_tokens": 76, "total_tokens": 86}
    stream = [CHAT_TEXT, chat_chunk({}, "stop"), chat_chunk(usage=usage), CHAT_DONE]
    finished = played("openai", *stream, asked=request("openai", max_output_tokens=5)).finished
    assert finished is not None
    assert finished.over_cap
    finished = played("openai", *stream, asked=request("openai", max_output_tokens=76)).finished
    assert finished is not None
    assert not finished.over_cap


def test_a_capped_answer_that_a_server_calls_completed_is_cut() -> None:
    finished = played(
        "openai-responses", *responses_stop("completed"), asked=request("openai", max_output_tokens=20)
    ).finished
    assert finished is not None
    assert (finished.reason, finished.raw) == ("length", "completed")


@pytest.mark.parametrize("name", DIALECTS)
def test_arguments_in_odd_pieces_come_out_whole(name: str) -> None:
    text = '{"path": "a \\u00e9 \\"q\\" 世", "n": [1, {"x": null}]}'
    pieces = [text] if name == "gemini" else [text[n : n + 1] for n in range(len(text))]
    events = DIALECTS[name].calls([("c1", "read_file", pieces), ("c2", "grep", pieces[:0])])
    whole = b"".join(events)
    outcome = played(name, *(whole[at : at + 7] for at in range(0, len(whole), 7)))
    assert [(call.index, call.name) for call in outcome.calls] == [(0, "read_file"), (1, "grep")]
    assert json.loads(outcome.calls[0].arguments) == json.loads(text)
    assert json.loads(outcome.calls[1].arguments) == {}
    assert [(call.id, call.name) for call in outcome.started] == [(call.id, call.name) for call in outcome.calls]


def test_calls_told_apart_by_id_only() -> None:
    chunks = [chat_chunk(chat_piece(0, f"c{n}", "grep", json.dumps({"n": n}))) for n in (1, 2)]
    outcome = played("openai", *chunks, chat_chunk({}, "tool_calls"), CHAT_DONE)
    assert [(call.id, call.arguments) for call in outcome.calls] == [("c1", '{"n": 1}'), ("c2", '{"n": 2}')]


def test_calls_in_turns_are_kept_apart() -> None:
    pieces = [
        chat_piece(0, "c0", "read_file", '{"a"'),
        chat_piece(1, "c1", "grep", '{"b"'),
        chat_piece(0, None, None, ": 0}"),
        chat_piece(1, None, None, ": 1}"),
    ]
    outcome = played("openai", *map(chat_chunk, pieces), chat_chunk({}, "tool_calls"), CHAT_DONE)
    assert [(call.id, call.arguments) for call in outcome.calls] == [("c0", '{"a": 0}'), ("c1", '{"b": 1}')]


def test_a_name_in_two_pieces() -> None:
    pieces = [chat_piece(0, "c0", "read_", None), chat_piece(0, None, "file", "{}")]
    outcome = played("openai", *map(chat_chunk, pieces), chat_chunk({}, "tool_calls"), CHAT_DONE)
    assert [call.name for call in outcome.calls] == ["read_file"]


def test_an_id_that_the_history_has_already_is_given_to_no_other_call() -> None:
    history = Message("assistant", (Call("call_0", "grep", {}),))
    asked = request("openai", Message("user", (Text("go"),)), history, Message("user", (Text("on"),)))
    (call,) = played("openai", *DIALECTS["openai"].calls([("call_0", "grep", ["{}"])]), asked=asked).calls
    assert call.id != "call_0"
    assert call.provider_data["sent_id"] == "call_0"


def test_calls_without_an_id_get_one() -> None:
    parts = [{"functionCall": {"name": "grep", "args": {"n": n}}} for n in (1, 2)]
    outcome = played("gemini", gemini_chunk(*parts, finish="STOP"))
    ids = [call.id for call in outcome.calls]
    assert len(set(ids)) == 2
    assert all(ids)


def test_the_first_sign_of_a_call_comes_before_its_arguments() -> None:
    """The guard closes a fast stream at this sign."""
    for name, dialect in DIALECTS.items():
        skip_without_sdk(name)
        events = dialect.calls([("c1", "read_file", ['{"path": "a"}'])])
        outcome = played(name, *events[: 2 if name != "gemini" else 1], Cut("end"))
        assert [call.name for call in outcome.started] == ["read_file"], name


@pytest.mark.parametrize("name", DIALECTS)
def test_three_times_first_chunk_first_reasoning_first_answer(name: str) -> None:
    """A first chunk that shows nothing, then reasoning, then text: each is seen before the next is sent."""
    streams: dict[str, tuple[Sequence[bytes], Sequence[bytes], Sequence[bytes]]] = {
        "openai": ([chat_chunk({"role": "assistant"})], [chat_chunk({"reasoning": "hm"})], chat_end("stop")),
        "qwen": (
            [chat_chunk({"role": "assistant", "content": None, "reasoning_content": ""})],
            [chat_chunk({"reasoning_content": "hm"})],
            chat_end("stop"),
        ),
        "openai-responses": (
            [responses_event("response.created", response={"id": "r", "status": "in_progress"})],
            [responses_event("response.output_item.added", output_index=0, item={"type": "reasoning", "id": "rs"})],
            responses_stop("completed"),
        ),
        "anthropic": (
            [anthropic_start()],
            anthropic_block(0, {"type": "redacted_thinking", "data": "x"}),
            [*anthropic_block(1, {"type": "text", "text": "Hi"}), *anthropic_end()],
        ),
        "gemini": (
            [gemini_chunk({"text": ""})],
            [gemini_chunk({"text": "hm", "thought": True})],
            gemini_stop("STOP"),
        ),
    }

    async def run() -> list[str]:
        chunk, reasoning = asyncio.Event(), asyncio.Event()
        first, second, rest = streams[name]
        seen: list[str] = []
        async with Peer([answer(*first, Until(chunk), *second, Until(reasoning), *rest)]) as peer:
            given = provider(name, peer.url)
            async with asyncio.timeout(PATIENCE_S):
                async for event in given.stream(request(name)):
                    chunk.set()
                    if isinstance(event, ReasoningDelta):
                        reasoning.set()
                        seen.append("reasoning")
                    elif isinstance(event, TextDelta) and event.text:
                        seen.append("answer")
                    elif not seen:
                        seen.append("chunk")
            await given.close()
        return seen

    skip_without_sdk(name)
    assert asyncio.run(run()) == ["chunk", "reasoning", "answer"]


def test_dashscopes_way_of_writing() -> None:
    outcome = played("qwen", *dashscope_calls([("c1", "read_file", ['{"pa', 'th": "a"}'])]))
    assert [json.loads(call.arguments) for call in outcome.calls] == [{"path": "a"}]
    assert "".join(event.text for event in outcome.of(ReasoningDelta)) == "hm"


def test_a_failed_response_carries_its_usage() -> None:
    failed = responses_event(
        "response.failed",
        response={
            "status": "failed",
            "error": {"code": "rate_limit_exceeded", "message": "hunter2"},
            "usage": {"input_tokens": 5, "output_tokens": 2, "total_tokens": 7},
        },
    )
    error = played("openai-responses", failed).error
    assert error is not None
    assert (error.kind, error.usage) == ("rate_limit", UsageReport(input=5, output=2))


@pytest.mark.parametrize("name", DIALECTS)
def test_an_event_of_a_megabyte(name: str) -> None:
    dialect = DIALECTS[name]
    big = "世" * 350_000
    assert played(name, *dialect.opening, dialect.text_event(big), *dialect.ending).text == big


@pytest.mark.parametrize("name", DIALECTS)
def test_one_connection_serves_request_after_request(name: str) -> None:
    async def run() -> int:
        async with Peer([answer(*DIALECTS[name].recorded)]) as peer:
            given = provider(name, peer.url)
            for _ in range(3):
                assert (await collect(given, request(name))).kind == "whole"
            await given.close()
            return peer.connections

    skip_without_sdk(name)
    assert asyncio.run(run()) == 1


def test_a_provider_serves_one_event_loop_after_another() -> None:
    skip_without_sdk("openai")
    given: list[Any] = []

    async def run() -> str:
        async with Peer([answer(*OPENAI.recorded)]) as peer:
            given.append(provider("openai", peer.url) if not given else given[0])
            given[0].options = given[0].chat = type(given[0].chat)(base_url=f"{peer.url}/v1", api_key="k")
            return (await collect(given[0], request("openai"))).kind

    assert [asyncio.run(run()), asyncio.run(run())] == ["whole", "whole"]


@pytest.mark.parametrize("name", DIALECTS)
def test_without_a_key_it_says_so(name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    skip_without_sdk(name)
    for variable in (
        "OPENAI_API_KEY", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "GEMINI_API_KEY", "GOOGLE_API_KEY",
        "DASHSCOPE_API_KEY",
    ):  # fmt: skip
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    options = {"key_variable": "DASHSCOPE_API_KEY"} if name == "qwen" else {}
    outcome = asyncio.run(ask(name, "http://127.0.0.1:1", api_key=None, **options))
    assert outcome.error is not None
    assert outcome.kind == "auth"
    assert ("DASHSCOPE_API_KEY" in str(outcome.error)) == (name == "qwen")


def test_usage_of_the_input_stands_even_where_nothing_else_came() -> None:
    error = played("anthropic", anthropic_start(), Cut("reset")).error
    assert error is not None
    assert error.usage == UsageReport(
        input=ANTHROPIC_INPUT["input_tokens"], cache_read=ANTHROPIC_INPUT["cache_read_input_tokens"], cache_write=0
    )


@pytest.mark.parametrize("name", ["openai", "anthropic", "gemini"])
def test_200_streams_are_open_at_once(name: str) -> None:
    """None waits for another: the answers go on only when all requests have arrived."""
    count = 200
    dialect = DIALECTS[name]

    async def run() -> list[str]:
        everyone = asyncio.Event()
        peer: Peer

        def script(_: Arrived) -> Answer:
            if len(peer.requests) == count:
                everyone.set()
            return answer(*dialect.recorded[:1], Until(everyone), *dialect.recorded[1:])

        async with Peer(script) as peer:
            given = provider(name, peer.url)
            async with asyncio.timeout(PATIENCE_S):
                outcomes = await asyncio.gather(*(collect(given, request(name)) for _ in range(count)))
            await given.close()
        return [outcome.kind for outcome in outcomes]

    skip_without_sdk(name)
    assert asyncio.run(run()) == ["whole"] * count
