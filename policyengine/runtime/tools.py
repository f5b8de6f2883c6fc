"""Tools: what an agent registers, and how one call is run so that whatever it does ends in a result."""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import threading
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from policyengine.runtime.messages import Call, Image, Result, Text
from policyengine.runtime.provider import ToolSpec
from policyengine.runtime.stated import stated, stated_as, stated_text
from policyengine.sessions.content import to_json
from policyengine.source.errors import InputError
from policyengine.source.foreign_schema import ForeignSchema, ForeignSchemaError, UncheckableError

Permission: TypeAlias = Literal["allow", "ask", "refuse"]
_GRACE_S = 1.0
"""How long a stopped tool may take to clean up before it is left to itself."""


@dataclass(frozen=True, slots=True)
class ToolOutput:
    """What a tool gives back.

    `error` is the tool's own word; words in the output are never looked at. `skip_llm_round` and
    `result_is_terminal` are what it declares (None: nothing). `model` is the model that a skill wants for the rest of
    the turn. Raises `InputError` for fields of another type.
    """

    text: str = field(default="", repr=False)
    images: tuple[Image, ...] = field(default=(), repr=False)
    error: bool = False
    skip_llm_round: bool | None = None
    result_is_terminal: bool | None = None
    model: str | None = None

    def __post_init__(self) -> None:
        stated_text(self.text, "the text of a ToolOutput")
        for image in stated_as(self.images, "images of a ToolOutput", "a tuple of Image", (tuple, list)):
            stated_as(image, "each of the images of a ToolOutput", "an Image", Image)
        stated_as(self.error, "error of a ToolOutput", "true or false", bool)
        for name in ("skip_llm_round", "result_is_terminal"):
            stated_as(getattr(self, name), f"{name} of a ToolOutput", "true, false or None", bool, optional=True)
        stated_as(self.model, "model of a ToolOutput", "a name, or None", str, optional=True)


Function: TypeAlias = Callable[[Mapping[str, Any]], "ToolOutput | str | Awaitable[ToolOutput | str]"]
Check: TypeAlias = Callable[[Mapping[str, Any]], "Permission | Awaitable[Permission]"]
Target: TypeAlias = Callable[[Mapping[str, Any]], str | None]


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool.

    `run` takes the arguments and may be async; a plain function runs in a thread. `check` says whether a call may
    run, has to be confirmed by the person, or is refused; it may start while the stream still runs. `kind` and `mcp`
    are taken from the tool catalogue where they are None. `target` names the file that an edit would change.

    `parameters` is a JSON Schema that is checked here, as a whole, whoever wrote it. Arguments that do not fit it never
    reach the tool; nothing that it refers to is fetched.

    Raises `InputError` where something of it cannot be used.
    """

    name: str
    description: str
    parameters: Mapping[str, Any]
    run: Function
    kind: str | None = None
    mcp: bool | None = None
    check: Check | None = None
    target: Target | None = None
    schema: ForeignSchema = field(init=False, repr=False, compare=False)
    definition: str = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        stated_text(self.name, "the name of a tool", empty=False)
        stated_text(self.description, f"the description of the tool {self.name}")
        stated_as(self.run, f"`run` of the tool {self.name}", "a function that takes the arguments", callable)
        for name, value in (("check", self.check), ("target", self.target)):
            expected = "a function that takes the arguments, or None"
            stated_as(value, f"`{name}` of the tool {self.name}", expected, callable, optional=True)
        if self.kind is not None:
            stated(self.kind, "kind", "tool-limits")
        if self.mcp is not None:
            stated(self.mcp, "mcp", "tool-limits")
        try:
            object.__setattr__(self, "schema", ForeignSchema(self.parameters))
        except ForeignSchemaError as error:
            raise InputError(f"the tool {self.name} cannot be used: the schema of its parameters: {error}") from None
        # Written out once: every send measures it and asks whether it has changed.
        object.__setattr__(self, "definition", self.name + self.description + to_json(dict(self.parameters)))

    @property
    def spec(self) -> ToolSpec:
        """As a model sees it."""
        return ToolSpec(self.name, self.description, self.parameters)


@dataclass(frozen=True, slots=True)
class Ran:
    """One call that was run: what the history gets, and what the tool declared."""

    result: Result
    output: ToolOutput
    output_bytes: int
    cut: bool


class ToolTexts:
    """What a call gets as a result where its tool gave none."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self.settings = settings

    def refusal(self, call: Call, why: str, detail: str = "", *, cancelled: bool = False) -> Ran:
        """A result that says `why` (a name in the settings). `detail` is for the model only."""
        text = str(self.settings[why]) + (f" {detail}" if detail else "")
        output = ToolOutput(text, error=not cancelled)
        return Ran(
            Result(call.id, call.name, (Text(text),), not cancelled, cancelled), output, len(text.encode()), False
        )


