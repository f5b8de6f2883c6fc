"""Which records of a log are meant."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from policyengine.source.errors import InputError

_AGO = re.compile(r"(\d+)\s*(min|h|d|w)")
_UNITS = {"min": 60, "h": 3600, "d": 86400, "w": 604800}


@dataclass(frozen=True, slots=True)
class Filter:
    """Lets through records from `since` on and before `until` (ISO 8601 in UTC) whose fields have these values."""

    since: str | None = None
    until: str | None = None
    fields: Mapping[str, frozenset[str]] = field(default_factory=dict)
    failed: bool = False
    """Only decisions in which something failed to evaluate."""
    changed: bool = False
    """Only decisions that the shadow bundle would have made otherwise."""

    def fits(self, record: Mapping[str, Any]) -> bool:
        """Whether a record is meant. One without a time fits no bound of time."""
        if self.since is not None or self.until is not None:
            time = record.get("time")
            if time is None or (self.since and time < self.since) or (self.until and time >= self.until):
                return False
        if self.failed and not record.get("errors"):
            return False
        if self.changed and (record.get("shadow") or {}).get("same", True):
            return False
        return all(str(record.get(name)) in values for name, values in self.fields.items())

    @property
    def lets_all_through(self) -> bool:
        """Whether it filters nothing."""
        return self == Filter()


def period(since: str | None, until: str | None) -> Filter | None:
    """Records from `since` on and before `until`, as a person writes them; None for all. Raises `InputError`."""
    if since is None and until is None:
        return None
    return Filter(moment(since) if since else None, moment(until) if until else None)


def moment(text: str, now: datetime | None = None) -> str:
    """A time as records write it, from ISO 8601 (`2026-03-01`, UTC where it says no zone) or from how long ago it was.

    `30min`, `12h`, `30d` and `4w` are so long before `now`. Raises `InputError`.
    """
    ago = _AGO.fullmatch(text.strip())
    if ago:
        when = (now or datetime.now(UTC)) - timedelta(seconds=int(ago[1]) * _UNITS[ago[2]])
    else:
        try:
            when = datetime.fromisoformat(text)
        except ValueError:
            raise InputError(
                f"{text!r} is no time; write 2026-03-01, 2026-03-01T12:00, or 30d, 12h, 30min ago"
            ) from None
        when = when if when.tzinfo else when.replace(tzinfo=UTC)
    return when.astimezone(UTC).isoformat(timespec="milliseconds")
