"""qwen-code chat records: JSONL, one record an event, with contents in Gemini's form.

One assistant record is one response. A `chat_compression` record carries the new history; the message about
to be sent is not part of it and goes out after it; in the recordings of our own runtime, which are of this form too,
it is part of it. Records are a tree by `parentUuid`; they are read in file order.
"""

from __future__ import annotations

from typing import Final

from policyengine.sessions.build import Builder
from policyengine.sessions.content import Json, as_count, as_dict, as_list, as_str, time_ms
from policyengine.sessions.gemini import history_parts, parts_of, prompt_of, read_usage, take_output, take_user
from policyengine.sessions.model import Said, Session, Trigger, TurnKind

OWN: Final = "policyengine"
"""Key of what a record holds beside qwen-code's own fields, where our runtime wrote it."""
BEGUN: Final = "begun"
"""What our runtime calls the record of a session in which nothing has happened."""
_COMPRESSED: Final = 1  # CompressionStatus.COMPRESSED; every other status left the history as it was
_TURN_KINDS: Final[dict[str, TurnKind]] = {
    "notification": "notification",
    "cron": "cron",
    "subagent": "subagent",
}


class QwenCodeReader:
    """Reads the records of one chat."""

    def __init__(self, path: str, *, sidechain: bool = False) -> None:
        self.builder = Builder(path, "qwen-code", "qwen")
        self._path = path
        self._sidechain = sidechain
        self._kind: TurnKind = "subagent" if sidechain else "interactive"
        self._main_seen = False
        self._seen: set[str] = set()

    def header(self, fields: Json) -> None:
        """Take nothing: a chat record has no header."""

    def record(self, line: Json) -> str | None:
        """Take one record; give the reason if it is no part of the session."""
        kind, subtype = as_str(line.get("type")), as_str(line.get("subtype"))
        if bool(line.get("isSidechain")) != self._sidechain:
            return "side chain"
        identity = as_str(line.get("uuid"))
        if identity is not None and identity in self._seen:
            return "repeated line"
        if identity is not None:
            self._seen.add(identity)
        moment = time_ms(line.get("timestamp"))
        own = as_dict(line.get(OWN))
        if kind == "assistant":
            return self._assistant(line, moment)
        self.builder.time(moment)
        if kind == "system":
            if subtype == "chat_compression":
                return self._compression(as_dict(line.get("systemPayload")), whole=bool(own))
            if subtype == "cleared" and own:
                self.builder.cleared()
                return None
            if subtype == BEGUN and own:
                self._main_seen = True
                return None
            return "system"
        parts = parts_of(line.get("message"))
        if kind not in ("user", "tool_result"):
            return "unknown type"
        if not parts:
            return "empty message"
        self._main_seen = True
        outcome = as_dict(line.get("toolCallResult"))
        status = outcome.get("status")
        results = take_user(
            self.builder,
            parts,
            error={"error": True, "success": False}.get(status) if isinstance(status, str) else None,
            cancelled=status == "cancelled",
            said=_said(as_dict(own.get("tool"))),
        )
        if kind == "user" and not results:
            self._prompt(line, prompt_of(parts), as_str(own.get("model")))
        return None

    def finish(self, skipped: dict[str, int], lines: int) -> Session:
        """Give the session."""
        return self.builder.done(skipped, lines)

    def again(self) -> QwenCodeReader | None:
        """A reader to start over with, where every record belongs to a side chain: a sub-agent's own file."""
        return None if self._main_seen or self._sidechain else QwenCodeReader(self._path, sidechain=True)

    def _prompt(self, line: Json, text: str, model: str | None) -> None:
        subtype = as_str(line.get("subtype"))
        if subtype == "mid_turn_user_message":
            self.builder.noted["message typed while tools ran"] += 1
            return
        if subtype == "goal_runtime":
            self.builder.noted["injected message (goal_runtime)"] += 1
            return
        shown = as_dict(line.get("systemPayload")).get("displayText")
        kind = _TURN_KINDS.get(subtype, self._kind) if isinstance(subtype, str) else self._kind
        self.builder.turn(shown.strip() if isinstance(shown, str) else text, kind=kind, model=model)

    def _assistant(self, line: Json, moment: int | None) -> str | None:
        parts = parts_of(line.get("message"))
        usage = read_usage(line.get("usageMetadata"))
        if not parts and usage is None:
            return "empty message"
        window = as_count(line.get("contextWindowSize"))
        if window and self.builder.window is None:
            self.builder.window = window
        self._main_seen = True
        draft = self.builder.respond(self._kind)
        draft.model = as_str(line.get("model"))
        draft.window = window or None
        draft.usage = usage
        draft.timestamp_ms = moment
        draft.stop_reason = as_str(line.get("finishReason"))
        for part in parts:
            take_output(self.builder, draft, part)
        return None

    def _compression(self, payload: Json, *, whole: bool) -> str | None:
        """Take a compression. `whole` says that its history holds what was about to be sent, too."""
        info = as_dict(payload.get("info"))
        if info.get("compressionStatus") not in (_COMPRESSED, None):
            return "compression without effect"
        reason = info.get("triggerReason")
        trigger: Trigger | None = None
        if isinstance(reason, str):
            trigger = "manual" if reason == "manual" else "auto"
        history = as_list(payload.get("compressedHistory"))
        summary = [part for content in history for part in history_parts(content)]
        self.builder.compaction(trigger, as_count(info.get("originalTokenCount")), summary, keep=not whole)
        return None


def _said(word: Json) -> Said | None:
    """A tool's own word on a call."""
    kind = as_str(word.get("kind"))
    if kind is None:
        return None
    return Said(
        kind,
        bool(word.get("mcp")),
        bool(word.get("skip_llm_round")),
        bool(word.get("result_is_terminal")),
        as_str(word.get("model")),
    )
