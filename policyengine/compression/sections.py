"""The sections of a profile, and the bounds and texts that go with them, read from SummarySections."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from policyengine.compression.cut import Keep
from policyengine.kinds.bundle import Bundle
from policyengine.kinds.policy import Policy
from policyengine.source.errors import InputError

KIND = "SummarySections"


@dataclass(frozen=True, slots=True)
class Section:
    """One section; see the policy's schema for its fields. `required` says that it must hold something."""

    id: str
    title: str
    ask: str
    identity: Literal["text", "path", "subject"]
    merge: Literal["accumulate", "replace"]
    keep: Literal["oldest", "newest"]
    max_bytes: int
    sources: tuple[str, ...]
    extract: str
    required: bool


@dataclass(frozen=True, slots=True)
class Layout:
    """Everything a method needs to know of the policy, for one profile."""

    profile: str
    sections: tuple[Section, ...]
    keep: Keep
    limits: Mapping[str, int]
    grounding: Mapping[str, Any]
    texts: Mapping[str, str]
    digest: str

    def section(self, id: str) -> Section:
        """The section called `id`."""
        return next(section for section in self.sections if section.id == id)

    def fill(self, text: str, /, **values: object) -> str:
        """The policy's text `text` with `{name}` replaced. Braces in the values are left as they are."""
        template = self.texts[text]
        parts: list[str] = []
        at = 0
        while (start := template.find("{", at)) >= 0:
            end = template.find("}", start)
            name = template[start + 1 : end] if end >= 0 else ""
            parts.append(template[at:start])
            if name in values:
                parts.append(str(values[name]))
                at = end + 1
            else:
                parts.append("{")
                at = start + 1
        return "".join((*parts, template[at:]))


def layout(bundle: Bundle, *, prompt: str, unresolved_errors: int = 0, requested: str | None = None) -> Layout:
    """The layout for a session. Raises InputError for a profile that the policy does not have."""
    policy = bundle.serving(KIND)
    profiles = [row["id"] for row in policy.spec["profiles"]]
    if requested is not None and requested not in profiles:
        raise InputError(f"there is no profile {requested!r}; {policy.name} has: {', '.join(profiles)}")
    outcome = policy.outcome({"prompt": prompt, "unresolved_errors": unresolved_errors, "requested": requested})
    return _layout(policy, outcome)


def _layout(policy: Policy, outcome: Mapping[str, Any]) -> Layout:
    spec = policy.spec
    sections = tuple(
        Section(
            id=name,
            required=name in outcome["required"],
            **{**spec["sections"][name], "sources": tuple(spec["sections"][name]["sources"])},
        )
        for name in outcome["sections"]
    )
    keep = spec["keep"]
    return Layout(
        outcome["profile"],
        sections,
        Keep(keep["turns"], keep["min_rounds"], keep["max_share"]),
        spec["limits"],
        spec["grounding"],
        spec["texts"],
        outcome["schema_digest"],
    )
