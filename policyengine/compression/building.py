"""Building the artefact index from rounds, and going on from one that stands."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from policyengine.cel.functions import mentions
from policyengine.compression.index import ArtefactIndex, error_key
from policyengine.compression.mapping import Artefacts, Mapped, Touch
from policyengine.compression.patterns import clean, compiled, groups
from policyengine.compression.records import (
    CommandRecord,
    DecisionRecord,
    ErrorRecord,
    FileRecord,
    PlanStep,
    RequestRecord,
)
from policyengine.compression.symbols import Symbols
from policyengine.kinds.loop import Loop
from policyengine.sessions import facts
from policyengine.sessions.model import Round, Session, ToolCall

# Products wrap what a tool says in tags of their own.
_TAG = re.compile(r"</?[a-z_-]+>")
_SENTENCE = re.compile(r"(?<=[^.\s][.!?]) (?=[A-Z`])|(?<=[。！？])")


_EMPTY = ArtefactIndex()


def word_list(loop: Loop, name: str) -> tuple[str, ...]:
    """A word list of the loop's bundle; empty where it has none of that name."""
    return loop.bundle.words.get(name, ())


class Indexer:
    """Builds indexes by the mapping of one bundle."""

    def __init__(self, loop: Loop) -> None:
        self.artefacts = Artefacts(loop)
        about = self.artefacts.about
        limits = self.artefacts.limits
        self.symbols = Symbols(
            about.get("symbols", ()), limits.get("symbols_per_edit", 1 << 30), about.get("not_symbols", ())
        )
        lines = about.get("errors", {}).get("lines", ())
        self.error_line = compiled("|".join(f"(?:{pattern})" for pattern in lines)) if lines else None
        self.error_codes: list[str] = about.get("errors", {}).get("codes", [])
        injected = about.get("injected", ())
        self.injected = compiled("|".join(f"(?:{pattern})" for pattern in injected)) if injected else None
        self.decision_words = word_list(loop, "decision")

    def of(self, session: Session, until: int | None = None) -> ArtefactIndex:
        """The index over the rounds of a session before round `until` (1-based), else over all."""
        rounds = (item for item in session.rounds if until is None or item.index < until)
        return self.extended(ArtefactIndex(), rounds, summaries_of(session))

    def extended(
        self, index: ArtefactIndex, rounds: Iterable[Round], summaries: frozenset[int] = frozenset()
    ) -> ArtefactIndex:
        """The index with further rounds. What the given one holds stays.

        `summaries` are the rounds (1-based) whose send begins with the summary of a compaction.
        """
        build = Building(self, index)
        for item in rounds:
            build.round(item, after_compaction=item.index in summaries)
        return build.done()

    def is_injected(self, text: str) -> bool:
        """Whether a product wrote this in the person's place."""
        return self.injected is not None and self.injected.search(clean(text)) is not None


def summaries_of(session: Session) -> frozenset[int]:
    """The rounds whose send begins with the summary of a recorded compaction."""
    return frozenset(item.round for item in session.recorded_compactions)


