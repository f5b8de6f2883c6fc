"""The values of CEL that Python has no type for.

Everything else is itself: int, float (double), bool, str, bytes, None, list and dict.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from policyengine.cel.errors import CelError
from policyengine.cel.limits import MAX_INT, MAX_UINT, MIN_INT

_SECOND = 1_000_000_000
_MIN_SECONDS = -62_135_596_800  # 0001-01-01T00:00:00Z
_MAX_SECONDS = 253_402_300_799  # 9999-12-31T23:59:59Z
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class UInt(int):
    """An unsigned 64-bit integer (`5u`). It equals the int of the same value, as CEL says."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"{int(self)}u"


@dataclass(frozen=True, slots=True, order=True)
class Timestamp:
    """A moment, from year 1 to 9999. `nanos` counts nanoseconds since 1970-01-01T00:00:00Z."""

    nanos: int

    def __post_init__(self) -> None:
        if not _MIN_SECONDS * _SECOND <= self.nanos < (_MAX_SECONDS + 1) * _SECOND:
            raise CelError("timestamp out of range: years 1 to 9999")

    @classmethod
    def parse(cls, text: str) -> Timestamp:
        """Read RFC 3339. Raises CelError."""
        match = _RFC3339.fullmatch(text)
        if match is None:
            raise CelError("invalid timestamp: expected RFC 3339, such as 2024-01-31T12:00:00Z")
        head, fraction, zone = match.groups()
        try:
            moment = datetime.fromisoformat(head + ("+00:00" if zone in "zZ" else zone))
        except ValueError:
            raise CelError("timestamp out of range") from None
        delta = moment - _EPOCH
        whole = delta.days * 86_400 + delta.seconds
        return cls(whole * _SECOND + int((fraction or "").ljust(9, "0") or 0))

    @classmethod
    def of(cls, moment: datetime) -> Timestamp:
        """From a datetime; a naive one is taken as UTC."""
        delta = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)) - _EPOCH
        return cls((delta.days * 86_400 + delta.seconds) * _SECOND + delta.microseconds * 1000)

    def to_datetime(self) -> datetime:
        """As a datetime in UTC; nanoseconds below a microsecond are cut."""
        return _EPOCH + timedelta(microseconds=self.nanos // 1000)

    def __str__(self) -> str:
        seconds, rest = divmod(self.nanos, _SECOND)
        moment = _EPOCH + timedelta(seconds=seconds)
        fraction = f".{rest:09d}".rstrip("0") if rest else ""
        return f"{moment:%Y-%m-%dT%H:%M:%S}".rjust(19, "0") + fraction + "Z"


_RFC3339 = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2}[Tt][0-9]{2}:[0-9]{2}:[0-9]{2})(?:\.([0-9]{1,9}))?([Zz]|[+-][0-9]{2}:[0-9]{2})"
)


