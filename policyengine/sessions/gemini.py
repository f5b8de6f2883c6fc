"""Gemini contents, as a JSON document or as JSONL.

A content of the user role starts a turn unless it brings function responses. Calls and responses pair by id
where they have one, else by name in order. Field names may be in camel case, as the API writes them, or in snake case,
as the objects of Google's SDK for Python are written out.
"""

from __future__ import annotations

from typing import Final

from policyengine.sessions.build import Builder, RoundDraft
from policyengine.sessions.content import (
    Json,
    as_count,
    as_dict,
    as_list,
    as_str,
    call_part,
    json_part,
    media_part,
    parse_arguments,
    reported,
    size,
    text_part,
    time_ms,
    to_json,
)
from policyengine.sessions.model import Part, Said, Session, Usage


class GeminiReader:
    """Reads the contents of one list."""

    def __init__(self, path: str) -> None:
        self.builder = Builder(path, "gemini", "gemini")
        self._model: str | None = None
        self._draft: RoundDraft | None = None

    def header(self, fields: Json) -> None:
        """Take what stands around the contents: the model, the system instruction and tool definitions."""
        fields = _as_sent(fields)
        self._model = as_str(fields.get("model")) or as_str(fields.get("modelVersion"))
        self.builder.add(user_part(part) for part in parts_of(fields.get("systemInstruction")))
        self.builder.add(json_part(tool) for tool in as_list(fields.get("tools")))

    def again(self) -> None:
        """Give nothing: one reading is enough."""

    def record(self, content: Json) -> str | None:
        """Take one content; give the reason if it is no part of the session."""
        content = _as_sent(content)
        role = content.get("role")
        if not isinstance(content.get("parts"), list):
            return "unknown type"
        parts = parts_of(content)
        moment = time_ms(content.get("timestamp"))
        if role == "model":
            draft = self._response(content)
            draft.timestamp_ms = moment or draft.timestamp_ms
            for part in parts:
                take_output(self.builder, draft, part)
            return None
        self._draft = None
        self.builder.time(moment)
        if role == "system":
            self.builder.add(user_part(part) for part in parts)
        elif role in ("user", "function", None):
            if not take_user(self.builder, parts):
                self.builder.turn(prompt_of(parts), join=True)
        else:
            return "unknown type"
        return None

    def finish(self, skipped: dict[str, int], lines: int) -> Session:
        """Give the session."""
        return self.builder.done(skipped, lines)

    def _response(self, content: Json) -> RoundDraft:
        usage = read_usage(content.get("usageMetadata"))
        draft = self._draft
        if draft is None or (usage is not None and draft.usage is not None):
            draft = self._draft = self.builder.respond()
            draft.model = self._model
        draft.usage = usage or draft.usage
        draft.model = as_str(content.get("modelVersion")) or as_str(content.get("model")) or draft.model
        draft.stop_reason = as_str(content.get("finishReason")) or draft.stop_reason
        return draft


def parts_of(content: object) -> list[Json]:
    """Give a content's parts; a string is one text."""
    if isinstance(content, str):
        return [{"text": content}]
    return [
        {"text": part} if isinstance(part, str) else _as_sent(part, _INNER)
        for part in as_list(as_dict(content).get("parts"))
        if isinstance(part, (dict, str))
    ]


_INNER: Final = frozenset({"functionCall", "functionResponse", "inlineData", "fileData"})
"""Fields of a part with fields of their own. The arguments of a call and what it gave stand deeper, as they are."""


def _as_sent(fields: Json, inner: frozenset[str] = frozenset()) -> Json:
    """Give the fields, and those of the `inner` ones, as the API names them; one that is null says nothing."""
    found: Json = {}
    for key, value in fields.items():
        if value is not None:
            name = _camel(key)
            found[name] = _as_sent(value) if name in inner and isinstance(value, dict) else value
    return found


def _camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(word.capitalize() for word in others) if first and others else name


def prompt_of(parts: list[Json]) -> str:
    """Text of the parts that are text."""
    return "\n".join(str(part["text"]) for part in parts if as_str(part.get("text"))).strip()


def user_part(part: Json, call_id: str | None = None) -> Part:
    """Make a part of what the model receives."""
    text = part.get("text")
    if isinstance(text, str):
        return text_part(text)
    media = as_dict(part.get("inlineData")) or as_dict(part.get("fileData"))
    if media:
        mime = as_str(media.get("mimeType")) or ""
        payload = media.get("data") or media.get("fileUri") or media
        return media_part("image" if mime.startswith("image/") else "document", payload, call_id)
    return json_part(part, call_id)


def take_user(
    builder: Builder,
    parts: list[Json],
    *,
    error: bool | None = None,
    cancelled: bool = False,
    said: Said | None = None,
) -> bool:
    """Take the parts of a content of the user role; tell whether function responses were among them.

    `error` overrides what the response itself says: by convention of the API it holds `error` or `output`. `said` is
    the tool's own word.
    """
    found = False
    for part in parts:
        answer = part.get("functionResponse")
        if not isinstance(answer, dict):
            builder.add([user_part(part)])
            continue
        found = True
        call_id = as_str(answer.get("id")) or builder.open_call_named(as_str(answer.get("name")) or "")
        response = as_dict(answer.get("response"))
        failed = True if "error" in response else False if "output" in response else None
        builder.result(
            call_id,
            _result_parts(answer, call_id),
            error=None if cancelled else failed if error is None else error,
            cancelled=cancelled,
            said=said,
        )
    return found


def _result_parts(answer: Json, call_id: str | None) -> list[Part]:
    """What a function response says."""
    response = as_dict(answer.get("response"))
    only = next(iter(response.values())) if len(response) == 1 else None
    text = only if isinstance(only, str) else to_json(answer.get("response"))
    return [
        Part("tool_result", text, size(text), call_id),
        *(user_part(inner, call_id) for inner in parts_of(answer)),
    ]


def history_parts(content: object) -> list[Part]:
    """The parts of a content of either role, each as it was when it was said first."""
    found: list[Part] = []
    for part in parts_of(content):
        call, answer = part.get("functionCall"), part.get("functionResponse")
        if isinstance(call, dict):
            name, call_id = as_str(call.get("name")) or "", as_str(call.get("id"))
            found.append(call_part(name, parse_arguments(call.get("args")), call_id))
        elif isinstance(answer, dict):
            found += _result_parts(answer, as_str(answer.get("id")))
        elif isinstance(part.get("text"), str) and part.get("thought"):
            found.append(text_part(str(part["text"]), "thinking"))
        else:
            found.append(user_part(part))
    return found


def take_output(builder: Builder, draft: RoundDraft, part: Json) -> None:
    """Take a part of a response."""
    call = part.get("functionCall")
    text = part.get("text")
    if isinstance(call, dict):
        builder.called(draft, as_str(call.get("id")), as_str(call.get("name")) or "", call.get("args"))
    elif isinstance(text, str):
        draft.output.append(text_part(text, "thinking" if part.get("thought") else "text"))
    elif part and set(part) != {"thoughtSignature"}:
        draft.output.append(user_part(part))


def read_usage(value: object) -> Usage | None:
    """Read `usageMetadata`."""
    fields = _as_sent(as_dict(value))
    return reported(
        Usage(
            input=as_count(fields.get("promptTokenCount")),
            cache_read=as_count(fields.get("cachedContentTokenCount")),
            output=as_count(fields.get("candidatesTokenCount")),
            reasoning=as_count(fields.get("thoughtsTokenCount")),
        )
    )
