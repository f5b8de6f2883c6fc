"""JSON Schemas: loading the packaged ones, and judging data by them.

Schema files refer to each other by relative path (`common.schema.json#/$defs/metadata`); nothing is ever
fetched. `schema_errors` turns what jsonschema says into messages.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from importlib import import_module
from itertools import islice
from typing import TYPE_CHECKING, Any, cast

from policyengine.source.document import Document
from policyengine.source.errors import InputError
from policyengine.source.finding import Finding, Severity
from policyengine.source.resources import schemas_folder
from policyengine.source.schema_code import function_of
from policyengine.source.schema_quick import FOREIGN, Check, Compiler, UnsupportedError
from policyengine.source.schema_words import DOCUMENT, INPUT

if TYPE_CHECKING:
    from policyengine.source.schema_errors import Complaint

__all__ = ["CODE", "input_check", "input_misfits", "load_schema", "validate", "validate_input"]

CODE = "schema"

# Base for relative references between schema files; it names a place inside the package, not on the disk.
_BASE = "file:///schemas/"
_SUFFIX = ".schema.json"

Schema = Mapping[str, Any]


@cache
def load_schema(name: str) -> dict[str, Any]:
    """The packaged schema `name`, a path under `schemas/` without `.schema.json`, for example `inputs/tips`.

    The same object each time; do not change it. Raises InputError where there is none.
    """
    name = name.removesuffix(_SUFFIX)
    folder = schemas_folder()
    path = (folder / f"{name}{_SUFFIX}").resolve()
    if not path.is_relative_to(folder.resolve()) or not path.is_file():
        raise InputError(f"there is no schema named {name}")
    try:
        schema = cast(dict[str, Any], json.loads(path.read_text(encoding="utf-8")))
    except ValueError as error:
        raise InputError(f"the schema {name} is not valid JSON: {error}") from None
    schema.setdefault("$id", f"{_BASE}{name}{_SUFFIX}")
    return schema


def validate(
    data: Any, schema: Schema, document: Document, path_prefix: Sequence[str | int] = (), code: str = CODE
) -> list[Finding]:
    """What is wrong with `data`, which stands at `path_prefix` in `document`, by `schema`; in file order.

    Values that the YAML reader already reported are left out.
    """
    prefix = tuple(path_prefix)
    findings: dict[tuple[Any, ...], Finding] = {}
    for complaint in _complaints(data, schema, lambda path: document.style((*prefix, *path)), prefix):
        path = (*prefix, *complaint.path)
        if document.flawed(path):
            continue
        place = document.key_place(path) if complaint.at_key else document.place(path)
        finding = Finding(code, Severity.ERROR, complaint.message, place, complaint.hint)
        findings.setdefault((place, complaint.message), finding)
    return sorted(findings.values(), key=lambda finding: finding.place)


def validate_input(data: Any, schema: Schema) -> list[str]:
    """What is wrong with JSON `data` by `schema`, one line each, with its hint in parentheses."""
    lines = (
        f"{complaint.message} ({complaint.hint})" if complaint.hint else complaint.message
        for complaint in _complaints(data, schema, lambda _: '"', (), INPUT)
    )
    return list(dict.fromkeys(lines))


def fits(data: Any, schema: Schema) -> bool:
    """Whether JSON `data` is valid by `schema`; for a few questions, where `input_check` would take longer to make."""
    check, _ = _compiled(schema)
    return check(data) if check is not None else not _complaints(data, schema, lambda _: None, (), INPUT)


def input_check(schema: Schema) -> Check:
    """A function that tells whether an input is valid by `schema`, in a microsecond or less.

    Where the schema uses a keyword that only jsonschema knows, it takes as long as that does.
    """
    found = _checks.get(id(schema))
    if found is None or found[0] is not schema:
        if len(_checks) >= _MAX_CACHED:
            _checks.clear()
        found = _checks[id(schema)] = (schema, _input_check(schema))
    return found[1]


def _input_check(schema: Schema) -> Check:
    try:
        return function_of(schema, schema.get("$id", FOREIGN), _compiler)
    except (UnsupportedError, InputError):
        return lambda data: not _complaints(data, schema, lambda _: None, (), INPUT)


def input_misfits(data: Any, schema: Schema, whole: str = INPUT) -> list[str]:
    """The same as `validate_input` for a log: one line each that says which field and what was expected, and holds
    no value of the input. `whole` is what the input as a whole is called."""
    found = _complaints(data, schema, lambda _: None, (), whole)
    return list(dict.fromkeys(complaint.plain for complaint in found))


def _complaints(
    data: Any,
    schema: Schema,
    style: Callable[[tuple[str | int, ...]], str | None],
    prefix: tuple[str | int, ...],
    whole: str = DOCUMENT,
) -> list[Complaint]:
    check, validator = _compiled(schema)
    if check is not None and check(data):
        return []
    from policyengine.source.schema_errors import (
        MAX_COMPLAINTS,
        Complaint,
        complaints,
    )  # 10 ms to import, and nearly all data is valid

    errors = list(islice(validator().iter_errors(data), MAX_COMPLAINTS + 1))
    found = complaints(errors[:MAX_COMPLAINTS], validator(), style, prefix, whole)
    if len(errors) > MAX_COMPLAINTS:
        more = f"there are more than {MAX_COMPLAINTS} errors; the rest is not listed"
        found.append(Complaint((), more, more))
    return found


# A schema given as a plain dict has no name to cache by; its identity does while the cache keeps it alive.
_MAX_CACHED = 256
_cached: dict[int, tuple[Schema, Check | None, Callable[[], Any]]] = {}
_checks: dict[int, tuple[Schema, Check]] = {}


def _compiled(schema: Schema) -> tuple[Check | None, Callable[[], Any]]:
    """A quick check, where the schema allows one, and what makes the jsonschema validator that explains."""
    found = _cached.get(id(schema))
    if found is None or found[0] is not schema:
        base = schema.get("$id", FOREIGN)
        check: Check | None = None
        with suppress(UnsupportedError, InputError):
            check = _compiler.check(schema, base)
        if len(_cached) >= _MAX_CACHED:
            _cached.clear()
        found = _cached[id(schema)] = (schema, check, cache(lambda: _validator({**schema, "$id": base})))
    return found[1], found[2]


def _name(address: str) -> str:
    return address.partition("/schemas/")[2]


_compiler = Compiler(lambda address: load_schema(_name(address)))


def _validator(schema: Schema) -> Any:
    if schema["$id"] == FOREIGN:
        from policyengine.source.foreign_schema import validator_class

        return validator_class()(schema, registry=_registry())
    return _in_order()(schema, registry=_registry())


@cache
def _in_order() -> Any:
    """jsonschema's validator, which looks at keys beside the stated ones in the order of a set: no two runs agree on
    which error is the first. Here it is that of the data."""
    from policyengine.source.foreign_schema import finite_numbers

    jsonschema: Any = import_module("jsonschema")
    base = jsonschema.Draft202012Validator
    stated = base.VALIDATORS["additionalProperties"]

    def additional(validator: Any, wanted: Any, data: Any, schema: Any) -> Iterator[Any]:
        if not isinstance(wanted, dict) or not isinstance(data, dict):
            yield from stated(validator, wanted, data, schema)
            return
        patterns = [re.compile(pattern) for pattern in schema.get("patternProperties", ())]
        for key, value in data.items():
            if key not in schema.get("properties", ()) and not any(pattern.search(key) for pattern in patterns):
                yield from validator.descend(value, wanted, path=key)

    return jsonschema.validators.extend(base, {"additionalProperties": additional}, type_checker=finite_numbers(base))


@cache
def _registry() -> Any:
    from referencing.exceptions import NoSuchResource
    from referencing.jsonschema import DRAFT202012

    referencing: Any = import_module("referencing")  # its attrs classes hide their arguments from mypy

    def retrieve(uri: str) -> Any:
        try:
            return DRAFT202012.create_resource(load_schema(_name(uri)))
        except InputError:
            raise cast(Any, NoSuchResource)(ref=uri) from None

    return referencing.Registry(retrieve=cache(retrieve))
