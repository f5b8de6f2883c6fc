"""Patches in the form that Codex and its relatives write, and unified diffs: which file, what was taken and given."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Literal

Action = Literal["create", "modify", "delete", "move"]

_FILE = re.compile(r"\*\*\* (Add|Update|Delete) File: (.+)")
_MOVE = re.compile(r"\*\*\* Move to: (.+)")
_UNIFIED = re.compile(r"\+\+\+ (?:b/)?([^\t]+)")
_UNIFIED_OLD = re.compile(r"--- (?:a/)?([^\t]+)")
_ACTIONS: dict[str, Action] = {"Add": "create", "Update": "modify", "Delete": "delete"}


@dataclass(slots=True)
class FilePatch:
    """What a patch does to one file. `context` holds the headers and unchanged lines above what changes."""

    path: str
    action: Action
    source: str | None = None
    old: list[str] = field(default_factory=list)
    new: list[str] = field(default_factory=list)
    context: list[str] = field(default_factory=list)


def read_patch(text: str) -> list[FilePatch]:
    """The files of a patch, in order; empty for a text that is none."""
    files: list[FilePatch] = []
    old_path: str | None = None
    for line in text.splitlines():
        if match := _FILE.fullmatch(line.rstrip()):
            files.append(FilePatch(match[2].strip(), _ACTIONS[match[1]]))
        elif (match := _MOVE.fullmatch(line.rstrip())) and files:
            files[-1].source, files[-1].path, files[-1].action = files[-1].path, match[1].strip(), "move"
        elif match := _UNIFIED_OLD.fullmatch(line):
            old_path = match[1].strip()
        elif (match := _UNIFIED.fullmatch(line)) and old_path is not None:
            files.append(_unified(old_path, match[1].strip()))
            old_path = None
        elif files:
            _line(files[-1], line)
    return files


def _unified(old: str, new: str) -> FilePatch:
    if new == "/dev/null":
        return FilePatch(old, "delete")
    return FilePatch(new, "create" if old == "/dev/null" else "modify")


def _line(file: FilePatch, line: str) -> None:
    if line.startswith("@@"):
        file.context.append(line.rpartition("@@")[2].strip())
    elif line.startswith("+"):
        file.new.append(line[1:])
    elif line.startswith("-"):
        file.old.append(line[1:])
    elif line.startswith(" ") and not (file.new or file.old):
        file.context.append(line[1:])
