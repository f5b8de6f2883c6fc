"""SummarySections: which profile a session has, and the sections that its summary must fill."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from policyengine.cel.functions import fingerprint
from policyengine.kinds.kind import Kind
from policyengine.kinds.spec import Path, Spec, SpecError
from policyengine.rules.table import Outcome, Rule, Table
from policyengine.source.nearest import did_you_mean
from policyengine.source.schema import load_schema

CATCH_ALL = "catch_all"
"""Word list of titles that a section may not have."""


def build(kind: Kind, spec: Spec) -> Table:
    """A table with one rule a profile; a profile that is asked for by name wins over every condition.

    Raises `SpecError` for a section that asks for nothing in particular, one that is unknown, or a budget too small.
    """
    sections: Mapping[str, Mapping[str, Any]] = spec.get("sections")
    _check_sections(spec, sections)
    profiles = spec.get("profiles")
    rules = []
    for index, row in enumerate(profiles):
        path: Path = ("spec", "profiles", index)
        _check_profile(row, sections, path)
        named = f"requested == {json.dumps(row['id'])}"
        if "when" in row:
            when = spec.wrapped(f"{named} || (requested == null && (", (*path, "when"), "))")
        else:
            when = spec.generated(f"{named} || requested == null", path)
        rules.append(Rule(row["id"], when, _outcome(row, sections), spec.document.place(path)))
    if "when" in profiles[-1]:
        raise SpecError(
            "the last profile has a condition, so that a session may have none",
            ("spec", "profiles", len(profiles) - 1, "when"),
            "end with a profile without `when`",
        )
    return Table(
        policy=spec.metadata["name"],
        version=spec.metadata["version"],
        kind=kind.name,
        input_schema=load_schema("inputs/summary-sections"),
        rules=spec.unique(rules, ("spec", "profiles")),
        default=_outcome(profiles[-1], sections),
        on_error=_outcome(profiles[-1], sections).literals,
        constants=spec.constants(),
        words=spec.words,
    )


def _outcome(row: Mapping[str, Any], sections: Mapping[str, Mapping[str, Any]]) -> Outcome:
    return Outcome(
        {
            "profile": row["id"],
            "sections": list(row["sections"]),
            "required": list(row["required"]),
            "max_bytes": sum(sections[name]["max_bytes"] for name in row["sections"]),
            "schema_digest": fingerprint([[name, dict(sections[name])] for name in row["sections"]]),
        }
    )


def _check_sections(spec: Spec, sections: Mapping[str, Mapping[str, Any]]) -> None:
    refused = {word.casefold() for word in spec.words.get(CATCH_ALL, ())}
    least = spec.get("limits")["item_bytes"]
    for name, section in sections.items():
        path: Path = ("spec", "sections", name)
        if section["title"].casefold().strip() in refused or name.replace("_", " ") in refused:
            raise SpecError(
                f"the section `{name}` ({section['title']}) is a catch-all: nothing tells whether it was filled",
                (*path, "title"),
                "name what it has to hold, as a checklist",
            )
        if section["max_bytes"] < 2 * least:
            raise SpecError(
                f"the section `{name}` has room for {section['max_bytes']} bytes, less than two items of {least}",
                (*path, "max_bytes"),
                "raise max_bytes, or lower limits.item_bytes",
            )


def _check_profile(row: Mapping[str, Any], sections: Mapping[str, Any], path: Path) -> None:
    for key in ("sections", "required"):
        for index, name in enumerate(row[key]):
            if name not in sections:
                raise SpecError(f"there is no section `{name}`", (*path, key, index), did_you_mean(name, sections))
            if key == "required" and name not in row["sections"]:
                raise SpecError(
                    f"`{name}` is required and not among the sections of `{row['id']}`",
                    (*path, key, index),
                    "add it to sections:",
                )


KIND = Kind("SummarySections", "What a summary must hold", build)
