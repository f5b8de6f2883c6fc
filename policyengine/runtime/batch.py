"""The tool calls of one round: confirmed, run, and put into the history one by one."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from policyengine.kinds.batch import BatchCall
from policyengine.kinds.prompt_size import Sizes
from policyengine.runtime.core import Core
from policyengine.runtime.events import ConfirmationAsked, Degraded, ToolEnded, ToolStarted
from policyengine.runtime.messages import Call, Message, Text
from policyengine.runtime.prevalidation import Prevalidation
from policyengine.runtime.sizing import message_sizes
from policyengine.runtime.tools import Permission, Ran, Tool, ToolTexts, groups, run_call
from policyengine.runtime.tracing import Span
from policyengine.sessions.content import fingerprint
from policyengine.sessions.model import Said, ToolCall, ToolResult


@dataclass(slots=True)
class BatchRun:
    """A batch that was run: each call as decisions see it, and as the facts about calls take it."""

    calls: list[BatchCall] = field(default_factory=list)
    recorded: list[ToolCall] = field(default_factory=list)
    output: Sizes = field(default_factory=Sizes)
    model: str | None = None
    """A model that a skill asked for."""


class Confirmations:
    """Questions to the person that wait for an answer, by call id."""

    def __init__(self) -> None:
        self._waiting: dict[str, asyncio.Future[bool]] = {}

    def ask(self, call_id: str) -> asyncio.Future[bool]:
        """A new question."""
        answer: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._waiting[call_id] = answer
        return answer

    def answer(self, call_id: str, yes: bool) -> bool:
        """The person's answer. False where nothing was asked."""
        waiting = self._waiting.pop(call_id, None)
        if waiting is None or waiting.done():
            return False
        waiting.set_result(yes)
        return True

    def drop(self, call_id: str) -> None:
        """The question is void."""
        self._waiting.pop(call_id, None)


class BatchRunner:
    """Runs batches of one session."""

    def __init__(self, core: Core, confirmations: Confirmations) -> None:
        self._core = core
        self._confirmations = confirmations

    def kind_of(self, tool: Tool | None, call: Call) -> tuple[str, bool]:
        """What a call does, and whether it comes from an MCP server: the tool's own word, else the catalogue's."""
        about = self._core.live().loop.classify(call.name, call.arguments)
        kind = tool.kind if tool is not None and tool.kind is not None else about["kind"]
        mcp = tool.mcp if tool is not None and tool.mcp is not None else about["mcp"]
        return kind, mcp

    def unknown_kinds(self) -> tuple[str, ...]:
        """The tools of which nobody says what they do."""
        classify = self._core.live().loop.classify
        unstated = [tool.name for tool in self._core.tools.values() if tool.kind is None and not tool.mcp]
        return tuple(name for name in unstated if not (about := classify(name, {}))["listed"] and not about["mcp"])

    async def run(self, calls: Sequence[Call], early: Prevalidation, *, parent: Span | None = None) -> BatchRun:
        """Run the calls; the history holds a placeholder for each that has not come back."""
        core = self._core
        kinds = {call.id: self.kind_of(core.tools.get(call.name), call) for call in calls}
        limits = {i: core.advisor.ask("ToolLimits", {"kind": kind, "mcp": mcp}) for i, (kind, mcp) in kinds.items()}
        ran: dict[str, Ran] = {}
        for group in groups(calls, {i: one["parallel"] for i, one in limits.items()}):
            async with asyncio.TaskGroup() as tasks:
                for call in group:
                    tasks.create_task(self._one(call, kinds[call.id], limits[call.id], early, ran, parent))
        return self._batch(calls, kinds, ran)

    async def _one(
        self,
        call: Call,
        kind: tuple[str, bool],
        limits: Mapping[str, Any],
        early: Prevalidation,
        ran: dict[str, Ran],
        parent: Span | None,
    ) -> None:
        core = self._core
        tool = core.tools.get(call.name)
        texts = ToolTexts(core.live().settings)
        begun = time.monotonic()
        permission = await self._permission(call, tool, kind[0], early)
        if permission == "refuse":
            done = texts.refusal(call, "refused", cancelled=True)
        else:
            core.say(ToolStarted(call.id, call.name, kind[0], call.arguments))
            span = core.tracing.start(
                f"execute_tool {call.name}",
                {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": call.name},
                parent,
            )
            error: str | None = "cancelled"
            try:
                done = await run_call(call, tool, limits, texts)
                error = "tool_error" if done.result.error else None
            finally:
                span.end(error)
        ran[call.id] = done
        core.history.settle(done.result)
        said = Said(
            *kind, done.output.skip_llm_round is True, done.output.result_is_terminal is True, done.output.model
        )
        core.transcript.result(done.result, None, core.now_ms(), said)
        result = done.result
        took = round((time.monotonic() - begun) * 1000)
        text = "\n".join(part.text for part in result.parts if isinstance(part, Text))
        core.say(ToolEnded(call.id, call.name, result.error, result.cancelled, done.output_bytes, done.cut, took, text))

    async def _permission(self, call: Call, tool: Tool | None, kind: str, early: Prevalidation) -> Permission:
        core = self._core
        if tool is None or call.raw_arguments is not None:
            return "allow"
        try:
            permission = await early.permission(call, tool)
        except Exception as error:
            core.say(Degraded("prevalidation", "the person is asked", type(error).__name__))
            permission = "ask"
        if permission != "ask":
            return permission
        answer = self._confirmations.ask(call.id)
        core.presentation.at("confirmation_asked")
        core.say(ConfirmationAsked(call.id, call.name, kind, call.arguments))
        try:
            yes = await answer
        finally:
            self._confirmations.drop(call.id)
        core.presentation.at("confirmation_given")
        return "allow" if yes else "refuse"

    def _batch(self, calls: Sequence[Call], kinds: Mapping[str, tuple[str, bool]], ran: Mapping[str, Ran]) -> BatchRun:
        batch = BatchRun()
        tokenizer, _ = self._core.live().loop.tokenizer()
        for call in calls:
            done = ran[call.id]
            kind, mcp = kinds[call.id]
            about = self._core.live().loop.classify(call.name, call.arguments)
            batch.calls.append(
                BatchCall(
                    call.name,
                    kind,
                    about["tool"],
                    error=done.result.error,
                    cancelled=done.result.cancelled,
                    mcp=mcp,
                    declares_skip=done.output.skip_llm_round is True,
                    declares_terminal=done.output.result_is_terminal is True,
                )
            )
            arguments = call.raw_arguments if call.raw_arguments is not None else dict(call.arguments)
            outcome = ToolResult((), 0, done.result.error, done.result.cancelled)
            batch.recorded.append(ToolCall(call.id, call.name, arguments, fingerprint(arguments), outcome))
            batch.output += message_sizes(Message("tool", (done.result,)), tokenizer)
            batch.model = done.output.model or batch.model
        return batch