@dataclass(frozen=True, slots=True, order=True)
class Duration:
    """A span of time in nanoseconds, within 64 bits (about 292 years either way)."""

    nanos: int

    def __post_init__(self) -> None:
        if not MIN_INT <= self.nanos <= MAX_INT:
            raise CelError("duration out of range")

    @classmethod
    def parse(cls, text: str) -> Duration:
        """Read a signed sequence of numbers with units, such as `-1h30m` or `1.5s`. Raises CelError."""
        sign, rest = (-1, text[1:]) if text[:1] == "-" else (1, text[1:] if text[:1] == "+" else text)
        if rest == "0":
            return cls(0)
        if len(text) > 100 or not rest or not _DURATION.fullmatch(rest):
            raise CelError("invalid duration: expected numbers with units, such as 1h30m or 2.5s")
        total = 0
        for whole, fraction, unit in _DURATION_PART.findall(rest):
            scale = _UNITS[unit]
            total += int(whole or 0) * scale
            if fraction:
                total += int(fraction) * scale // 10 ** len(fraction)
        return cls(sign * total)

    @classmethod
    def of(cls, span: timedelta) -> Duration:
        """From a timedelta."""
        return cls((span.days * 86_400 + span.seconds) * _SECOND + span.microseconds * 1000)

    def to_timedelta(self) -> timedelta:
        """As a timedelta; nanoseconds below a microsecond are cut."""
        return timedelta(microseconds=self.nanos // 1000)

    def __str__(self) -> str:
        sign = "-" if self.nanos < 0 else ""
        seconds, rest = divmod(abs(self.nanos), _SECOND)
        fraction = f".{rest:09d}".rstrip("0") if rest else ""
        return f"{sign}{seconds}{fraction}s"


_UNITS = {
    "ns": 1,
    "us": 1000,
    "µs": 1000,
    "μs": 1000,
    "ms": 1_000_000,
    "s": _SECOND,
    "m": 60 * _SECOND,
    "h": 3600 * _SECOND,
}
_PART = r"(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:ns|us|µs|μs|ms|s|m|h)"
_DURATION = re.compile(f"(?:{_PART})+")
_DURATION_PART = re.compile(r"([0-9]*)(?:\.([0-9]*))?(ns|us|µs|μs|ms|s|m|h)")


@dataclass(frozen=True, slots=True)
class CelType:
    """The value of `type(x)`, and of names such as `int`."""

    name: str

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class Optional:
    """A value that may be absent (`optional.of(1)`, `optional.none()`)."""

    value: Any = None
    present: bool = False


class MixedMap(Mapping[Any, Any]):
    """A map whose keys hold both a bool and the int of the same worth, which Python's dict would take for one."""

    __slots__ = ("_entries",)

    def __init__(self, entries: Iterable[tuple[Any, Any]]) -> None:
        self._entries = {(type(key) is bool, key): value for key, value in entries}

    def __getitem__(self, key: Any) -> Any:
        return self._entries[type(key) is bool, key]

    def __iter__(self) -> Iterator[Any]:
        return (key for _, key in self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def __repr__(self) -> str:
        return "{" + ", ".join(f"{key!r}: {value!r}" for key, value in self.items()) + "}"


_NAMES: dict[type, str] = {
    int: "int",
    UInt: "uint",
    float: "double",
    bool: "bool",
    str: "string",
    bytes: "bytes",
    type(None): "null_type",
    list: "list",
    tuple: "list",
    dict: "map",
    Timestamp: "timestamp",
    Duration: "duration",
    CelType: "type",
    Optional: "optional_type",
}


def kind_of(value: Any) -> str:
    """The short name of a value's type: `int`, `string`, `list`, ... Raises CelError for a foreign object."""
    name = _NAMES.get(type(value))
    if name is None:
        for parent, inherited in _PARENTS:  # a frozen dict or list, a StrEnum
            if isinstance(value, parent):
                return inherited
        raise CelError("a value is of a type that expressions do not know")
    return name


_PARENTS: tuple[tuple[type, str], ...] = (
    (Mapping, "map"),
    (list, "list"),
    (tuple, "list"),
    (str, "string"),
    (int, "int"),
    (float, "double"),
)
_TYPE_NAMES = {"timestamp": "google.protobuf.Timestamp", "duration": "google.protobuf.Duration"}


def type_of(value: Any) -> CelType:
    """What `type(value)` gives."""
    name = kind_of(value)
    return CelType(_TYPE_NAMES.get(name, name))


def from_python(value: Any) -> Any:
    """Bring a caller's value to CEL's types: datetime, timedelta, bytearray, tuples and subclasses. Raises CelError."""
    try:
        return _converted(value, 0, {})
    except (CelError, RecursionError):
        raise
    except Exception as error:  # a value's own methods may raise anything
        raise CelError(f"a value cannot be read ({type(error).__name__})") from None


_KEPT = frozenset((str, float, bool, bytes, type(None), Timestamp, Duration, CelType))


def _converted(value: Any, depth: int, done: dict[int, tuple[Any, Any]]) -> Any:
    """`done` holds what was converted, by identity: a list that is held twice at each of 60 levels is read once."""
    kind = type(value)
    if kind in _KEPT:
        return value
    if kind is int or kind is UInt:
        if not (MIN_INT <= value <= MAX_INT if kind is int else 0 <= value <= MAX_UINT):
            raise CelError("integer out of range: 64 bits")
        return value
    if depth > 64:
        raise CelError("a value is nested too deeply")
    if isinstance(value, (list, tuple, Mapping)):
        if id(value) not in done:
            inner = _map(value, depth + 1, done) if isinstance(value, Mapping) else _list(value, depth + 1, done)
            done[id(value)] = value, inner
        return done[id(value)][1]
    if kind is Optional:
        return Optional(_converted(value.value, depth + 1, done), value.present)
    if isinstance(value, datetime):
        return Timestamp.of(value)
    if isinstance(value, timedelta):
        return Duration.of(value)
    if isinstance(value, (bytearray, memoryview, bytes)):
        return bytes(value)
    if isinstance(value, (int, float, str)):
        return _converted(without_subclass(value), depth + 1, done)
    raise CelError("a value is of a type that expressions do not know")


def _list(value: Iterable[Any], depth: int, done: dict[int, tuple[Any, Any]]) -> list[Any]:
    return [_converted(item, depth, done) for item in value]


def _map(value: Mapping[Any, Any], depth: int, done: dict[int, tuple[Any, Any]]) -> dict[Any, Any]:
    result: dict[Any, Any] = {}
    entries = 0
    for key, item in value.items():
        plain = key if type(key) is str else _converted(key, depth, done)
        if type(plain) not in (str, bool, int, UInt):
            raise CelError("unsupported key type: keys are strings, ints, uints or bools")
        result[plain] = _converted(item, depth, done)
        entries += 1
    if len(result) != entries:
        raise CelError("repeated key in a map")
    return result


def without_subclass(value: Any) -> Any:
    """A StrEnum's string, an IntEnum's int and the like, whatever the class makes of it; any other value as it is."""
    kind = type(value)
    if kind in _NAMES:
        return value
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int):
        return int.__int__(value)
    if isinstance(value, float):
        return float.__float__(value)
    return value
