"""The artefact index: what a session did, kept beside every summary and made from the calls themselves.

It only grows, and no summarizer touches it: built over all rounds at once or over one span after another it is
the same.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import Any

from policyengine.compression.records import (
    CommandRecord,
    DecisionRecord,
    ErrorRecord,
    FileRecord,
    PlanStep,
    RequestRecord,
)


@dataclass(frozen=True)
class ArtefactIndex:
    """What was done, by kind. Files by path as the calls wrote it, `failed` by path of what calls tried in vain.

    `unmapped` counts calls of tools that the catalogue does not list.
    """

    raw_files: Mapping[str, FileRecord] = field(default_factory=dict)
    commands: Mapping[str, CommandRecord] = field(default_factory=dict)
    errors: Mapping[str, ErrorRecord] = field(default_factory=dict)
    decisions: Mapping[str, DecisionRecord] = field(default_factory=dict)
    requests: Mapping[str, RequestRecord] = field(default_factory=dict)
    plan: tuple[PlanStep, ...] = ()
    failed: Mapping[str, int] = field(default_factory=dict)
    unmapped: Mapping[str, int] = field(default_factory=dict)
    last_commit: int | None = None
    rounds: int = 0

    @cached_property
    def files(self) -> Mapping[str, FileRecord]:
        """The files; one that was named both by a relative and by exactly one absolute path is one file."""
        absolute = [path for path in self.raw_files if path.startswith("/")]
        files: dict[str, FileRecord] = {path: self.raw_files[path] for path in absolute}
        for path, record in self.raw_files.items():
            if path.startswith("/"):
                continue
            same = [other for other in absolute if other.endswith("/" + path)]
            if len(same) == 1:
                files[same[0]] = _joined(files[same[0]], record)
            else:
                files[path] = record
        return dict(sorted(files.items(), key=lambda item: (item[1].first, item[0])))

    @property
    def changed(self) -> list[FileRecord]:
        """Files created, modified or deleted."""
        return [record for record in self.files.values() if record.changed]

    @property
    def created(self) -> list[FileRecord]:
        """Files created and not deleted since."""
        return [record for record in self.files.values() if record.status == "created"]

    @property
    def read_only(self) -> list[FileRecord]:
        """Files only read."""
        return [record for record in self.files.values() if not record.changed]

    @property
    def identifiers(self) -> list[str]:
        """Names that must not be lost: symbols changed, then error codes."""
        found = dict.fromkeys(symbol for record in self.changed for symbol in record.symbols)
        found.update(dict.fromkeys(code for error in self.errors.values() for code in error.codes))
        return list(found)

    @property
    def unresolved(self) -> list[ErrorRecord]:
        """Errors whose call has not succeeded since."""
        return [error for error in self.errors.values() if not error.resolved]

    @property
    def uncommitted(self) -> list[FileRecord]:
        """Files changed after the last commit that was seen."""
        since = self.last_commit or 0
        return [record for record in self.changed if (record.last_change or 0) > since]

    def as_json(self) -> dict[str, Any]:
        """Plain data from which `from_json` makes the same index."""
        return {
            "files": [asdict(item) for item in self.raw_files.values()],
            "commands": [asdict(item) for item in self.commands.values()],
            "errors": [asdict(item) for item in self.errors.values()],
            "decisions": [asdict(item) for item in self.decisions.values()],
            "requests": [asdict(item) for item in self.requests.values()],
            "plan": [asdict(item) for item in self.plan],
            "failed": dict(self.failed),
            "unmapped": dict(self.unmapped),
            "last_commit": self.last_commit,
            "rounds": self.rounds,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> ArtefactIndex:
        """The index that `as_json` wrote, also after a trip through JSON text."""
        files = [
            FileRecord(**{**row, "symbols": tuple(row["symbols"]), "via": tuple(row["via"])}) for row in data["files"]
        ]
        errors = [
            ErrorRecord(**{**row, "codes": tuple(row["codes"]), "key": tuple(row["key"])}) for row in data["errors"]
        ]
        commands = [CommandRecord(**row) for row in data["commands"]]
        decisions = [DecisionRecord(**row) for row in data["decisions"]]
        requests = [RequestRecord(**row) for row in data["requests"]]
        return cls(
            {row.path: row for row in files},
            {row.text: row for row in commands},
            {error_key(row.tool, row.message): row for row in errors},
            {row.text: row for row in decisions},
            {row.text: row for row in requests},
            tuple(PlanStep(**row) for row in data["plan"]),
            dict(data["failed"]),
            dict(data["unmapped"]),
            data["last_commit"],
            data["rounds"],
        )

    def same_as(self, other: ArtefactIndex) -> bool:
        """Whether both hold the same."""
        return json.dumps(self.as_json(), sort_keys=True) == json.dumps(other.as_json(), sort_keys=True)


def error_key(tool: str, message: str) -> str:
    """What makes two errors one."""
    return f"{tool}\n{message}"


def _joined(one: FileRecord, other: FileRecord) -> FileRecord:
    """Two records of one file."""
    first, second = sorted((one, other), key=lambda record: record.first)
    return replace(
        one,
        reads=one.reads + other.reads,
        writes=one.writes + other.writes,
        # What was read or changed before under its other name was not created later.
        created=first.created or (second.created and not (first.reads or first.writes)),
        deleted=max((one, other), key=lambda record: record.last_change or 0).deleted,
        symbols=tuple(dict.fromkeys((*first.symbols, *second.symbols))),
        first=min(one.first, other.first),
        last_read=_latest(one.last_read, other.last_read),
        last_change=_latest(one.last_change, other.last_change),
        via=tuple(sorted({*one.via, *other.via})),
    )


def _latest(one: int | None, other: int | None) -> int | None:
    return max((value for value in (one, other) if value is not None), default=None)
