"""What a plain YAML scalar means: the core schema of YAML 1.2, and where YAML 1.1 read it otherwise.

YAML 1.1, which many tools still follow, reads `no` as false, `1_000` as a number and `12:30` as 750.
Here they are text. `surprise` tells about such a text, so that a message can say it when a number was wanted.
"""

from __future__ import annotations

import re

Scalar = str | int | float | bool | None

INT64_MIN, INT64_MAX = -(2**63), 2**63 - 1

_WORDS: dict[str, Scalar] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_STARTS = frozenset("0123456789+-.")
_INT = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_LEADING_ZERO = re.compile(r"[-+]?0[0-9]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_NOT_FINITE = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")

_OLD_WORDS = {
    **dict.fromkeys(("yes", "Yes", "YES", "on", "On", "ON", "y", "Y"), "true"),
    **dict.fromkeys(("no", "No", "NO", "off", "Off", "OFF", "n", "N"), "false"),
}
_OLD_UNDERSCORE = re.compile(r"[-+]?(0x[0-9a-fA-F_]+|0b[01_]+|[0-9][0-9_]*(\.[0-9_]*)?([eE][-+]?[0-9]+)?)")
_OLD_BINARY = re.compile(r"[-+]?0b[01]+")
_OLD_SEXAGESIMAL = re.compile(r"[-+]?[0-9]+(:[0-5]?[0-9])+(\.[0-9]*)?")
_OLD_DATE = re.compile(r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}([Tt ].*)?")


class UnclearScalarError(ValueError):
    """A plain scalar that has no one clear meaning; `hint` says what to write."""

    def __init__(self, message: str, hint: str) -> None:
        self.hint = hint
        super().__init__(message)


def resolve(text: str) -> Scalar:
    """The value of the plain scalar `text`. Raises UnclearScalarError where any value would be a guess."""
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in _STARTS:
        return text
    if _INT.fullmatch(text):
        return _integer(text)
    if _FLOAT.fullmatch(text):
        return _float(text)
    if _NOT_FINITE.fullmatch(text):
        raise UnclearScalarError(
            f"`{text}` is not a finite number", "write a finite number, or quote it to mean the text"
        )
    return text


def _integer(text: str) -> int:
    if _LEADING_ZERO.fullmatch(text):
        digits = text.lstrip("+-").lstrip("0") or "0"
        octal = f"0o{_short(digits)}, " if text[0] == "0" and not set(digits) & {"8", "9"} else ""
        digits = "-" + digits if text[0] == "-" else digits
        raise UnclearScalarError(
            f"`{_short(text)}` starts with a zero: octal in YAML 1.1, decimal in YAML 1.2",
            f"write {_short(digits)}, {octal}or quote it to mean the text",
        )
    # 2**63 has 19 decimal digits, 16 hexadecimal or 22 octal ones; longer is not worth converting.
    value = int(text, 0) if len(text.lstrip("+-")) <= 24 else None
    if value is None or not INT64_MIN <= value <= INT64_MAX:
        raise UnclearScalarError(
            f"`{_short(text)}` is outside the range of 64-bit integers",
            "write a smaller number, or quote it to mean the text",
        )
    return value


def _float(text: str) -> float:
    value = float(text)
    mantissa = re.split("[eE]", text)[0]
    if value in (float("inf"), float("-inf")) or (value == 0 and set(mantissa) & set("123456789")):
        raise UnclearScalarError(
            f"`{_short(text)}` does not fit a 64-bit floating point number",
            "write a number of ordinary size, or quote it to mean the text",
        )
    return value


def surprise(text: str, wanted: str) -> str | None:
    """A hint for plain `text` that YAML 1.1 reads as a number, boolean or date; `wanted` names the type.

    `wanted` is a JSON Schema type name. None where the text is no such surprise.
    """
    if wanted == "boolean" and text in _OLD_WORDS:
        return f"`{text}` is text in YAML 1.2; write {_OLD_WORDS[text]}"
    if wanted not in ("number", "integer"):
        return None
    if "_" in text and _OLD_UNDERSCORE.fullmatch(text):
        return f"`{text}` is text in YAML 1.2; write {text.replace('_', '')} without the underscore"
    if _OLD_BINARY.fullmatch(text):
        return f"`{text}` is text in YAML 1.2; write {int(text.replace('0b', ''), 2)}"
    if _OLD_SEXAGESIMAL.fullmatch(text):
        return f"`{text}` is text in YAML 1.2, not a base 60 number; write the number in digits"
    if _OLD_DATE.fullmatch(text):
        return f"`{text}` is text in YAML 1.2, not a date; write a number"
    if re.fullmatch(r"[-+]?[0-9]{1,3}(,[0-9]{3})+", text):
        return f"`{text}` is text; write {text.replace(',', '')} without the commas"
    return None


def _short(text: str) -> str:
    return text if len(text) <= 30 else text[:27] + "..."
