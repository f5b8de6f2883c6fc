"""Tools that only read, confined to one folder: read_file, list_directory, grep and four git commands."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from policyengine.runtime.read_only_git import git
from policyengine.runtime.tools import Tool, ToolOutput

_MOST_BYTES: Final = 2_000_000
_MOST_LINES: Final = 2_000
_MOST_ENTRIES: Final = 1_000
_MOST_MATCHES: Final = 200
_REVISION: Final = re.compile(r"[A-Za-z0-9_][\w./~^@{}-]{0,100}")
"""No colon (which reads a file at a path) and no leading dash (which is an option)."""


class OutsideError(Exception):
    """A path that leads out of the folder."""


class Folder:
    """One folder, and the paths inside it."""

    def __init__(self, root: str | Path) -> None:
        self.root = Path(root).resolve()

    def path(self, given: object) -> Path:
        """A path inside the folder, links followed. Raises `OutsideError` for any other."""
        text = given if isinstance(given, str) and given else "."
        if "\0" in text:
            raise OutsideError
        try:
            path = (self.root / text).resolve()
        except RuntimeError:
            raise ValueError("the links of this path lead round in a circle") from None
        if not path.is_relative_to(self.root):
            raise OutsideError
        return path

    def shown(self, path: Path) -> str:
        """A path as a model sees it."""
        return path.relative_to(self.root).as_posix()

    def files(self, below: Path) -> Iterator[Path]:
        """Files below a path, in order; hidden folders, links that lead out, and pipes and devices are left out.

        Raises `OSError` or `ValueError` where there is neither a file nor a folder at the path itself.
        """
        if not stat.S_ISDIR(mode := below.stat().st_mode):
            _only_regular(mode)
            yield below
            return
        for where, folders, names in os.walk(below, followlinks=False):
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            for name in sorted(names):
                path = Path(where, name)
                if path.resolve().is_relative_to(self.root) and path.is_file():
                    yield path


def read_only_tools(root: str | Path) -> list[Tool]:
    """The tools, confined to `root`."""
    folder = Folder(root)
    path = {"type": "string", "description": "Path inside the folder; without it the folder itself."}

    def confined(run: Any) -> Any:
        def safely(arguments: Mapping[str, Any]) -> ToolOutput:
            try:
                return ToolOutput(run(folder, arguments))
            except OutsideError:
                return ToolOutput("this path leads out of the folder", error=True)
            except (OSError, ValueError) as error:
                return ToolOutput(_said(error), error=True)

        return safely

    def tool(name: str, description: str, run: Any, kind: str, **properties: Any) -> Tool:
        required = [key for key, value in properties.items() if value.pop("needed", False)]
        schema = {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
        return Tool(name, description, schema, confined(run), kind=kind, mcp=False)

    count = {"type": "integer", "minimum": 1}
    revision = {"type": "string", "description": "A branch, tag or commit."}
    return [
        tool(
            "read_file", "Read a text file.", _read, "read",
            path={"type": "string", "needed": True},
            first_line={**count, "description": "From this line on (1-based)."},
            lines={**count, "description": f"At most so many lines, up to {_MOST_LINES}."},
        ),
        tool("list_directory", "List the files and folders of a folder.", _list, "search", path=dict(path)),
        tool(
            "grep", "Search files for a regular expression (RE2 syntax).", _grep, "search",
            pattern={"type": "string", "needed": True}, path=dict(path),
        ),
        tool("git_status", "Show what has changed.", _git_status, "read"),
        tool(
            "git_log", "Show the latest commits.", _git_log, "read",
            count={**count, "maximum": 200}, path=dict(path),
        ),
        tool(
            "git_diff", "Show what has changed, line by line.", _git_diff, "read",
            revision=dict(revision), path=dict(path),
        ),
        tool("git_show", "Show one commit.", _git_show, "read", revision={**revision, "needed": True}, path=dict(path)),
    ]  # fmt: skip


def _said(error: OSError | ValueError) -> str:
    if isinstance(error, OSError):
        return (error.strerror or type(error).__name__).lower()
    return str(error)


def _only_regular(mode: int) -> None:
    """Raises `ValueError` for a pipe, socket or device, which may keep a reader waiting for ever."""
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        raise ValueError("this is no regular file")


def _text(path: Path) -> str:
    # Opened without waiting, then looked at: what the path leads to may change in between.
    with open(path, "rb", opener=lambda name, flags: os.open(name, flags | getattr(os, "O_NONBLOCK", 0))) as file:
        _only_regular(os.fstat(file.fileno()).st_mode)
        data = file.read(_MOST_BYTES + 1)
    if b"\0" in data[:8192]:
        raise ValueError("this is no text file")
    return data[:_MOST_BYTES].decode("utf-8", "replace")


def _read(folder: Folder, arguments: Mapping[str, Any]) -> str:
    lines = _text(folder.path(arguments["path"])).splitlines()
    first = arguments.get("first_line", 1)
    wanted = min(arguments.get("lines", _MOST_LINES), _MOST_LINES)
    shown = lines[first - 1 : first - 1 + wanted]
    if not shown and lines:
        raise ValueError(f"the file has {len(lines)} lines")
    left = len(lines) - (first - 1 + len(shown))
    return "\n".join(shown) + (f"\n[{left} more lines from line {first + len(shown)} on]" if left > 0 else "")


def _list(folder: Folder, arguments: Mapping[str, Any]) -> str:
    path = folder.path(arguments.get("path"))
    entries = sorted(path.iterdir(), key=lambda one: (one.is_file(), one.name))
    shown = [one.name + ("/" if one.is_dir() else "") for one in entries[:_MOST_ENTRIES]]
    more = len(entries) - len(shown)
    return "\n".join(shown) + (f"\n[{more} more]" if more else "") or "(empty)"


def _grep(folder: Folder, arguments: Mapping[str, Any]) -> str:
    # RE2: a pattern that a model wrote must not be able to run for ever.
    import re2

    try:
        pattern = re2.compile(arguments["pattern"])
    except re2.error:
        raise ValueError("the pattern is no regular expression") from None
    found: list[str] = []
    for path in folder.files(folder.path(arguments.get("path"))):
        try:
            text = _text(path)
        except (OSError, ValueError):
            continue
        for number, line in enumerate(text.splitlines(), start=1):
            if pattern.search(line):
                found.append(f"{folder.shown(path)}:{number}: {line[:300]}")
                if len(found) >= _MOST_MATCHES:
                    return "\n".join(found) + "\n[stopped here; there may be more]"
    return "\n".join(found) or "(no match)"


def _at(folder: Folder, arguments: Mapping[str, Any]) -> list[str]:
    return ["--", folder.shown(folder.path(arguments.get("path"))) or "."]


def _revision(arguments: Mapping[str, Any]) -> list[str]:
    given = arguments.get("revision")
    if given is None:
        return []
    if not _REVISION.fullmatch(given):
        raise ValueError("this is no branch, tag or commit")
    return [given]


def _git_status(folder: Folder, arguments: Mapping[str, Any]) -> str:
    return git(folder.root, "status", "--short", "--branch", *_at(folder, arguments))


def _git_log(folder: Folder, arguments: Mapping[str, Any]) -> str:
    form = "--format=%h %ad %an: %s"
    return git(
        folder.root, "log", f"--max-count={arguments.get('count', 20)}", "--date=short", form, *_at(folder, arguments)
    )


def _git_diff(folder: Folder, arguments: Mapping[str, Any]) -> str:
    return git(folder.root, "diff", *_revision(arguments), *_at(folder, arguments))


def _git_show(folder: Folder, arguments: Mapping[str, Any]) -> str:
    return git(
        folder.root, "show", "--stat", "--patch", *_revision(arguments),
        *_at(folder, arguments),
    )  # fmt: skip
