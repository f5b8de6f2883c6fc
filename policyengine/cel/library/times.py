"""Parts of timestamps and durations."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from functools import lru_cache
from typing import Any

from policyengine.cel.errors import CelError
from policyengine.cel.library.overloads import Overload, method
from policyengine.cel.types import DURATION, INT, STRING, TIMESTAMP
from policyengine.cel.values import Duration, Timestamp

_OFFSET = re.compile(r"([+-]?)([0-9]{1,2}):([0-9]{2})")
_ZONE = re.compile(r"[A-Za-z][A-Za-z0-9_+\-]*(?:/[A-Za-z0-9_+\-]+)*")


@lru_cache(maxsize=256)
def _zone(name: str) -> tzinfo:
    if name in ("", "UTC"):
        return UTC
    match = _OFFSET.fullmatch(name)
    if match:
        sign, hours, minutes = match.groups()
        if int(hours) > 23 or int(minutes) > 59:
            raise CelError("invalid time zone")
        span = timedelta(hours=int(hours), minutes=int(minutes))
        return timezone(-span if sign == "-" else span)
    if not _ZONE.fullmatch(name):  # never let a name reach the file system as a path
        raise CelError("invalid time zone")
    from zoneinfo import ZoneInfo

    try:
        return ZoneInfo(name)
    except Exception:  # zoneinfo has no common base for what it raises
        raise CelError("unknown time zone") from None


def _local(moment: Timestamp, zone: str) -> datetime:
    try:
        return moment.to_datetime().astimezone(_zone(zone))
    except (OverflowError, ValueError):
        raise CelError("timestamp out of range in that time zone") from None


def _cut(nanos: int, unit: int) -> int:
    return -(-nanos // unit) if nanos < 0 else nanos // unit


_PARTS: dict[str, Callable[[datetime], int]] = {
    "getFullYear": lambda moment: moment.year,
    "getMonth": lambda moment: moment.month - 1,
    "getDate": lambda moment: moment.day,
    "getDayOfMonth": lambda moment: moment.day - 1,
    "getDayOfWeek": lambda moment: moment.isoweekday() % 7,
    "getDayOfYear": lambda moment: moment.timetuple().tm_yday - 1,
    "getHours": lambda moment: moment.hour,
    "getMinutes": lambda moment: moment.minute,
    "getSeconds": lambda moment: moment.second,
    "getMilliseconds": lambda moment: moment.microsecond // 1000,
}
_SPANS = {"getHours": 3_600_000_000_000, "getMinutes": 60_000_000_000, "getSeconds": 1_000_000_000}


def _of_moment(part: Callable[[datetime], int]) -> Callable[..., int]:
    def get(moment: Timestamp, zone: str = "UTC") -> int:
        return part(_local(moment, zone))

    return get


def _of_span(unit: int) -> Callable[[Duration], int]:
    return lambda span: _cut(span.nanos, unit)


def _milliseconds(span: Duration) -> int:
    return _cut(abs(span.nanos) % 1_000_000_000, 1_000_000) * (-1 if span.nanos < 0 else 1)


def _all() -> list[Any]:
    found: list[Overload] = []
    for name, part in _PARTS.items():
        get = _of_moment(part)
        found.append(method(name, (TIMESTAMP,), INT, get))
        found.append(method(name, (TIMESTAMP, STRING), INT, get))
    found += [method(name, (DURATION,), INT, _of_span(unit)) for name, unit in _SPANS.items()]
    found.append(method("getMilliseconds", (DURATION,), INT, _milliseconds))
    return found


OVERLOADS: list[Overload] = _all()
