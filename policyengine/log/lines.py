"""What a line of a log holds: a record, or as much of it as counting needs.

`parse` reads a whole record with the json module. `rows` reads only the fields of `Row`, with a decoder that is about
eight times as fast, and asks the json module about every line that the decoder refuses, so that both read these fields
alike in every line.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any

import msgspec

Line = str | bytes

# Within 64 bits and finite: no sum or quotient of such numbers goes beyond what a float holds.
_Whole = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]
_Real = Annotated[float, msgspec.Meta(ge=-(2.0**63), le=2.0**63)]


class Row(msgspec.Struct, gc=False, kw_only=True):
    """The fields of a record that metrics, groups and periods read; `schemas/record.schema.json` says what they are.

    None where the record does not say. In the order of records: the decoder looks for the next field first.
    """

    dropped: _Whole | None = None
    error_count: _Whole | None = None
    kind: str
    policy: str | None = None
    time: str | None = None
    session_id: str | None = None
    turn_id: str | None = None
    round: _Whole | None = None
    decision: str | None = None
    veto_reason: str | None = None
    tier_actual: str | None = None
    response: str | None = None
    prompt_tokens: _Whole | None = None
    cached_tokens: _Whole | None = None
    output_tokens: _Whole | None = None
    total_rt_ms: _Whole | _Real | None = None
    fallback_triggered: bool | None = None
    fallback_reason: str | None = None
    fast_tokens_consumed: _Whole | None = None
    prefix_changed: str | None = None
    more_detail: bool | None = None
    previous_decision: str | None = None
    compaction_outcome: str | None = None
    compaction_rt_ms: _Whole | _Real | None = None
    half_written_texts: _Whole | None = None
    render_ms: _Whole | _Real | None = None
    model_actual: str | None = None


_NAMES = frozenset(Row.__struct_fields__)
_FORMS = {
    "source": str, "rule": str, "rules": list, "outcome": dict, "errors": list, "input": dict, "masked": list,
    "shadow": dict,
}  # fmt: skip
"""The fields that only commands over whole records read."""
_decode = msgspec.json.Decoder(Row).decode
_REFUSED = (msgspec.DecodeError, ValueError, RecursionError)


def parse(line: Line) -> dict[str, Any] | None:
    """The record in a line; None where it holds none: no JSON object, no kind, or a field of another type."""
    value = _loaded(line)
    return value if value is not None and row_of(value) is not None and _well_formed(value) else None


def _well_formed(record: Mapping[str, Any]) -> bool:
    for name, form in _FORMS.items():
        value = record.get(name)
        if value is not None and not isinstance(value, form):
            return False
    for rule in record.get("rules") or ():
        if not (isinstance(rule, dict) and isinstance(rule.get("id"), str) and isinstance(rule.get("status"), str)):
            return False
    return all(isinstance(path, str) for path in record.get("masked") or ())


def row_of(record: Mapping[str, Any]) -> Row | None:
    """What counting needs of a record; None where it is none."""
    # Other names are left out first: one with half a surrogate pair in it would be refused.
    known = {name: value for name, value in record.items() if name in _NAMES}
    try:
        return msgspec.convert(known, Row)
    except (msgspec.ValidationError, UnicodeEncodeError):
        return None


def rows(lines: Sequence[bytes]) -> tuple[list[Row], int]:
    """The rows of lines, in order, and how many lines hold no record. A blank line holds nothing and counts nowhere."""
    if _checked(lines):
        try:
            return [_decode(line) for line in lines], 0
        except _REFUSED:
            pass
    found = []
    unreadable = 0
    for line in lines:
        row = _row(line)
        if row is not None:
            found.append(row)
        elif line.strip():
            unreadable += 1
    return found, unreadable


def _row(line: bytes) -> Row | None:
    if _checked((line,)):
        try:
            return _decode(line)
        except _REFUSED:
            pass
    value = _loaded(line)
    return None if value is None else row_of(value)


def _loaded(line: Line) -> dict[str, Any] | None:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _checked(lines: Iterable[bytes]) -> bool:
    """Whether what the decoder does not check in fields that it passes over is right: UTF-8, and the length of numbers.

    The json module refuses both, a number where Python does: at 4300 digits, if nobody asked for another limit.
    """
    text = b"".join(lines)
    if not text.isascii():
        try:
            text.decode("utf-8", "surrogatepass")
        except UnicodeDecodeError:
            return False
    # So many digits in a row fill one of the pieces of half that length.
    step = sys.get_int_max_str_digits() // 2
    return not step or not any(text[at : at + step].isdigit() for at in range(0, len(text), step))
