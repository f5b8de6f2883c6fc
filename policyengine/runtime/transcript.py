"""The recording of a session: chat records in qwen-code's form, which `replay` reads, and which can be resumed.

One record an event. What another reader needs stands under its names; what only a resumed session needs (thinking
blocks, ids, the whole messages of a compaction) stands under `policyengine` beside it.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any

from policyengine.runtime.events import Tokens
from policyengine.runtime.history import HistoryError
from policyengine.runtime.message_json import as_json, from_json
from policyengine.runtime.messages import Call, Image, Message, Result, Text, Thinking
from policyengine.sessions.content import to_json
from policyengine.sessions.model import Said
from policyengine.sessions.qwen_code import BEGUN, OWN
from policyengine.source.errors import InputError

_FINISH = {"stop": "STOP", "tool_calls": "STOP", "length": "MAX_TOKENS", "content_filter": "SAFETY", "error": "OTHER"}
_LOOKED_AT = 50
"""Lines that are looked at to tell a saved session from any other file."""


def is_saved_session(path: Path) -> bool:
    """Whether a file looks like a session that was saved here. Raises `InputError` where it cannot be read."""
    try:
        with path.open("rb") as file:
            for line in islice(file, _LOOKED_AT):
                try:
                    record = json.loads(line)
                except (ValueError, RecursionError):
                    return False
                if isinstance(record, dict) and OWN in record:
                    return True
    except OSError as error:
        raise InputError(f"{path}: the file cannot be read: {error.strerror}") from None
    return False


class Transcript:
    """Records of one session, in the order in which things happened."""

    def __init__(self, session_id: str, records: Sequence[Mapping[str, Any]] = ()) -> None:
        self._session_id = session_id
        self._records: list[Mapping[str, Any]] = list(records)

    @property
    def records(self) -> tuple[Mapping[str, Any], ...]:
        """The records as they are now."""
        return tuple(self._records)

    def user(self, message: Message, turn_kind: str, now_ms: int, *, model: str | None = None) -> None:
        """A person's message, or what started the turn in their place; `model` is an explicit choice for the turn."""
        subtype = {"subtype": turn_kind} if turn_kind != "interactive" else {}
        own = {"model": model} if model is not None else {}
        self._add("user", now_ms, message, own, role="user", **subtype)

    def starts(self) -> tuple[int, int]:
        """How many messages started a turn, and how many of them the person sent."""
        kinds = [record.get("subtype") for record in self._records if record.get("type") == "user"]
        return len(kinds), kinds.count(None)

    def answer(
        self, message: Message, now_ms: int, *, model: str, tokens: Tokens, finish: str, window: int | None
    ) -> None:
        """A finished answer. Counts are in one sense for all providers: a prompt holds what was cached."""
        usage = {
            "promptTokenCount": tokens.prompt if tokens.prompt_source == "usage" else None,
            "cachedContentTokenCount": tokens.cached,
            "candidatesTokenCount": tokens.output if tokens.output_source == "usage" else None,
            "thoughtsTokenCount": tokens.reasoning,
        }
        known = {name: count for name, count in usage.items() if count is not None}
        about: dict[str, Any] = {"model": model, "finishReason": _FINISH.get(finish, "OTHER")}
        if known:
            about["usageMetadata"] = known
        if window is not None:
            about["contextWindowSize"] = window
        self._add("assistant", now_ms, message, {}, role="model", **about)

    def result(self, result: Result, prompt_id: str | None, now_ms: int, said: Said) -> None:
        """The result of one call, with what its tool says of it."""
        status = "cancelled" if result.cancelled else "error" if result.error else "success"
        message = Message("tool", (result,), prompt_id)
        self._add(
            "tool_result",
            now_ms,
            message,
            {"tool": asdict(said)},
            role="user",
            toolCallResult={"callId": result.call_id, "status": status},
        )

    def compaction(self, messages: Sequence[Message], now_ms: int, *, tokens: int, forced: bool) -> None:
        """A compaction that was accepted; `messages` is the whole history after it."""
        payload = {
            "info": {
                "originalTokenCount": tokens,
                "compressionStatus": 1,
                "triggerReason": "forced" if forced else "auto",
            },
            "compressedHistory": [
                {"role": "model" if m.role == "assistant" else "user", "parts": _parts(m)} for m in messages
            ],
        }
        own = {"messages": [as_json(message) for message in messages]}
        self._records.append(
            {**self._frame("system", now_ms), "subtype": "chat_compression", "systemPayload": payload, OWN: own}
        )

    def cleared(self, now_ms: int) -> None:
        """The person started anew."""
        self._records.append({**self._frame("system", now_ms), "subtype": "cleared", OWN: {"messages": []}})

    def messages(self) -> list[Message]:
        """The history that the records tell, as it was recorded: it may need repair."""
        found: list[Message] = []
        for record in self._records:
            own = record.get(OWN)
            if not isinstance(own, Mapping):
                continue
            if "messages" in own:
                found = [from_json(message) for message in own["messages"]]
            elif "message" in own:
                message = from_json(own["message"])
                if message.role == "tool" and found and found[-1].role == "tool":
                    message = Message("tool", found.pop().blocks + message.blocks, message.prompt_id)
                found.append(message)
        return found

    def save(self, path: str | Path) -> None:
        """Write all records to a file, whole or not at all. Raises `InputError` where it cannot be written."""
        target = Path(path)
        try:
            handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
            try:
                with os.fdopen(handle, "w", encoding="utf-8", errors="replace") as file:
                    for record in self._records or (self._begun(),):
                        file.write(to_json(record) + "\n")
                    file.flush()
                    os.fsync(file.fileno())
                os.replace(name, target)
            except BaseException:
                os.unlink(name)
                raise
        except OSError as error:
            raise InputError(f"{target}: the session cannot be saved: {error.strerror}") from None

    @classmethod
    def load(cls, path: str | Path) -> Transcript:
        """Records out of a file. A last line that was cut off is left out; `InputError` for anything else."""
        try:
            lines = Path(path).read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"{path}: the session cannot be read: {type(error).__name__}") from None
        records: list[Mapping[str, Any]] = []
        for number, line in enumerate(lines, start=1):
            try:
                record = json.loads(line)
            except ValueError:
                if number == len(lines):
                    break
                raise InputError(f"{path}:{number}: this line of the session is no JSON") from None
            if not isinstance(record, dict):
                raise InputError(f"{path}:{number}: a record of a session is a JSON object")
            records.append(record)
        if not any(OWN in record for record in records):
            raise InputError(f"{path}: this is no session that was saved here; `policyengine replay` may still read it")
        name = next((str(record["sessionId"]) for record in records if record.get("sessionId")), "session")
        transcript = cls(name, records)
        try:
            transcript.messages()
        except HistoryError as error:
            raise InputError(f"{path}: {error}") from None
        return transcript

    @property
    def session_id(self) -> str:
        """The session's id."""
        return self._session_id

    def _add(
        self, kind: str, now_ms: int, message: Message, own: Mapping[str, Any], *, role: str, **about: Any
    ) -> None:
        self._records.append(
            {
                **self._frame(kind, now_ms),
                "message": {"role": role, "parts": _parts(message)},
                **about,
                OWN: {"message": as_json(message), **own},
            }
        )

    def _begun(self) -> dict[str, Any]:
        """What a session says of itself that holds nothing yet: a file without it would be no session."""
        return {**self._names("system"), "subtype": BEGUN, "systemPayload": {}, OWN: {"messages": []}}

    def _frame(self, kind: str, now_ms: int) -> dict[str, Any]:
        moment = datetime.fromtimestamp(now_ms / 1000, UTC).isoformat(timespec="milliseconds")
        return {**self._names(kind), "timestamp": moment}

    def _names(self, kind: str) -> dict[str, Any]:
        number = len(self._records)
        return {
            "uuid": f"{self._session_id}-{number}",
            "parentUuid": f"{self._session_id}-{number - 1}" if number else None,
            "sessionId": self._session_id,
            "type": kind,
        }


def _parts(message: Message) -> list[dict[str, Any]]:
    """A message's blocks as Gemini parts. Reasoning is named, not shown: it is kept for a resumed session only."""
    parts: list[dict[str, Any]] = []
    for block in message.blocks:
        match block:
            case Text(text):
                parts.append({"text": text})
            case Image():
                parts.append(_image(block))
            case Thinking(text=text):
                parts.append({"text": text, "thought": True})
            case Call(call_id, name, arguments, raw):
                parts.append(
                    {"functionCall": {"id": call_id, "name": name, "args": raw if raw is not None else dict(arguments)}}
                )
            case Result():
                parts.append(_response(block))
    return parts


def _response(result: Result) -> dict[str, Any]:
    text = "\n".join(part.text for part in result.parts if isinstance(part, Text))
    answer: dict[str, Any] = {
        "id": result.call_id,
        "name": result.name,
        "response": {"error" if result.error else "output": text},
    }
    images = [_image(part) for part in result.parts if isinstance(part, Image)]
    if images:
        answer["parts"] = images
    return {"functionResponse": answer}


def _image(image: Image) -> dict[str, Any]:
    return {"inlineData": {"mimeType": image.media_type, "data": image.data}}
