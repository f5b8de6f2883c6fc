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
class Period:
    """From `since` on and before `until` (ISO 8601 in UTC, as records write their time); None is no bound."""

    since: str | None = None
    until: str | None = None

    def holds(self, time: str | None) -> bool:
        """Whether a time lies in it. A record without a time lies in no period that has a bound."""
        if self == ALL_TIME:
            return True
        if time is None or (self.since is not None and time < self.since):
            return False
        return self.until is None or time < self.until


ALL_TIME = Period()


@dataclass(frozen=True, slots=True)
class Filter:
    """Lets through the records of a period whose fields have these values."""

    period: Period = ALL_TIME
    fields: Mapping[str, frozenset[str]] = field(default_factory=dict)
    failed: bool = False
    """Only decisions in which something failed to evaluate."""
    changed: bool = False
    """Only decisions that the shadow bundle would have made otherwise."""

    def fits(self, record: Mapping[str, Any]) -> bool:
        """Whether a record is meant."""
        if not self.period.holds(record.get("time")):
            return False
        if self.failed and not record.get("errors"):
            return False
        if self.changed and (record.get("shadow") or {}).get("same", True):
            return False
        return all(str(record.get(name)) in values for name, values in self.fields.items())


def period(since: str | None, until: str | None) -> Period:
    """The period that a person writes. Raises `InputError`."""
    return Period(None if since is None else moment(since), None if until is None else moment(until))


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
