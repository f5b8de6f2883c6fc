"""A starter bundle: default policies with their tests, each pointing an editor at its schema."""

from __future__ import annotations

import re
import shutil
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from policyengine.kinds.bundle import BUILT_IN, TESTS, builtin, files
from policyengine.kinds.registry import KINDS
from policyengine.source.errors import InputError
from policyengine.source.nearest import did_you_mean
from policyengine.source.resources import example_folder, policies_folder, schemas_folder
from policyengine.source.schema import load_schema
from policyengine.source.text import shown_path
from policyengine.source.yaml import read_documents

SCHEMAS = ".schemas"
"""Where the schemas lie in the new bundle. A bundle's hidden folders are not read as policies."""

_KIND = re.compile(r"^kind:[ \t]*([A-Za-z]+)", re.MULTILINE)
_NAME = re.compile(r"^(  name:).*$", re.MULTILINE)
_OWNER = re.compile(r"^(  owner:).*\n", re.MULTILINE)
_CHOICE = re.compile(r"^    ([A-Za-z]+):")
_DESCRIPTION = re.compile(r"^(  description:).*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Starter:
    """What was written: how many policies (without the Bundle document), files of tests and schemas, into which folder,
    as a bundle of which name."""

    folder: Path
    name: str
    policies: int
    tests: int
    schemas: int


def write_starter(
    folder: Path, owner: str | None = None, name: str | None = None, only: Collection[str] = ()
) -> Starter:
    """Write a starter bundle into a new or empty folder.

    The bundle is called `name`, without one as the folder is. Without an owner its policies have none, and lint says
    so. With `only` it holds the policies of these kinds, and extends the built-in bundle for all others; of tables it
    has none, so the example stands for them. Raises InputError where something lies in the folder already, for a name
    that is none, and for an unknown kind.
    """
    _check_kinds(only)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(f"{shown_path(folder)} is not empty; {_elsewhere(only)}")
    name = _checked(name) if name is not None else _named_after(folder)
    source = policies_folder()
    written = [(file, file.relative_to(source)) for file in files(source) if not only or _wanted(file, only)]
    if "Table" in only:
        example = example_folder()
        written += [(file, file.relative_to(example)) for file in files(example) if file.name != "bundle.yaml"]
    counted: Counter[str] = Counter()
    folder.mkdir(parents=True, exist_ok=True)
    for file, relative in written:
        target = folder / relative
        target.parent.mkdir(parents=True, exist_ok=True)
        text = file.read_text(encoding="utf-8")
        counted[_kind(text)] += 1
        if _kind(text) == "Bundle":
            text = _called(text, name)
            if only:
                text = _extending(text, only)
        target.write_text(_owned(_hinted(text, len(relative.parts) - 1), owner), encoding="utf-8")
    policies = counted.total() - counted[TESTS] - counted["Bundle"]
    return Starter(folder, name, policies, counted[TESTS], _write_schemas(folder / SCHEMAS))


def _elsewhere(only: Collection[str]) -> str:
    """What to do where the folder is not empty: nothing is written beside what somebody else wrote."""
    kinds = "".join(f" --only {kind}" for kind in only)
    more = ", and move the policies and tests that you want" if only else ""
    return f"name a new folder: policyengine init DIR{kinds}{more}"


def _check_kinds(only: Collection[str]) -> None:
    for name in only:
        if name not in KINDS or name == "Bundle":
            kinds = [kind for kind in KINDS if kind != "Bundle"]
            hint = did_you_mean(name, kinds) or f"use one of {', '.join(kinds)}"
            raise InputError(f"{name!r} is no kind of policy; {hint}")


def _wanted(file: Path, only: Collection[str]) -> bool:
    """Whether a file of the built-in bundle is of these kinds, or tests only policies that are."""
    documents = [document.data for document in read_documents(file)[0]]
    names = {part["policy"] for data in documents for part in _parts(data) if "policy" in part}
    kinds = {data["kind"] for data in documents if data["kind"] != TESTS} | {_kinds()[name] for name in names}
    return kinds <= {*only, "Bundle"}


def _parts(data: dict[str, Any]) -> list[dict[str, Any]]:
    return [data["spec"], *data["spec"]["cases"]] if data["kind"] == TESTS else []


@cache
def _kinds() -> dict[str, str]:
    """The kind of each document of the built-in bundle, by name."""
    documents = (one.data for one in builtin().documents if one.data["kind"] not in (TESTS, "Bundle"))
    return {data["metadata"]["name"]: data["kind"] for data in documents}


def _extending(text: str, only: Collection[str]) -> str:
    """The Bundle document on top of the built-in one, without the choices for kinds that it does not hold."""
    head, spec = text.split("spec:\n", 1)
    kept = [line for line in spec.splitlines() if not (found := _CHOICE.match(line)) or found[1] in only]
    if kept == ["  use:"]:
        kept = []
    return f"{head}spec:\n  # Every kind that is not in this folder.\n  extends: {BUILT_IN}\n" + "".join(
        f"{line}\n" for line in kept
    )


def _write_schemas(folder: Path) -> int:
    source = schemas_folder()
    schemas = sorted(source.rglob("*.schema.json"))
    for schema in schemas:
        target = folder / schema.relative_to(source)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(schema, target)
    return len(schemas)


def _is_name(text: str) -> bool:
    schema = load_schema("common")["$defs"]["name"]
    return re.search(schema["pattern"], text) is not None and len(text) <= schema["maxLength"]


def _checked(name: str) -> str:
    if not _is_name(name):
        raise InputError(f"{name!r} is no name of a bundle; use lower case letters, digits and dashes")
    return name


def _named_after(folder: Path) -> str:
    own = folder.resolve().name
    name = re.sub(r"[\W_]+", "-", own.lower(), flags=re.ASCII).strip("-")
    if not _is_name(name):
        raise InputError(f"the bundle cannot be named after the folder {own!r}; give it a name with --name")
    return name


def _kind(text: str) -> str:
    found = _KIND.search(text)
    return found[1] if found else ""


def _hinted(text: str, depth: int) -> str:
    """The text below a line that tells an editor's YAML language server where the schema is, seen from the file."""
    kind = _kind(text)
    name = "tests" if kind == TESTS else KINDS[kind].file
    return f"# yaml-language-server: $schema={'../' * depth}{SCHEMAS}/{name}.schema.json\n{text}"


def _called(text: str, name: str) -> str:
    """The Bundle document under a name of its own, so that logs tell the two bundles apart."""
    text = _NAME.sub(lambda found: f"{found[1]} {name}", text, count=1)
    return _DESCRIPTION.sub(lambda found: f"{found[1]} Begun as a copy of the built-in bundle.", text, count=1)


def _owned(text: str, owner: str | None) -> str:
    return _OWNER.sub(lambda found: f"{found[1]} {owner}\n" if owner is not None else "", text, count=1)