async def run_call(call: Call, tool: Tool | None, limits: Mapping[str, Any], texts: ToolTexts) -> Ran:
    """Run one call within its limits (`timeout_ms`, `output_bytes`). Only cancellation of the caller is raised."""
    if tool is None:
        return texts.refusal(call, "unknown_tool")
    if call.raw_arguments is not None:
        return texts.refusal(call, "bad_arguments")
    wrong = wrong_arguments(tool.schema, call.arguments)
    if wrong is not None:
        return texts.refusal(call, "bad_arguments", wrong)
    task = asyncio.ensure_future(_run(tool, call.arguments))
    try:
        done, _ = await asyncio.wait({task}, timeout=limits["timeout_ms"] / 1000)
    except asyncio.CancelledError:
        await _stop(task)
        raise
    if not done:
        await _stop(task)
        return texts.refusal(call, "timed_out")
    if task.cancelled():
        return texts.refusal(call, "cancelled", cancelled=True)
    output = task.result()
    if isinstance(output, BaseException):
        return texts.refusal(call, "failed", f"{type(output).__name__}: {output}"[:2000])
    return _ran(call, output, limits["output_bytes"], str(texts.settings["cut"]))


async def _run(tool: Tool, arguments: Mapping[str, Any]) -> ToolOutput | BaseException:
    """The tool's output, or what it raised; a tool that exits must not take the loop with it."""
    try:
        if inspect.iscoroutinefunction(tool.run):
            given = await tool.run(arguments)
        else:
            given = await _in_thread(tool.run, arguments)
            if inspect.isawaitable(given):
                given = await given
        if isinstance(given, ToolOutput):
            return given
        return ToolOutput(given if isinstance(given, str) else str(given))
    except asyncio.CancelledError:
        raise
    except (Exception, SystemExit) as error:
        return error


async def _in_thread(function: Function, arguments: Mapping[str, Any]) -> Any:
    """Run a plain function in a thread of its own. One that hangs then takes no place of a pool, and holds up neither
    another tool nor the end of the process."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[Any] = loop.create_future()

    def tell(outcome: Any, error: BaseException | None) -> None:
        if done.done():
            return
        if error is not None:
            done.set_exception(error)
        else:
            done.set_result(outcome)

    def run() -> None:
        outcome: Any = None
        failure: BaseException | None = None
        try:
            outcome = context.run(function, arguments)
        except StopIteration:
            # A future cannot carry it.
            failure = RuntimeError("StopIteration")
        except BaseException as error:
            failure = error
        with suppress(RuntimeError):
            # The loop is closed where nobody waits any more.
            loop.call_soon_threadsafe(tell, outcome, failure)

    context = contextvars.copy_context()
    threading.Thread(target=run, name="policyengine-tool", daemon=True).start()
    return await done


async def _stop(task: asyncio.Future[Any]) -> None:
    """Cancel a tool and wait a moment. One that does not stop is left to itself; what it says is not looked at."""
    task.cancel()
    task.add_done_callback(lambda done: done.cancelled() or done.exception())
    await asyncio.wait({task}, timeout=_GRACE_S)


def _ran(call: Call, output: ToolOutput, limit: int, mark: str) -> Ran:
    data = output.text.encode("utf-8", "replace")
    cut = len(data) > limit
    # A character that the cut would split is left out.
    text = data[:limit].decode("utf-8", "ignore") + f"\n{mark}" if cut else data.decode()
    parts: tuple[Text | Image, ...] = (Text(text), *output.images)
    return Ran(Result(call.id, call.name, parts, output.error), output, len(data), cut)


def wrong_arguments(schema: ForeignSchema, arguments: Mapping[str, Any]) -> str | None:
    """Where arguments do not fit a tool's schema, or why that cannot be told, for the model; None where they fit."""
    try:
        wrong = schema.misfit(dict(arguments))
    except UncheckableError as error:
        wrong = f"not checked, and the tool was not run: {error}"
    return None if wrong is None else f"({wrong})"


def groups(calls: Sequence[Call], parallel: Mapping[str, bool]) -> list[list[Call]]:
    """Calls in the order in which they run: those of one group beside each other. `parallel` is by call id."""
    found: list[list[Call]] = []
    for call in calls:
        if found and parallel[call.id] and parallel[found[-1][0].id]:
            found[-1].append(call)
        else:
            found.append([call])
    return found
