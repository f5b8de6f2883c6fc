"""What a tool call of any agent does to files, plans and decisions, by the tool catalogue's mapping."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

from policyengine.compression.patches import FilePatch, read_patch
from policyengine.compression.patterns import found_in
from policyengine.compression.shell import Simple, simple_commands
from policyengine.kinds.loop import Loop

Action = Literal["read", "create", "modify", "delete", "move"]
Via = Literal["tool", "patch", "shell"]

MAX_NESTING = 3
"""Depth of shells inside shells that is followed."""


@dataclass(frozen=True, slots=True)
class Touch:
    """One file that a call touches. `old` and `new` are the edit's text, `context` what stands above it."""

    path: str
    action: Action
    via: Via
    old: str = ""
    new: str = ""
    context: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Step:
    """A step of a plan."""

    text: str
    done: bool


@dataclass(frozen=True, slots=True)
class Mapped:
    """What a call does. `plan` is None where it is no plan; `question` is what a person was asked, else empty.

    `decisions` are messages of commands that say what was decided and done (a commit's).
    """

    tool: str
    kind: str
    listed: bool
    touches: tuple[Touch, ...] = ()
    command: str | None = None
    plan: tuple[Step, ...] | None = None
    question: str = ""
    decisions: tuple[str, ...] = ()


class Artefacts:
    """The mapping of one bundle's tool catalogue."""

    def __init__(self, loop: Loop) -> None:
        self._loop = loop
        spec = loop.tools.spec
        self.about: Mapping[str, Any] = spec.get("artefacts", {})
        self._rows: Mapping[str, Mapping[str, Any]] = {row["tool"]: row for row in spec["tools"]}
        self._shell: Mapping[str, Any] = self.about.get("shell", {})
        self._start: str | None = self.about.get("patch_start")

    @property
    def limits(self) -> Mapping[str, int]:
        """Bounds of what one call adds; without any, nothing is cut."""
        found: Mapping[str, int] = self.about.get("limits", {})
        return found

    def map(self, name: str, arguments: Mapping[str, object] | str) -> Mapped:
        """What a call does."""
        about = self._loop.classify(name, arguments)
        command = self._loop.command_of(arguments)
        row = self._rows.get(about["tool"], {})
        if command is not None and about["tool"] not in ("skill", "agent"):
            base = self._folder(arguments)
            touches, decisions = self._from_shell(command, base)
            return Mapped(about["tool"], about["kind"], about["listed"], touches, command, None, "", decisions)
        return Mapped(
            about["tool"],
            about["kind"],
            about["listed"],
            tuple(self._from_arguments(row, arguments)),
            None,
            self._plan(row, arguments),
            self._question(row, arguments),
        )

    def _from_arguments(self, row: Mapping[str, Any], arguments: Mapping[str, object] | str) -> Iterable[Touch]:
        artefact = row.get("artefact")
        if isinstance(arguments, str):
            if artefact == "modify":
                yield from self._patched(arguments, "")
            return
        base = self._folder(arguments)
        patches = [text for text in _texts(arguments, row.get("patch_arguments", ())) if read_patch(text)]
        if patches:
            for text in patches:
                yield from self._patched(text, base)
            return
        if artefact not in ("read", "create", "modify", "delete", "move"):
            return
        for source in _texts(arguments, row.get("source_arguments", ())):
            yield Touch(_path(source, base), "move" if artefact == "move" else "read", "tool")
        edits = list(self._edits(row, arguments))
        for path in _texts(arguments, row.get("path_arguments", ())):
            if any(char in path for char in "*?["):
                continue
            action: Action = "create" if artefact == "move" else artefact
            for old, new in edits or [("", "")]:
                yield Touch(_path(path, base), action, "tool", old, new)

    def _edits(self, row: Mapping[str, Any], arguments: Mapping[str, object]) -> Iterable[tuple[str, str]]:
        nested = [
            item
            for name in row.get("edits_arguments", ())
            if isinstance(listed := arguments.get(name), list)
            for item in listed
            if isinstance(item, Mapping)
        ]
        for item in nested or [arguments]:
            old = "\n".join(_texts(item, row.get("old_text_arguments", ())))
            new = "\n".join(_texts(item, row.get("new_text_arguments", ())))
            if old or new:
                yield old, new

    def _patched(self, text: str, base: str) -> Iterable[Touch]:
        for file in read_patch(text):
            yield from _touches(file, base)

    def _plan(self, row: Mapping[str, Any], arguments: Mapping[str, object] | str) -> tuple[Step, ...] | None:
        fields = self.about.get("plan")
        if row.get("artefact") != "plan" or fields is None or isinstance(arguments, str):
            return None
        for name in row.get("plan_arguments", ()):
            listed = arguments.get(name)
            if isinstance(listed, list):
                steps = (item for item in listed if isinstance(item, Mapping))
                found = [(_texts(s, fields["text"]), _texts(s, fields["status"])) for s in steps]
                return tuple(Step(text[0], bool(set(status) & set(fields["done"]))) for text, status in found if text)
        return None

    def _question(self, row: Mapping[str, Any], arguments: Mapping[str, object] | str) -> str:
        if row.get("artefact") != "decision" or isinstance(arguments, str):
            return ""
        found: list[str] = []
        names = row.get("question_arguments", ())
        for name in names:
            value = arguments.get(name)
            items = value if isinstance(value, list) else [value]
            for item in items:
                found += _texts(item, names) if isinstance(item, Mapping) else [item] if isinstance(item, str) else []
        return " ".join(dict.fromkeys(found))

    def _folder(self, arguments: Mapping[str, object] | str) -> str:
        if isinstance(arguments, str):
            return ""
        return next(iter(_texts(arguments, self.about.get("directory_arguments", ()))), "")

    def _from_shell(self, command: str, base: str, depth: int = 0) -> tuple[tuple[Touch, ...], tuple[str, ...]]:
        touches: list[Touch] = []
        decisions: list[str] = []
        if self._start and depth == 0 and (at := command.find(self._start)) >= 0:
            touches += self._patched(command[at:], base)
        for simple in simple_commands(command):
            words = self._program(simple.words)
            if words and words[0] in self._shell.get("shells", ()) and depth < MAX_NESTING:
                inner = _after_flag(words, ("-c", "-lc", "-ic"))
                if inner is not None:
                    more, said = self._from_shell(inner, base, depth + 1)
                    touches += more
                    decisions += said
            touches += self._simple(simple, words, base)
            decisions += self._messages(words)
        return tuple(touches), tuple(decisions)

    def _program(self, words: list[str]) -> list[str]:
        """The words without assignments and programs in front of the program."""
        at = 0
        while at < len(words) and (_is_assignment(words[at]) or words[at] in self._shell.get("prefixes", ())):
            at += 1
        rest = words[at:]
        return [rest[0].rpartition("/")[2], *rest[1:]] if rest else []

    def _simple(self, simple: Simple, words: list[str], base: str) -> Iterable[Touch]:
        redirect = self._shell.get("redirect", {})
        for operator, file in simple.redirects:
            action = redirect.get("append" if operator == ">>" else "write")
            if action and not self._ignored(file):
                yield Touch(_path(simple.path(file), base), action, "shell")
        row, rest = self._row(words)
        if row is None:
            return
        names = [word for word in rest if not word.startswith("-") and self._is_file(word)]
        if row["paths"] == "last":
            names = names[-1:]
        for index, name in enumerate(names):
            action = row["artefact"]
            if action == "move" and index == len(names) - 1:
                action = "create"
            yield Touch(_path(simple.path(name), base), action, "shell")

    def _row(self, words: list[str]) -> tuple[Mapping[str, Any] | None, list[str]]:
        if not words:
            return None, []
        for row in self._shell.get("subcommands", ()):
            at = _subcommand(words)
            if words[0] in row["programs"] and at is not None and words[at] == row["subcommand"]:
                return row, words[at + 1 :]
        for row in self._shell.get("commands", ()):
            flags = tuple(row.get("flags", ()))
            if words[0] in row["programs"] and (not flags or any(word.startswith(flags) for word in words[1:])):
                return row, words[1:]
        return None, []

    def _messages(self, words: list[str]) -> Iterable[str]:
        for row in self._shell.get("decisions", ()):
            at = _subcommand(words) if words else None
            if at is not None and words[0] in row["programs"] and words[at] == row["subcommand"]:
                message = _after_flag(words, row["flags"])
                if message and (text := _message(message)):
                    yield text

    def _is_file(self, word: str) -> bool:
        """Whether a word names a file: it has a folder or an extension, and nothing that a shell would expand."""
        named = "/" in word or (("." in word) and not word.replace(".", "").isdigit())
        return named and "\n" not in word and " " not in word and not self._ignored(word)

    def _ignored(self, word: str) -> bool:
        return not word or _ignored(word, tuple(self._shell.get("ignored", ())))


