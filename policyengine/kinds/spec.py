"""Reading the `spec` of a document into the parts of a table, each with its place."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from policyengine.cel.errors import CelError
from policyengine.cel.parser import parse
from policyengine.cel.program import on_fresh_stack
from policyengine.rules.table import Expression, HitPolicy, Outcome, Rule
from policyengine.source.document import Document

Path = tuple[str | int, ...]


class SpecError(Exception):
    """A document that fits its schema and still cannot be built. Becomes a finding at `path`."""

    def __init__(self, message: str, path: Path, hint: str | None = None) -> None:
        self.path = path
        self.hint = hint
        super().__init__(message)


@dataclass(frozen=True, slots=True)
class Spec:
    """The `spec` of one document, and what the bundle shares with it."""

    document: Document
    words: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    overrides: Mapping[str, Any] = field(default_factory=dict)
    """Constants that replace the document's own (policy tests try variants with it)."""

    @property
    def metadata(self) -> Mapping[str, Any]:
        """The document's `metadata`."""
        value: Mapping[str, Any] = self.document.data["metadata"]
        return value

    def get(self, key: str, default: Any = None) -> Any:
        """The value of `spec.KEY`."""
        return self.document.data["spec"].get(key, default)

    def constants(self) -> dict[str, Any]:
        """The named constants, with overrides applied. Raises `SpecError` for an override of an unknown name."""
        own = dict(self.get("constants", {}))
        for name, value in self.overrides.items():
            if name not in own:
                raise SpecError(f"there is no constant `{name}` to override", ("spec", "constants"))
            own[name] = value
        return own

    def expression(self, path: Path) -> Expression:
        """The expression written at `path`. A bare number or boolean is its own text."""
        value = self.document.value(path)
        text = value if isinstance(value, str) else str(value).lower()
        return Expression(text, self.document.place(path), path)

    def wrapped(self, before: str, path: Path, after: str) -> Expression:
        """The expression written at `path`, inside generated text.

        One that cannot be read stays alone: what is wrong with it is then told of the text that a person wrote, and
        brackets that it closes but never opened cannot reach into the generated text.
        """
        own = self.expression(path)
        try:
            on_fresh_stack(lambda: parse(own.text))
        except CelError:
            return own
        return Expression(before + own.text + after, own.place, path, prefix=len(before), length=len(own.text))

    def generated(self, text: str, path: Path) -> Expression:
        """An expression that stands for what is written at `path`."""
        return Expression(text, self.document.place(path), path, generated=True)

    def derived(self) -> dict[str, Expression]:
        """The named derived values, in order."""
        return {name: self.expression(("spec", "derived", name)) for name in self.get("derived", {})}

    def hit(self, default: HitPolicy = HitPolicy.FIRST) -> HitPolicy:
        """The hit policy."""
        return HitPolicy(self.get("hit", default.value))

    def outcome(self, path: Path, rule_id: str | None) -> Outcome:
        """The outcome of the rule or default at `path`, completed by `reason_field`, `state` and `unless_set`."""
        row = self.document.value(path) or {}
        literals = dict(row.get("outcome", {}))
        computed = {name: self.expression((*path, "compute", name)) for name in row.get("compute", {})}
        for name in computed:
            if name in literals:
                raise SpecError(f"`{name}` is both in outcome and in compute", (*path, "compute", name))
        reason = self.get("reason_field")
        if reason and rule_id and reason not in literals and reason not in computed:
            literals[reason] = rule_id
        for index, name in enumerate(self.get("state", ())):
            if name not in literals and name not in computed:
                computed[name] = self.generated(f"input.{name}", ("spec", "state", index))
        for name in self.get("unless_set", {}):
            if name not in literals and name not in computed:
                computed[name] = self.expression(("spec", "unless_set", name))
        return Outcome(literals, computed)

    def rules(self, key: str = "rules") -> list[Rule]:
        """The rules of `spec.KEY`, and last the default, where it has an id of its own."""
        rules = []
        for index, row in enumerate(self.get(key, ())):
            path: Path = ("spec", key, index)
            when = self.expression((*path, "when")) if "when" in row else None
            outcome = self.outcome(path, row["id"])
            rules.append(Rule(row["id"], when, outcome, self.document.place(path), row.get("description", "")))
        return rules

    def default(self) -> tuple[list[Rule], Outcome]:
        """The default as a last rule (where it has an id), and as the outcome of no rule at all.

        Raises `SpecError` where the hit policy leaves it nothing to decide, or a last rule would match beside others.
        """
        path: Path = ("spec", "default")
        row = self.get("default")
        if row is None:
            return [], Outcome()
        hit = self.hit()
        if hit is HitPolicy.COLLECT:
            message = "with `hit: collect` a default decides nothing: where no rule matches, the list is empty"
            raise SpecError(message, path, "leave it out, or write a rule without `when`")
        if "id" in row and hit is HitPolicy.UNIQUE:
            message = "with `hit: unique` a default has no id: it would be a rule that matches beside any other"
            raise SpecError(message, (*path, "id"), "leave the id out: the default decides where no rule matches")
        outcome = self.outcome(path, row.get("id"))
        if "id" in row:
            return [Rule(row["id"], None, outcome, self.document.place(path))], outcome
        return [], outcome

    def unique(self, rules: Iterable[Rule], path: Path) -> tuple[Rule, ...]:
        """The rules as a tuple. Raises `SpecError` where two share an id."""
        seen: dict[str, Rule] = {}
        for rule in rules:
            if rule.id in seen:
                first = seen[rule.id].place
                raise SpecError(
                    f"the rule id `{rule.id}` is taken (line {first.line})",
                    path_of(self.document, rule, path),
                )
            seen[rule.id] = rule
        return tuple(seen.values())


def path_of(document: Document, rule: Rule, default: Path) -> Path:
    """The path of the row that `rule` was read from."""
    for key in ("rules", "vetoes", "tips", "default"):
        rows = document.data["spec"].get(key)
        candidates = [("spec", key, i) for i in range(len(rows))] if isinstance(rows, list) else [("spec", key)]
        for path in candidates:
            if document.place(path) == rule.place:
                return (*path, "id")
    return default
