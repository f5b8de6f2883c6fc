"""What is to be shown about a policy: the properties its document states, and those that every policy has to have."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from policyengine.cel import Type, from_json_schema
from policyengine.cel.types import DYN, STRING, Field
from policyengine.kinds.policy import Policy
from policyengine.rules.table import HitPolicy
from policyengine.source.place import Place


@dataclass(frozen=True, slots=True)
class Claim:
    """One claim. `form` is assert, nondecreasing, continuous or check; `text` what is said in that form.

    `accepted` is the domain in which the owner accepts that it fails, `reason` why.
    """

    id: str
    form: str
    text: str
    title: str
    place: Place
    domain: str | None = None
    accepted: str | None = None
    reason: str | None = None
    built_in: bool = False


FORMS = ("assert", "nondecreasing", "continuous", "check")


def claims(policy: Policy, built_in: Mapping[str, str]) -> list[Claim]:
    """The stated claims in their order, then those of `built_in` (id to title) that none of them replaces.

    A stated property `check: ID` replaces the built-in claim ID: it can narrow its domain or accept a refutation.
    """
    stated = [_stated(policy, index, row, built_in) for index, row in enumerate(policy.spec.get("properties", ()))]
    replaced = {claim.text for claim in stated if claim.form == "check"}
    place = policy.document.key_place(("spec",))
    rest = [
        Claim(name, "check", name, title, place, built_in=True)
        for name, title in built_in.items()
        if name not in replaced
    ]
    return [*stated, *rest]


def _stated(policy: Policy, index: int, row: Mapping[str, Any], built_in: Mapping[str, str]) -> Claim:
    form = next(form for form in FORMS if form in row)
    text = row[form]
    accepted = row.get("accepted") or {}
    title = row.get("description") or built_in.get(text, "")
    return Claim(
        row["id"],
        form,
        text,
        title,
        policy.document.place(("spec", "properties", index)),
        row.get("domain"),
        accepted.get("domain"),
        accepted.get("reason"),
    )


def duplicated(found: Iterable[Claim]) -> list[str]:
    """Ids that two claims share."""
    seen: set[str] = set()
    return [claim.id for claim in found if claim.id in seen or seen.add(claim.id)]  # type: ignore[func-returns-value]


def names_in_claims(policy: Policy) -> dict[str, Type]:
    """The types of `outcome` and `rule`, which a claim may ask for beside what the policy's own expressions see.

    A field that some outcome leaves out is still a field of `outcome`.
    """
    schema = policy.decision_schema or {}
    described = schema.get("$defs", {}).get("fields", schema).get("properties", {})
    table, names = policy.table, dict.fromkeys(described)
    if table.hit is HitPolicy.COLLECT:
        names["matches"] = None
    else:
        for one in (*(rule.outcome for rule in table.rules), table.default):
            names.update(dict.fromkeys([*one.literals, *one.computed]))
    names.update(dict.fromkeys([*table.outputs, *table.on_error]))
    fields = {
        name: Field(from_json_schema(described[name]) if described.get(name) else DYN, required=True) for name in names
    }
    return {"outcome": Type("object", name="outcome", fields=fields), "rule": STRING}
