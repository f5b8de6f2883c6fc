"""Claude Code transcripts: JSONL, one line an event.

One response is spread over several lines that repeat its message id and usage, with tool results in between
where tools ran while it streamed. What the file calls `isMeta` (skill texts, caveats, hook feedback) is sent
to the model like any user message, but it starts no turn; so is what a local command printed.
"""

from __future__ import annotations

from typing import Final

from policyengine.sessions.blocks import as_blocks, read_usage, take_output, take_result, user_part
from policyengine.sessions.build import Builder, RoundDraft
from policyengine.sessions.content import (
    Json,
    as_count,
    as_dict,
    as_str,
    size,
    text_part,
    time_ms,
    without_elements,
)
from policyengine.sessions.model import Part, Session, Trigger, TurnKind

# Lines that never reach the model.
_RECORDS_ONLY: Final = frozenset(
    {
        "progress",
        "file-history-snapshot",
        "summary",
        "custom-title",
        "ai-title",
        "last-prompt",
        "tag",
        "mode",
        "permission-mode",
        "agent-name",
        "agent-color",
        "agent-setting",
        "pr-link",
        "content-replacement",
        "attribution-snapshot",
        "worktree-state",
        "speculation-accept",
    }
)
# Attachments that are shown to the person or kept for the record only.
_UNSENT_ATTACHMENTS: Final = frozenset(
    {
        "hook_success",
        "hook_cancelled",
        "hook_non_blocking_error",
        "hook_error_during_execution",
        "hook_system_message",
        "hook_permission_decision",
        "command_permissions",
        "structured_output",
    }
)
# What Claude Code wraps into a person's message.
_INJECTED: Final = (
    "system-reminder",
    "ide_opened_file",
    "ide_selection",
    "ide_diagnostics",
    "user-prompt-submit-hook",
    "session-start-hook",
)
_INTERRUPTED: Final = ("[Request interrupted by user]", "[Request interrupted by user for tool use]")
_NOTIFICATION: Final = "<task-notification>"
_COMMAND: Final = ("<command-name>", "<command-message>")
_LOCAL_RESULT: Final = ("<local-command-stdout>", "<local-command-stderr>")
_LOCAL_SHELL: Final = ("<bash-input>", "<bash-stdout>", "<bash-stderr>")
_CAVEAT: Final = "<local-command-caveat>"
_REJECTED: Final = "User rejected tool use"
_SYNTHETIC: Final = "<synthetic>"


