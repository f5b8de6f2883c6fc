"""`"%s is %d".format([name, count])`."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from policyengine.cel.errors import CelError
from policyengine.cel.limits import MAX_STRING_CHARS, MAX_VALUE_DEPTH
from policyengine.cel.values import CelType, Duration, Timestamp, UInt

_CLAUSE = re.compile(r"%(?:%|(?:\.([0-9]+))?(.?))", re.DOTALL)
_MAX_PRECISION = 100


def format_text(template: str, values: Sequence[Any]) -> str:
    """Fill in the clauses of a template. Raises CelError."""
    used, room = 0, MAX_STRING_CHARS

    def one(match: re.Match[str]) -> str:
        nonlocal used, room
        if match.group() == "%%":
            return "%"
        precision, clause = match.groups()
        render = _CLAUSES.get(clause)
        if render is None:
            raise CelError("unrecognized formatting clause")
        if used >= len(values):
            raise CelError("format() has more clauses than values")
        used += 1
        digits = 6 if precision is None else int(precision[:4])
        if digits > _MAX_PRECISION:
            raise CelError(f"precision above {_MAX_PRECISION} in format()")
        text = render(values[used - 1], digits)
        room -= len(text)
        if room < 0:
            raise CelError(f"a string would be longer than {MAX_STRING_CHARS} characters")
        return text

    return _CLAUSE.sub(one, template)


def _special(value: float) -> str | None:
    if math.isfinite(value):
        return None
    return "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"


def _text(value: Any, _digits: int = 6, depth: int = 0) -> str:
    if depth > MAX_VALUE_DEPTH:
        raise CelError("a value is nested too deeply to format")
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return value
    if isinstance(value, int):
        return str(int(value))
    if isinstance(value, float):
        from decimal import Decimal

        return _special(value) or format(Decimal(repr(value)), "f").removesuffix(".0")
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, (Timestamp, Duration, CelType)):
        return str(value)
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_text(item, 6, depth + 1) for item in value) + "]"
    if isinstance(value, Mapping):
        parts = sorted((_text(key, 6, depth + 1), _text(item, 6, depth + 1)) for key, item in value.items())
        return "{" + ", ".join(f"{key}: {item}" for key, item in parts) + "}"
    raise _refuse("strings", value)


def _decimal(value: Any, _digits: int) -> str:
    if type(value) in (int, UInt):
        return str(int(value))
    if type(value) is float:
        special = _special(value)
        if special:
            return special
    raise _refuse("ints and uints", value)


def _real(style: str) -> Callable[[Any, int], str]:
    def render(value: Any, digits: int) -> str:
        if type(value) not in (int, UInt, float):
            raise _refuse("numbers", value)
        return _special(float(value)) or format(float(value), f".{digits}{style}")

    return render


def _binary(value: Any, _digits: int) -> str:
    if type(value) not in (int, UInt, bool):
        raise _refuse("ints, uints and bools", value)
    return format(int(value), "b")


def _octal(value: Any, _digits: int) -> str:
    if type(value) not in (int, UInt):
        raise _refuse("ints and uints", value)
    return format(int(value), "o")


def _hexadecimal(value: Any, _digits: int) -> str:
    if type(value) in (int, UInt):
        return format(int(value), "x")
    if type(value) is str:
        return value.encode("utf-8", "replace").hex()
    if type(value) is bytes:
        return value.hex()
    raise _refuse("ints, uints, bytes and strings", value)


def _refuse(what: str, value: Any) -> CelError:
    return CelError(f"error during formatting: the clause takes {what}, not {type(value).__name__}")


_CLAUSES: dict[str, Callable[[Any, int], str]] = {
    "s": _text,
    "d": _decimal,
    "f": _real("f"),
    "e": _real("e"),
    "b": _binary,
    "o": _octal,
    "x": _hexadecimal,
    "X": lambda value, digits: _hexadecimal(value, digits).upper(),
}

_INTEGERS = frozenset(("int", "uint"))
_KINDS = {
    "d": _INTEGERS | {"double"},
    "f": _INTEGERS | {"double"},
    "e": _INTEGERS | {"double"},
    "b": _INTEGERS | {"bool"},
    "o": _INTEGERS,
    "x": _INTEGERS | {"string", "bytes"},
    "X": _INTEGERS | {"string", "bytes"},
}


def complaint(template: str, kinds: Sequence[str]) -> str | None:
    """What is wrong with a template that is known, over values of these kinds (`dyn` for unknown); None when fine."""
    used = 0
    for match in _CLAUSE.finditer(template):
        clause = match.group(2)
        if match.group() == "%%":
            continue
        if clause not in _CLAUSES:
            return f"unrecognized formatting clause %{clause}"
        if used >= len(kinds):
            return f"format() has more clauses than its {len(kinds)} values"
        kind = kinds[used]
        if clause != "s" and kind not in ("dyn", "error", "var") and kind not in _KINDS[clause]:
            return f"%{clause} does not take {kind}"
        used += 1
    return None
