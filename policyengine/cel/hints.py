"""What to do about a finding, in a few words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from policyengine.cel.types import Type


def nearest(name: str, names: Iterable[str]) -> str | None:
    """A hint naming what the person may have meant."""
    from difflib import get_close_matches  # only where something is wrong

    known = list(names)
    close = get_close_matches(name, known, 1, 0.6)
    if close:
        return f"did you mean {close[0]!r}?"
    return f"known: {', '.join(sorted(known))}" if 0 < len(known) <= 8 else None


def word_for_operator(word: object) -> str | None:
    """What CEL writes for an operator that other languages spell as a word."""
    written = {"and": "&&", "or": "||", "not": "!", "is": "=="}.get(str(word).lower())
    return f"CEL writes {written} for `{word}`" if written else None


def advice(op: str, kinds: Sequence[Type]) -> str | None:
    """What to write instead of an operator with operands of these types."""
    names = {kind.kind for kind in kinds}
    if names == {"int", "double"}:
        return "numbers are not mixed: write 1.0 for a double, or convert with double(x)"
    if op == "in" and kinds[-1].kind == "string":
        return "for a part of a string write text.contains(part)"
    if op == "+" and "string" in names:
        return "convert with string(x)"
    if "null" in names and op in ("==", "!="):
        return "this value is never null"
    return None


def signature(name: str, params: Sequence[Type], method: bool) -> str:
    """A function as a person reads it."""
    shown = [str(param) if param.kind != "var" else "any" for param in params]
    return f"{shown[0]}.{name}({', '.join(shown[1:])})" if method else f"{name}({', '.join(shown)})"