@lru_cache(maxsize=4096)
def _ignored(word: str, patterns: tuple[str, ...]) -> bool:
    return found_in(word, patterns)


def _touches(file: FilePatch, base: str) -> Iterable[Touch]:
    if file.source is not None:
        yield Touch(_path(file.source, base), "move", "patch")
    action: Action = "create" if file.action == "move" else file.action
    yield Touch(_path(file.path, base), action, "patch", "\n".join(file.old), "\n".join(file.new), tuple(file.context))


def _texts(fields: Mapping[str, object], names: Iterable[str]) -> list[str]:
    """The texts among these fields; a list of texts counts as its items."""
    found: list[str] = []
    for name in names:
        value = fields.get(name)
        found += [item for item in (value if isinstance(value, list) else [value]) if isinstance(item, str) and item]
    return found


def _path(path: str, base: str) -> str:
    if base and not path.startswith(("/", "~")):
        path = posixpath.join(base, path)
    return posixpath.normpath(path)


def _is_assignment(word: str) -> bool:
    name, equals, _ = word.partition("=")
    return bool(equals) and name.isidentifier()


def _subcommand(words: list[str]) -> int | None:
    """Where the first word after the program is that is no flag, past the folder of `git -C FOLDER`."""
    at = 1
    while at < len(words) and words[at].startswith("-"):
        at += 2 if words[at] in ("-C", "-c") else 1
    return at if at < len(words) else None


def _after_flag(words: list[str], flags: Iterable[str]) -> str | None:
    for index, word in enumerate(words[:-1]):
        if word in flags:
            return words[index + 1]
    return None


def _message(text: str) -> str:
    """The first line that says something: a message is often written as a here-document inside quotes."""
    lines = (line.strip() for line in text.splitlines())
    return next((line for line in lines if line and not line.startswith("$(")), "")