class Building:
    """An index that grows round by round."""

    def __init__(self, indexer: Indexer, index: ArtefactIndex = _EMPTY) -> None:
        self.by = indexer
        self.limits: Mapping[str, int] = indexer.artefacts.limits
        self.files = dict(index.raw_files)
        self.commands = dict(index.commands)
        self.errors = dict(index.errors)
        self.decisions = dict(index.decisions)
        self.requests = dict(index.requests)
        self.plan = index.plan
        self.failed = dict(index.failed)
        self.unmapped = dict(index.unmapped)
        self.last_commit = index.last_commit
        self.rounds = index.rounds

    def done(self) -> ArtefactIndex:
        """The index as it is now. It shares what it holds with this: to be used before the next round comes."""
        return ArtefactIndex(
            self.files, self.commands, self.errors, self.decisions, self.requests, self.plan, self.failed,
            self.unmapped, self.last_commit, self.rounds,
        )  # fmt: skip

    def round(self, item: Round, *, after_compaction: bool = False) -> None:
        """Take a round. `after_compaction` says that its send begins with a summary."""
        self.rounds = max(self.rounds, item.index)
        said = [part for part in item.added if part.kind == "text" and part.call_id is None and part.text]
        for part in said[1:] if after_compaction else said:
            if part.text and not self.by.is_injected(part.text):
                self.requests.setdefault(part.text.strip(), RequestRecord(part.text.strip(), item.index))
        for part in item.output:
            if part.kind == "text" and part.text:
                self._statements(part.text, item.index)
        for call in item.calls:
            self._call(call, item.index)

    def _call(self, call: ToolCall, round: int) -> None:
        mapped = self.by.artefacts.map(call.name, call.arguments)
        if not mapped.listed and not mapped.touches:
            self.unmapped[call.name] = self.unmapped.get(call.name, 0) + 1
        result = call.result
        if result is None or result.error or result.cancelled:
            for touch in mapped.touches:
                self.failed[touch.path] = self.failed.get(touch.path, 0) + 1
        else:
            self._touches(mapped.touches, round)
        if mapped.command is not None:
            self._command(mapped.command, round, result.error if result else None)
        if result is not None and not result.cancelled:
            self._outcome(call, mapped, round)

    def _outcome(self, call: ToolCall, mapped: Mapped, round: int) -> None:
        result = call.result
        assert result is not None
        text = "\n".join(part.text for part in result.parts if part.text)
        if result.error or (result.error is None and mapped.kind == "execute"):
            self._errors(call, mapped.tool, text, round, flagged=bool(result.error))
        if result.error is False:
            key = facts.call_key(call)
            for name, error in self.errors.items():
                if error.key == key and not error.resolved:
                    self.errors[name] = replace(error, resolved=True)
        if result.error:
            return
        if mapped.plan is not None:
            self.plan = tuple(PlanStep(step.text, step.done, round) for step in mapped.plan)
        for message in mapped.decisions:
            self._decide(message, round, "commit")
            self.last_commit = max(self.last_commit or 0, round)
        if mapped.question and text:
            self._decide(f"{mapped.question} → {text}", round, "answer")

    def _touches(self, touches: Iterable[Touch], round: int) -> None:
        seen: set[tuple[str, str]] = set()
        for touch in touches:
            first = (touch.path, touch.action) not in seen
            seen.add((touch.path, touch.action))
            self.files[touch.path] = self._touched(touch, round, first)

    def _touched(self, touch: Touch, round: int, first: bool) -> FileRecord:
        """The file after a touch; several edits of one call count once."""
        known = self.files.get(touch.path, FileRecord(touch.path, first=round))
        known = replace(known, via=tuple(sorted({*known.via, touch.via})))
        if touch.action == "read":
            return replace(known, reads=known.reads + first, last_read=round)
        if touch.action in ("delete", "move"):
            return replace(known, deleted=True, last_change=round)
        new_file = touch.action == "create" and not known.reads and not known.writes
        if touch.old or touch.new:
            names = self.by.symbols.changed(touch.path, touch.old, touch.new, touch.context)
            known = replace(known, symbols=tuple(dict.fromkeys((*known.symbols, *names))))
        return replace(
            known,
            writes=known.writes + first,
            created=known.created or new_file or (known.deleted and touch.action == "create"),
            deleted=False,
            last_change=round,
        )

    def _command(self, text: str, round: int, failed: bool | None) -> None:
        text = text.strip()[: self.limits.get("command_chars")]
        known = self.commands.get(text)
        self.commands[text] = CommandRecord(text, (known.runs if known else 0) + 1, round, failed)

    def _errors(self, call: ToolCall, tool: str, text: str, round: int, *, flagged: bool) -> None:
        limit = self.limits.get("errors_per_result")
        messages = list(dict.fromkeys(self._error_lines(text)))[:limit]
        if not messages and flagged:
            lines = (_TAG.sub("", raw).replace("\\n", " ").strip() for raw in text.splitlines())
            messages = [line for line in lines if line][:1]
        for message in messages:
            message = message[: self.limits.get("error_chars")]
            # A code that stands elsewhere in the output (the exit code) belongs to its first message.
            codes = groups(text if message == messages[0] else message, self.by.error_codes)
            name = error_key(tool, message)
            known = self.errors.get(name)
            self.errors[name] = ErrorRecord(
                message,
                tuple(dict.fromkeys((*(known.codes if known else ()), *codes[: limit and limit * 2]))),
                tool,
                (known.count if known else 0) + 1,
                known.first if known else round,
                round,
                facts.call_key(call),
            )

    def _error_lines(self, text: str) -> Iterable[str]:
        if self.by.error_line is None:
            return
        for line in text.splitlines():
            line = _TAG.sub("", clean(line)).replace("\\n", " ").replace("  ", " ")
            if self.by.error_line.search(line) is not None:
                yield line.strip()

    def _statements(self, text: str, round: int) -> None:
        for sentence in sentences(text):
            if mentions(sentence, self.by.decision_words):
                self._decide(sentence, round, "statement")

    def _decide(self, text: str, round: int, source: Any) -> None:
        text = " ".join(text.split())[: self.limits.get("decision_chars")]
        if text:
            self.decisions.setdefault(text, DecisionRecord(text, round, source))


def sentences(text: str) -> Iterable[str]:
    """The sentences and list items of a text, each on one line."""
    for line in text.splitlines():
        line = line.strip().lstrip("-*•#> ").strip()
        for sentence in _SENTENCE.split(line):
            if sentence.strip():
                yield sentence.strip()
