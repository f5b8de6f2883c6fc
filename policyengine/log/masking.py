"""Masking: what of a decision is written to the log, as the Masking policy of the bundle says.

The policy is asked once for each field of an input's schema; the answers make a plan, which every record of that
policy goes through. A value that is not what its schema promises (a text where a number was to be) is treated as
text, whatever the schema says. Texts that stand in the policy's own document are not a person's.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import re
import secrets
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from policyengine.kinds.bundle import Bundle, load
from policyengine.kinds.policy import Policy
from policyengine.source.resources import policies_folder
from policyengine.source.secrets import looks_secret

HASH_DIGITS = 32
"""Hex digits shown of a hash: 128 bits, beyond accidental collision."""

DROPPED = object()
"""Stands for a field that the policy leaves out."""

_QUOTED = re.compile(r"""(["'])([^"'\\]*)\1""")
"""A text that stands in an expression."""

_SCALARS = frozenset({str, int, float, bool})

_Plan = Callable[[Any, set[str]], Any]


class Masking:
    """Masks what decisions of one bundle were made on.

    `key` keys the hashes; without it the environment variable that the policy names, without that a key made up for
    this process. `policy` None keeps everything as it is (a person asked for it).
    """

    def __init__(self, policy: Policy | None, key: bytes | None = None) -> None:
        self.policy = policy
        named = os.environ.get(policy.spec["key_env"]) if policy else None
        self.key = key or (named.encode() if named else _process_key())
        self._plans: dict[tuple[str, str], _Plan] = {}
        self._own: dict[str, frozenset[str]] = {}

    @classmethod
    def of(cls, bundle: Bundle, key: bytes | None = None) -> Masking:
        """By the bundle's own Masking policy; by the built-in one where it has none."""
        return cls(bundle.serving("Masking") if bundle.of_kind("Masking") else _default(), key)

    @property
    def label(self) -> str | None:
        """`masking@1.0.0`, as recorded; None where nothing is masked."""
        return f"{self.policy.name}@{self.policy.version}" if self.policy else None

    @property
    def key_id(self) -> str:
        """Tells keys apart and gives none away."""
        return hmac.digest(self.key, b"policyengine key id", "sha256").hex()[:8]

    def hashed(self, text: str) -> str:
        """`sha256:` and the first digits of the text's keyed hash."""
        return "sha256:" + hmac.digest(self.key, _bytes(text), "sha256").hex()[:HASH_DIGITS]

    def digest(self, value: Any) -> str:
        """Keyed hash of a JSON value; key order does not count."""
        return "sha256:" + hmac.digest(self.key, _bytes(_canonical(value)), "sha256").hex()

    def input(self, policy: Policy, value: Mapping[str, Any]) -> tuple[Any, list[str]]:
        """The input as it is recorded, and the paths of what was hashed or dropped."""
        found: set[str] = set()
        shown = self._part(policy, "input", policy.input_schema)(value, found)
        return shown, sorted(found)

    def outcome(self, policy: Policy, value: Mapping[str, Any]) -> Any:
        """The outcome as it is recorded."""
        return self._part(policy, "outcome", policy.decision_schema)(value, set())

    def trace(self, policy: Policy, values: Mapping[str, Any]) -> dict[str, Any]:
        """Values of a trace as they are recorded: each text that an expression read is a field without a schema."""
        plan = self._part(policy, "trace", None)
        return {name: plan({"": value}, set()).get("") for name, value in values.items()} if self.policy else {**values}

    def _part(self, policy: Policy, part: str, schema: Mapping[str, Any] | None) -> _Plan:
        if self.policy is None:
            return lambda value, _: value
        plan = self._plans.get((policy.name, part))
        if plan is None:
            plan = _Planner(self, policy, part, self._texts(policy)).plan(_resolved(schema or {}), "")
            self._plans[policy.name, part] = plan
        return plan

    def _texts(self, policy: Policy) -> frozenset[str]:
        """Every text that stands in the policy itself."""
        if policy.name not in self._own:
            table = policy.table
            outcomes = [table.default, *(rule.outcome for rule in table.rules)]
            known: set[str] = {rule.id for rule in table.rules} | set(table.outputs)
            known.update(*(one.computed for one in outcomes))
            for value in (*(one.literals for one in outcomes), table.on_error, table.constants):
                known.update(_strings(value))
            expressions = [*table.outputs.values(), *table.derived.values()]
            for one in (*expressions, *(each for outcome in outcomes for each in outcome.computed.values())):
                known.update(text for _, text in _QUOTED.findall(one.text))
            self._own[policy.name] = frozenset(known)
        return self._own[policy.name]


class _Planner:
    """Makes the plan for one part of one policy's decisions."""

    def __init__(self, masking: Masking, policy: Policy, part: str, own: frozenset[str]) -> None:
        self.masking, self.policy, self.part = masking, policy, part
        # A text of the policy is closed in what it decides and what it compares with, not in what a person wrote.
        self.own = own if part != "input" else frozenset()

    def plan(self, schema: Mapping[str, Any], path: str) -> _Plan:
        return self._known(schema, path) if schema else self._unknown(path)

    def _treatment(self, path: str, kind: str, closed: bool, public: bool) -> str:
        assert self.masking.policy is not None
        asked = {
            "kind": self.policy.kind.name, "policy": self.policy.name, "part": self.part, "field": path,
            "type": kind, "closed": closed, "public": public,
        }  # fmt: skip
        treatment: str = self.masking.policy.outcome(asked)["treatment"]
        return treatment

    def _known(self, schema: Mapping[str, Any], path: str) -> _Plan:
        public = bool(schema.get("x-public"))
        values = schema.get("enum", [schema["const"]] if "const" in schema else None)
        fits: Callable[[Any], bool]
        if values is not None:
            kind = "string" if any(isinstance(value, str) for value in values) else "number"
            fits = frozenset(values).__contains__
        else:
            kind = _kind_of(schema)
            number = (int, float) if kind == "number" else (bool,) if kind == "boolean" else ()
            own = self.own
            fits = lambda value: (  # noqa: E731
                type(value) in number or (type(value) is str and value in own)
            )
        treatment = self._treatment(path, kind, True, public)
        closed, keeps = self._apply(path, treatment), treatment == "keep"
        sort = kind if kind != "unknown" else "string"
        text = self._apply(path, self._treatment(path, sort, False, public))
        # A field that may be shown can still be given a key by mistake.
        private = self._apply(path, self._treatment(path, sort, False, False)) if public else text
        fields = {
            name: self.plan(_resolved(part), f"{path}.{name}" if path else name)
            for name, part in schema.get("properties", {}).items()
        }
        rest = schema.get("additionalProperties")
        named = _resolved(rest) if isinstance(rest, Mapping) else {}
        other = self.plan(named, f"{path}.*" if path else "*") if fields or named else None
        items_schema = _resolved(schema["items"]) if isinstance(schema.get("items"), Mapping) else {}
        items = self.plan(items_schema, f"{path}[]") if items_schema else None

        def run(value: Any, found: set[str]) -> Any:
            if value is None:
                return None
            if type(value) in _SCALARS:  # asked first: most values are, and asking for a Mapping is slow
                if fits(value):
                    return value if keeps else closed(value, found)
                return (private if public and type(value) is str and looks_secret(value) else text)(value, found)
            if isinstance(value, Mapping):
                return self._mapping(value, fields, other or self._unknown(path), bool(named), path, found)
            if isinstance(value, list | tuple):
                one = items or self._unknown(path)
                return [item for part in value if (item := one(part, found)) is not DROPPED]
            return text(value, found)

        return run

    def _unknown(self, path: str) -> _Plan:
        """Of a value without a schema: texts, numbers and names may be anything; switches tell nothing."""
        text = self._apply(path, self._treatment(path, "unknown", False, False))
        switch = self._apply(path, self._treatment(path, "boolean", True, False))
        own = self.own
        number = switch if self.part != "input" else text

        def run(value: Any, found: set[str]) -> Any:
            if value is None:
                return None
            if isinstance(value, Mapping):
                return self._mapping(value, {}, run, False, path, found)
            if isinstance(value, list | tuple):
                return [item for part in value if (item := run(part, found)) is not DROPPED]
            if isinstance(value, bool) or (isinstance(value, str) and value in own):
                return switch(value, found)
            return number(value, found) if isinstance(value, int | float) else text(value, found)

        return run

    def _mapping(
        self, value: Mapping[str, Any], fields: Mapping[str, _Plan], other: _Plan, named: bool, path: str,
        found: set[str],
    ) -> dict[str, Any]:  # fmt: skip
        shown = {}
        for name, item in value.items():
            plan = fields.get(name)
            masked = (plan or other)(item, found)
            if masked is DROPPED:
                continue
            known = plan is not None or name == "" or name in self.own
            if not known:
                found.add(f"{path}.*" if path else "*")
            shown[name if known else self.masking.hashed(str(name))] = masked
        return shown

    def _apply(self, path: str, treatment: str) -> _Plan:
        if treatment == "keep":
            return lambda value, _: value
        hashed = self.masking.hashed

        def run(value: Any, found: set[str]) -> Any:
            found.add(path)
            if treatment == "drop":
                return DROPPED
            return hashed(value if isinstance(value, str) else _canonical(value))

        return run


@lru_cache(maxsize=1)
def _process_key() -> bytes:
    return secrets.token_bytes(32)


@lru_cache(maxsize=1)
def _default() -> Policy:
    return load(policies_folder() / "masking.yaml").serving("Masking")


def plain_digest(value: Any) -> str:
    """SHA-256 (hex) of a JSON value; key order does not count. For what holds nothing of a person's."""
    return hashlib.sha256(_bytes(_canonical(value))).hexdigest()


def _canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=_plain)


def _plain(value: Any) -> Any:
    return dict(value) if isinstance(value, Mapping) else str(value)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _resolved(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """A decision's schema keeps its fields under `$defs/fields`."""
    if schema.get("$ref") == "#/$defs/fields":
        fields: Mapping[str, Any] = schema["$defs"]["fields"]
        return fields
    return schema


def _kind_of(schema: Mapping[str, Any]) -> str:
    kinds = schema.get("type")
    names = set(kinds if isinstance(kinds, list) else [kinds]) - {"null"}
    if names <= {"integer", "number"} and names:
        return "number"
    return "boolean" if names == {"boolean"} else "string" if names == {"string"} else "unknown"


def _strings(value: Any) -> set[str]:
    if isinstance(value, str):
        return {value}
    if isinstance(value, Mapping):
        return {name for name in value if isinstance(name, str)}.union(*map(_strings, value.values()))
    return set().union(*map(_strings, value)) if isinstance(value, list | tuple) else set()
