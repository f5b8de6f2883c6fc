"""A number far from anything that makes sense, by the ranges in `schemas/lint/sane-ranges.json`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from policyengine.check.lint.context import Context
from policyengine.check.lint.rule import Hit, Rule
from policyengine.source.counts import number
from policyengine.source.finding import Severity
from policyengine.source.resources import schemas_folder


def check(context: Context) -> Iterator[Hit]:
    """The constants of each document, by name and by the end of their name, and the numbers of catalogues."""
    for document in context.documents:
        kind, spec = document.data["kind"], document.data["spec"]
        for path, value, sane in _numbers(kind, spec):
            if isinstance(value, bool) or not isinstance(value, int | float) or sane["least"] <= value <= sane["most"]:
                continue
            bounds = f"{number(sane['least'])} and {number(sane['most'])}"
            message = f"`{path[-1]}` is {number(value)}; {sane['what']} lies between {bounds}"
            yield Hit(document.place(("spec", *path)), message, "check the unit, and the number of digits")


def _numbers(kind: str, spec: Mapping[str, Any]) -> Iterator[tuple[tuple[str | int, ...], Any, Mapping[str, Any]]]:
    """Numbers of a document, each with its path and the range that holds for it."""
    ranges = _ranges()
    own = ranges["constants"].get(kind, {})
    for name, value in spec.get("constants", {}).items():
        sane = own.get(name) or next((row for end, row in ranges["endings"].items() if name.endswith(end)), None)
        if sane is not None:
            yield ("constants", name), value, sane
    for key, fields in ranges["rows"].get(kind, {}).items():
        for index, row in enumerate(spec.get(key, ())):
            for name, sane in fields.items():
                yield (key, index, name), row.get(name), sane
    for name, sane in ranges["fields"].get(kind, {}).items():
        yield (name,), spec.get(name), sane


@cache
def _ranges() -> Any:
    return json.loads((schemas_folder() / "lint" / "sane-ranges.json").read_text(encoding="utf-8"))


RULE = Rule(
    code="number-range",
    title="A number is out of any sane range",
    why="""\
A share of 7 instead of 0.7, or milliseconds where seconds were meant, fits the type and breaks the loop. The ranges
are wide and stand in a file of their own; a number outside them is almost surely a slip.
""",
    bad="""\
constants: {pct: 70}
""",
    good="""\
constants: {pct: 0.7}
""",
    severity=Severity.WARNING,
    check=check,
)
