"""Reading a model's structured answer: whole, in the form that was asked for, or refused."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from policyengine.compression.method import Answer, Attempt
from policyengine.compression.sections import Layout, Section
from policyengine.compression.summary import one_line, size
from policyengine.source.errors import InputError
from policyengine.source.jsonfile import parse_json

_FENCES = ("```json", "```JSON", "```")


@dataclass(frozen=True, slots=True)
class Claim:
    """One item as a model stated it, not yet held against the record."""

    section: str
    text: str
    sources: tuple[int, ...]
    label: str = ""


class RefusedError(Exception):
    """The answer cannot be used."""

    def __init__(self, attempt: Attempt) -> None:
        self.attempt = attempt
        super().__init__(attempt.detail)


def check_whole(layout: Layout, answer: Answer, limit: int | None = None) -> str:
    """The text of an answer that ended by itself. Raises RefusedError."""
    if answer.stop == "length":
        raise RefusedError(Attempt("truncated", "the answer was cut off at its cap"))
    if answer.stop == "tool_calls":
        raise RefusedError(Attempt("tool_call", "the answer calls a tool"))
    if answer.stop != "stop":
        raise RefusedError(Attempt("error", f"there is no answer ({answer.stop})"))
    limit = limit or layout.limits["answer_bytes"]
    if size(answer.text) > limit:
        raise RefusedError(Attempt("oversized", f"the answer has {size(answer.text)} bytes, more than {limit}"))
    if not answer.text.strip():
        raise RefusedError(Attempt("empty", "the answer is empty"))
    return answer.text.strip()


def read_answer(layout: Layout, answer: Answer) -> list[Claim]:
    """The claims of a structured answer. Raises RefusedError for anything but the object that was asked for."""
    text = _unfenced(check_whole(layout, answer))
    try:
        data = parse_json(text, "answer")
    except InputError as error:
        raise RefusedError(Attempt("malformed", f"it is not one JSON object: {error}")) from None
    if not isinstance(data, Mapping):
        raise RefusedError(Attempt("malformed", "it is not a JSON object"))
    wanted = [section.id for section in layout.sections]
    if missing := [name for name in wanted if name not in data]:
        raise RefusedError(Attempt("missing_section", f"these keys are missing: {', '.join(missing)}"))
    if unknown := [name for name in data if name not in wanted]:
        raise RefusedError(Attempt("malformed", f"{len(unknown)} keys were not asked for"))
    return [claim for section in layout.sections for claim in _claims(layout, section, data[section.id])]


def _claims(layout: Layout, section: Section, rows: Any) -> list[Claim]:
    if not isinstance(rows, list):
        raise RefusedError(Attempt("malformed", f"`{section.id}` is not a list"))
    if len(rows) > layout.limits["items"]:
        raise RefusedError(
            Attempt("oversized", f"`{section.id}` has {len(rows)} items, more than {layout.limits['items']}")
        )
    label = section.identity if section.identity != "text" else None
    keys = {"text", "from", *([label] if label else [])}
    claims = []
    for number, row in enumerate(rows, start=1):
        if not isinstance(row, Mapping) or set(row) != keys:
            raise RefusedError(
                Attempt("malformed", f"item {number} of `{section.id}` does not have exactly {', '.join(sorted(keys))}")
            )
        words, sources, name = row["text"], row["from"], row.get(label) if label else ""
        well_formed = (
            isinstance(words, str)
            and isinstance(name, str)
            and isinstance(sources, list)
            and all(isinstance(source, int) and not isinstance(source, bool) for source in sources)
        )
        if not well_formed:
            raise RefusedError(Attempt("malformed", f"item {number} of `{section.id}` has a field of the wrong type"))
        claims.append(Claim(section.id, one_line(words), tuple(sources), one_line(str(name))))
    return claims


def _unfenced(text: str) -> str:
    """The answer without one code fence around the whole of it."""
    for fence in _FENCES:
        if text.startswith(fence + "\n") and text.endswith("\n```"):
            return text[len(fence) + 1 : -4]
    return text
