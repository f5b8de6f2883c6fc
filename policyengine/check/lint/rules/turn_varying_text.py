"""What is another one each turn, in a system text; by the words and patterns in `schemas/lint/turn-varying.json`."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from policyengine.check.lint.context import Context, walk
from policyengine.check.lint.rule import Hit, Rule
from policyengine.source.finding import Severity
from policyengine.source.resources import schemas_folder

# The ways in which templates write a name: {name}, {{ name }}, ${name}, $name, %(name)s, $(name). Angle brackets are
# none of them: in a prompt they are tags, or stand for what the model fills in.
_NAME = r"([A-Za-z][A-Za-z0-9_.-]*(?: [a-z]+)?)"
_PLACEHOLDER = re.compile(rf"\{{\{{?\s*{_NAME}\s*\}}?\}}|\$[{{(]{_NAME}[}})]|\$([A-Za-z_]\w*)|%\({_NAME}\)s")
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z0-9]+")


@dataclass(frozen=True, slots=True)
class _Varying:
    keys: frozenset[str]
    endings: tuple[str, ...]
    names: frozenset[str]
    longest: int
    """Words of the longest name."""
    written: tuple[tuple[str, Callable[[str], Iterator[Any]]], ...]
    introduced: tuple[str, ...]
    """Words before an example."""


def check(context: Context) -> Iterator[Hit]:
    """Placeholders and what is written out, in every text under a key that holds a system text."""
    varying = _varying()
    for document in context.documents:
        for path, value in walk(document.data["spec"], ("spec",)):
            # A table's `input` is a JSON Schema: a field may be called so and holds no text.
            if not isinstance(value, str) or path[:2] == ("spec", "input") or not _is_system(path, varying):
                continue
            for start, end, what in _found(value, varying):
                place = document.place_in(path, start, end - start)
                yield Hit(place, f"{what} in a system text", "say it in a message of the turn, behind what stays")


def _is_system(path: tuple[str | int, ...], varying: _Varying) -> bool:
    keys = [step for step in path if isinstance(step, str)]  # a system text may have parts, in a list or by name
    return any(key in varying.keys or key.endswith(varying.endings) for key in keys)


def _found(text: str, varying: _Varying) -> Iterator[tuple[int, int, str]]:
    done = 0
    for found in sorted(_candidates(text, varying)):
        if found[0] >= done:  # a date with a time is one thing
            yield found
            done = found[1]


def _candidates(text: str, varying: _Varying) -> Iterator[tuple[int, int, str]]:
    for found in _PLACEHOLDER.finditer(text):
        name = next(group for group in found.groups() if group is not None)
        if _varies(name, varying):
            yield found.start(), found.end(), f"`{found.group()}` is another one each turn and stands"
    for what, matches in varying.written:
        yield from (
            (*found.span(), f"{what} is written out")
            for found in matches(text)
            if not _is_example(text[: found.start()], varying)
        )


def _is_example(before: str, varying: _Varying) -> bool:
    """Whether what is behind a text shows how such things are written: in code, behind a colon, or said to be one."""
    quoted = before.count("`") % 2 == 1
    return quoted or before.endswith(":") or before.rstrip(" \"'“‘(").lower().endswith(varying.introduced)


def _varies(name: str, varying: _Varying) -> bool:
    words = [word.lower() for word in _WORD.findall(name)]
    return any("_".join(words[-count:]) in varying.names for count in range(1, min(len(words), varying.longest) + 1))


@cache
def _varying() -> _Varying:
    import re2

    data = json.loads((schemas_folder() / "lint" / "turn-varying.json").read_text(encoding="utf-8"))
    return _Varying(
        frozenset(data["keys"]),
        tuple(data["endings"]),
        frozenset(data["names"]),
        max(name.count("_") + 1 for name in data["names"]),
        tuple((row["what"], re2.compile(row["pattern"]).finditer) for row in data["patterns"]),
        tuple(data["introduced"]),
    )


RULE = Rule(
    code="turn-varying-text",
    title="A system text holds what is another one each turn",
    why="""\
Providers keep what a prompt begins with in a cache, as long as not one character of it changes. A date, a working
directory, the state of the repository or a random id in the system text changes it, so that every prompt is paid for
and waited for in full. Such things belong into a message of the turn. The words and patterns stand in a file of their
own, `schemas/lint/turn-varying.json`.
""",
    bad="""\
run_system: You answer questions about {cwd}. Today is {current_date}.
""",
    good="""\
run_system: You answer questions about the files of one folder.
""",
    severity=Severity.WARNING,
    check=check,
)
