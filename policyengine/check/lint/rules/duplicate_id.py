"""Two things of one bundle share a name that has to tell them apart."""

from __future__ import annotations

from collections.abc import Iterator

from policyengine.check.lint.context import Context
from policyengine.check.lint.rule import Hit, Rule
from policyengine.kinds.registry import KINDS
from policyengine.source.document import Document

_LISTS = (("rules", "vetoes"), ("tips",), ("properties",))
"""Lists of a `spec` whose rows have an `id`; those of one group share their names."""


def check(context: Context) -> Iterator[Hit]:
    """Ids within a document, and names of documents within the bundle."""
    names: dict[str, Document] = {}
    for document in context.documents:
        yield from _ids(document)
        if KINDS[document.data["kind"]].build is None:  # nothing asks for it by name
            continue
        name = document.data["metadata"]["name"]
        if name in names:
            place = document.place(("metadata", "name"))
            first = names[name].place(("metadata", "name"))
            yield Hit(place, f"the name `{name}` is taken by {first.file}:{first.line}", "give it another name")
        names.setdefault(name, document)


def _ids(document: Document) -> Iterator[Hit]:
    spec = document.data["spec"]
    for group in _LISTS:
        lines: dict[str, int] = {}
        paths = [("spec", key, index, "id") for key in group for index in range(len(spec.get(key) or ()))]
        if "rules" in group and "id" in (spec.get("default") or {}):
            paths.append(("spec", "default", "id"))  # type: ignore[arg-type]
        for path in paths:
            name = document.value(path)
            place = document.place(path)
            if name in lines:
                yield Hit(place, f"the id `{name}` is taken (line {lines[name]})", "give one of them another id")
            lines.setdefault(name, place.line)


RULE = Rule(
    code="duplicate-id",
    title="An id or name is taken",
    why="""\
Traces, logs and tests name rules by id and policies by name. Where two share one, nobody can say which decided.
""",
    bad="""\
rules:
  - {id: forced, when: forced}
  - {id: forced, when: tokens >= auto}
""",
    good="""\
rules:
  - {id: forced, when: forced}
  - {id: auto_reached, when: tokens >= auto}
""",
    fixed=True,
    check=check,
)