class ClaudeCodeReader:
    """Reads the lines of one transcript."""

    def __init__(self, path: str, *, sidechain: bool = False) -> None:
        self.builder = Builder(path, "claude-code", "anthropic")
        self._path = path
        self._sidechain = sidechain
        self._kind: TurnKind = "subagent" if sidechain else "interactive"
        self._main_seen = False
        self._drafts: dict[str, RoundDraft] = {}
        self._seen: set[str] = set()
        self._command: str | None = None  # a slash command that may yet turn out to have run locally
        self._compacted = False  # a boundary stands before the lines being read, no response after it
        self._queue: list[str] = []  # typed while tools ran, not delivered yet
        self._delivered: set[str] = set()

    def header(self, fields: Json) -> None:
        """Take nothing: a transcript has no header."""

    def record(self, line: Json) -> str | None:
        """Take one line; give the reason if it is no part of the session."""
        kind = as_str(line.get("type"))
        if kind is not None and kind in _RECORDS_ONLY:
            return kind
        if kind == "queue-operation":
            return self._queued(line)
        if bool(line.get("isSidechain")) != self._sidechain:
            return "side chain"
        if kind in ("user", "assistant"):
            identity = as_str(line.get("uuid"))
            if identity is not None and identity in self._seen:
                return "repeated line"
            self._seen.add(identity or "")
            reason = self._assistant(line) if kind == "assistant" else self._user(line)
            self._main_seen = self._main_seen or reason is None
            return reason
        self.builder.time(time_ms(line.get("timestamp")))
        if kind == "system":
            return self._system(line)
        if kind == "attachment":
            return self._attachment(as_dict(line.get("attachment")))
        return "unknown type"

    def finish(self, skipped: dict[str, int], lines: int) -> Session:
        """Give the session."""
        return self.builder.done(skipped, lines)

    def again(self) -> ClaudeCodeReader | None:
        """A reader to start over with, where every line belongs to a side chain: a sub-agent's own file."""
        return None if self._main_seen or self._sidechain else ClaudeCodeReader(self._path, sidechain=True)

    def _assistant(self, line: Json) -> str | None:
        message = as_dict(line.get("message"))
        if message.get("model") == _SYNTHETIC or line.get("isApiErrorMessage") is True:
            return "synthetic message"
        key = as_str(message.get("id")) or as_str(line.get("requestId")) or f"line {line.get('uuid')}"
        draft = self._drafts.get(key)
        if draft is None:
            if self._command is not None:
                self.builder.turn(self._command, kind=self._kind)
                self._command = None
            draft = self._drafts[key] = self.builder.respond(self._kind)
            self._compacted = False
        draft.model = as_str(message.get("model")) or draft.model
        draft.usage = read_usage(message.get("usage"), draft.usage)
        draft.stop_reason = as_str(message.get("stop_reason")) or draft.stop_reason
        draft.timestamp_ms = time_ms(line.get("timestamp")) or draft.timestamp_ms
        for block in as_blocks(message.get("content")):
            take_output(self.builder, draft, block)
        return None

    def _user(self, line: Json) -> str | None:
        if line.get("isVisibleInTranscriptOnly") is True and line.get("isCompactSummary") is not True:
            return "shown only"
        self.builder.time(time_ms(line.get("timestamp")))
        blocks = as_blocks(as_dict(line.get("message")).get("content"))
        if not blocks:
            return "empty message"
        results = [block for block in blocks if block.get("type") == "tool_result"]
        if line.get("isCompactSummary") is True and not self._compacted and self.builder.rounds:
            # Old versions wrote the summary without a boundary line.
            self.builder.compaction(None, None)
            self.builder.noted["compaction known from its summary only"] += 1
        outcome = line.get("toolUseResult")
        cancelled = outcome == _REJECTED or as_dict(outcome).get("interrupted") is True
        for block in blocks:
            if block.get("type") == "tool_result":
                take_result(self.builder, block, cancelled=cancelled and len(results) == 1)
            else:
                self.builder.add([user_part(block)])
        if results:
            return None
        if line.get("isCompactSummary") is True:
            self._compacted = True
        elif line.get("isMeta") is True:
            self.builder.noted["injected message (isMeta)"] += 1
        else:
            self._prompt("\n".join(str(block["text"]) for block in blocks if as_str(block.get("text"))))
        return None

    def _prompt(self, text: str) -> None:
        """Decide whether a message of the user role starts a turn."""
        if text in self._queue:
            self._queue.remove(text)
        start = text.lstrip()
        if start.startswith(_INTERRUPTED):
            self.builder.noted["interruption"] += 1
        elif start.startswith(_COMMAND):
            arguments = _between(text, "command-args").strip()
            self._command = f"{_between(text, 'command-name').strip()} {arguments}".strip()
        elif start.startswith(_LOCAL_RESULT):
            self._command = None
            self.builder.noted["local command"] += 1
        elif start.startswith((*_LOCAL_SHELL, _CAVEAT)):
            self.builder.noted["local command"] += 1
        else:
            self._command = None
            kind = "notification" if start.startswith(_NOTIFICATION) else self._kind
            self.builder.turn(without_elements(text, _INJECTED).strip(), kind=kind)

    def _system(self, line: Json) -> str | None:
        subtype = as_str(line.get("subtype"))
        if subtype == "compact_boundary":
            metadata = as_dict(line.get("compactMetadata"))
            trigger: Trigger | None = None
            if metadata.get("trigger") in ("auto", "manual"):
                trigger = "auto" if metadata.get("trigger") == "auto" else "manual"
            self.builder.compaction(trigger, as_count(metadata.get("preTokens")))
            self._compacted = True
            return None
        content = as_str(line.get("content"))
        if subtype == "local_command" and content:
            self.builder.add([text_part(content)])
            self.builder.noted["local command"] += 1
            return None
        return f"system {subtype}" if subtype in _SYSTEM_SUBTYPES else "system"

    def _attachment(self, attachment: Json) -> str | None:
        kind = as_str(attachment.get("type"))
        if kind in _UNSENT_ATTACHMENTS:
            return "attachment not sent"
        if kind == "queued_command":
            text = _text_of(attachment.get("prompt"))
            if text in self._delivered:
                return "repeated line"
            if text in self._queue:
                self._queue.remove(text)
            self._delivered.add(text)
            self._deliver(text)
            return None
        text = "\n".join(_leaves({key: value for key, value in attachment.items() if key != "type"}))
        if not text:
            return "attachment without text"
        self.builder.add([Part("text", text, size(text))])
        self.builder.noted["attachment"] += 1
        return None

    def _queued(self, line: Json) -> str | None:
        """Follow the queue of what was typed while tools ran.

        "remove" means that the message went out with the next tool results of the same turn; "dequeue" that
        it became a prompt, which has a line of its own.
        """
        operation, content = as_str(line.get("operation")), as_str(line.get("content"))
        if operation == "enqueue" and content:
            self._queue.append(content)
            return "queue-operation"
        if operation == "popAll":
            self._queue.clear()
        elif operation in ("remove", "dequeue") and self._queue:
            # Notifications wait for the end of the turn, so what left before it was typed by the person.
            typed = [text for text in self._queue if not text.startswith(_NOTIFICATION)]
            text = content if content in self._queue else (typed or self._queue)[0]
            self._queue.remove(text)
            if operation == "remove" and text not in self._delivered:
                self._delivered.add(text)
                self._deliver(text)
                return None
        return "queue-operation"

    def _deliver(self, text: str) -> None:
        self.builder.add([text_part(text)])
        self.builder.noted["message typed while tools ran"] += 1


_SYSTEM_SUBTYPES: Final = frozenset(
    {
        "stop_hook_summary",
        "turn_duration",
        "api_error",
        "informational",
        "microcompact_boundary",
        "local_command",
        "bridge_status",
        "away_summary",
        "memory_saved",
    }
)


def _between(text: str, tag: str) -> str:
    _, found, after = text.partition(f"<{tag}>")
    return after.partition(f"</{tag}>")[0] if found else ""


def _text_of(content: object) -> str:
    return "\n".join(str(block["text"]) for block in as_blocks(content) if as_str(block.get("text")))


def _leaves(value: object) -> list[str]:
    """Every text in a value, in order: an attachment is sent as prose that the transcript does not hold."""
    if isinstance(value, str):
        return [value] if value else []
    if isinstance(value, dict):
        return [text for inner in value.values() for text in _leaves(inner)]
    if isinstance(value, list):
        return [text for inner in value for text in _leaves(inner)]
    return []
