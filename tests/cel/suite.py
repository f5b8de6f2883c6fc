"""The specification's own cases: reading them, and judging an implementation by one."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

from policyengine.cel import types as t
from policyengine.cel.environment import Environment
from policyengine.cel.errors import CelError
from policyengine.cel.library.overloads import function
from policyengine.cel.library.registry import STANDARD, collect
from policyengine.cel.program import compile_expression, evaluate
from policyengine.cel.values import CelType, UInt, kind_of

PATH = Path(__file__).parents[2].parent / "shared" / "cel-conformance" / "simple.json"
MISSING = f"the suite is not there: ../shared/cel-conformance/{PATH.name}"

Case = dict[str, Any]


def cases() -> list[Case]:
    """All cases, or none where the suite is missing."""
    return json.loads(PATH.read_text("utf-8")) if PATH.exists() else []


def name_of(case: Case) -> str:
    return f"{case['file']}/{case['section']}/{case['name']}"


def plain(value: dict[str, Any]) -> Any:
    """A value as the suite writes it, as Python has it."""
    ((kind, inner),) = value.items()
    if kind == "int64Value":
        return int(inner)
    if kind == "uint64Value":
        return UInt(inner)
    if kind == "doubleValue":
        return float(inner)
    if kind == "bytesValue":
        return base64.b64decode(inner)
    if kind == "listValue":
        return [plain(item) for item in inner.get("values", ())]
    if kind == "mapValue":
        return {plain(entry["key"]): plain(entry["value"]) for entry in inner.get("entries", ())}
    if kind == "typeValue":
        return CelType(inner)
    return inner  # stringValue, boolValue, nullValue


def bindings(case: Case) -> dict[str, Any]:
    return {name: plain(bound["value"]) for name, bound in case.get("bindings", {}).items()}


def expected(case: Case) -> Any:
    if "typedResult" in case:
        return plain(case["typedResult"]["result"])
    return plain(case["value"]) if "value" in case else True


_PRIMITIVES = {
    "INT64": t.INT,
    "UINT64": t.UINT,
    "DOUBLE": t.DOUBLE,
    "STRING": t.STRING,
    "BOOL": t.BOOL,
    "BYTES": t.BYTES,
}


def declared(written: dict[str, Any]) -> t.Type:
    """A type as the suite writes it."""
    ((kind, inner),) = written.items()
    if kind == "primitive":
        return _PRIMITIVES[inner]
    if kind == "listType":
        return t.list_of(declared(inner["elemType"]))
    if kind == "mapType":
        return t.map_of(declared(inner["keyType"]), declared(inner["valueType"]))
    if kind == "abstractType":
        return t.abstract(inner["name"], *map(declared, inner.get("parameterTypes", ())))
    if kind == "typeParam":
        return t.var(inner)
    return {"null": t.NULL, "dyn": t.DYN}[kind]


def environment(case: Case) -> Environment:
    variables: dict[str, t.Type] = {}
    overloads = [overload for family in STANDARD.values() for overload in family]
    for entry in case.get("typeEnv", ()):
        if "ident" in entry:
            variables[entry["name"]] = declared(entry["ident"]["type"])
        else:
            own = [
                function(
                    entry["name"],
                    tuple(map(declared, one["params"])),
                    declared(one["resultType"]),
                    lambda *_: None,
                )
                for one in entry["function"]["overloads"]
            ]
            overloads += own
    return Environment(variables, functions=collect(overloads), container=case.get("container", ""))


def same(seen: Any, wanted: Any) -> bool:
    """Equal and of the same type, all the way down; NaN is itself."""
    if kind_of(seen) != kind_of(wanted):
        return False
    if isinstance(wanted, list):
        return len(seen) == len(wanted) and all(map(same, seen, wanted))
    if isinstance(wanted, dict):
        return len(seen) == len(wanted) and all(
            any(same(key, own) and same(seen[own], value) for own in seen) for key, value in wanted.items()
        )
    return bool(seen == wanted) or (seen != seen and wanted != wanted)


def complaint(case: Case, run: Any = None) -> str | None:
    """What is wrong with how a case went, or None. `run` evaluates (text, bindings, container), default ours."""
    if not case.get("checkOnly"):
        try:
            seen = (run or _run)(case)
        except CelError as error:
            if "evalError" not in case:
                return f"error: {error}"
        else:
            if "evalError" in case:
                return f"{seen!r} instead of an error"
            if not same(seen, expected(case)):
                return f"{seen!r} instead of {expected(case)!r}"
    return None if run else _check_complaint(case)


def _run(case: Case) -> Any:
    return evaluate(case["expr"], bindings(case), container=case.get("container", ""))


def _check_complaint(case: Case) -> str | None:
    program = compile_expression(case["expr"], environment(case))
    # `type` and `checkError` were taken from one implementation: with the extensions off, its nesting limit and its
    # older rule for null. Where the suite itself says otherwise (`typedResult`, or a value that is to be had), that
    # counts.
    refused = case.get("disableCheck") and "checkError" in case
    if refused and program.ok:
        return f"the checker finds nothing wrong, expected {case['checkError'].splitlines()[0]}"
    if not refused and not program.ok and not case.get("disableCheck"):
        return f"the checker complains: {program.issues[0].message}"
    wanted = case.get("type")
    if "typedResult" in case:
        wanted = str(declared(case["typedResult"]["deducedType"]))
    if wanted is not None and str(program.type) != wanted:
        return f"type {program.type} instead of {wanted}"
    if not case.get("checkOnly") and not case.get("disableCheck"):
        try:
            seen = program.evaluate(bindings(case))
        except CelError as error:
            return None if "evalError" in case else f"checked program: {error}"
        if "evalError" in case or not same(seen, expected(case)):
            return f"checked program gives {seen!r}"
    return None
