"""What a team sets about lint: severities by rule, in `policyengine.toml` or under `[tool.policyengine]`.

[lint.rules]
missing-owner = "error"      # error, warning, info or off
ladder-collapse = "off"
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from policyengine.check.lint.registry import BY_CODE
from policyengine.check.lint.rule import Rule
from policyengine.check.lint.rules.config import RULE as CONFIG
from policyengine.source.errors import InputError
from policyengine.source.finding import Finding, Severity
from policyengine.source.nearest import did_you_mean
from policyengine.source.place import Place
from policyengine.source.text import Lines, UnreadableError, read_text, shown_path

FILE = "policyengine.toml"
PYPROJECT = "pyproject.toml"
OFF = "off"
_LEVELS = (*(str(severity) for severity in Severity), OFF)


@dataclass(frozen=True)
class Config:
    """Severities by code where they differ from the rule's own (None: the rule is off), and what is wrong with them."""

    severities: Mapping[str, Severity | None] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()
    texts: Mapping[str, str] = field(default_factory=dict)

    def severity(self, rule: Rule) -> Severity | None:
        """How much a finding of the rule matters; None where the rule is off."""
        return self.severities.get(rule.code, rule.severity)


def find_config(start: Path) -> Config:
    """The configuration that holds for a bundle: the nearest one in its folder or above it."""
    folder = start.resolve()
    for place in (folder, *folder.parents):
        file = place / FILE
        if file.is_file():
            return read_config(file)
        file = place / PYPROJECT
        if file.is_file() and (config := _read(file, ("tool", "policyengine"))) is not None:
            return config
    return Config()


def read_config(file: Path) -> Config:
    """The configuration in a file: a `pyproject.toml`, or one of our own. Raises InputError where there is none."""
    if not file.is_file():
        raise InputError(f"{file}: there is no such file; give a policyengine.toml or a pyproject.toml")
    return _read(file, ("tool", "policyengine") if file.name == PYPROJECT else ()) or Config()


def _read(file: Path, table: tuple[str, ...]) -> Config | None:
    name = _relative(file)
    try:
        text = read_text(file)
        data: Any = tomllib.loads(text)
    except UnreadableError as error:
        return Config(findings=(Finding(CONFIG.code, Severity.ERROR, str(error), Place(name), error.hint),))
    except ValueError as error:  # of tomllib itself, and of a number with too many digits
        # Also of a pyproject.toml: nobody knows what it says about us, and lint must not run as if it said nothing.
        return Config(findings=(_not_toml(name, error),), texts={name: text})
    for step in table:
        data = data.get(step) if isinstance(data, Mapping) else None
    if data is None:
        return None
    return _Reader(name, text, table).read(data)


def _relative(file: Path) -> str:
    try:
        return shown_path(file.relative_to(Path.cwd()))
    except ValueError:
        return shown_path(file)


def _not_toml(name: str, error: ValueError) -> Finding:
    found = re.search(r"\(at line (\d+), column (\d+)\)", str(error))
    place = Place(name, int(found[1]), int(found[2])) if found else Place(name)
    message = re.sub(r"\s*\(at .*\)$", "", str(error))
    return Finding(CONFIG.code, Severity.ERROR, f"not valid TOML: {message}", place)


class _Reader:
    def __init__(self, name: str, text: str, table: tuple[str, ...]) -> None:
        self.name = name
        self.text = text
        self.table = table
        self.lines = Lines(text, name)
        self.findings: list[Finding] = []

    def read(self, data: Any) -> Config:
        severities: dict[str, Severity | None] = {}
        lint = self._table(data, (), ["lint"]).get("lint", {})
        rules = self._table(lint, ("lint",), ["rules"]).get("rules", {})
        for code, level in self._table(rules, ("lint", "rules"), None).items():
            rule = BY_CODE.get(code)
            if rule is None:
                hint = did_you_mean(code, BY_CODE) or "`policyengine rules` lists the rules"
                self._report(code, f"there is no rule `{code}`", hint)
            elif level not in _LEVELS:
                hint = did_you_mean(str(level), _LEVELS) or f"use one of {', '.join(_LEVELS)}"
                self._report(code, f"{level!r} is no severity of a rule", hint)
            elif rule.fixed:
                self._report(code, f"the severity of `{code}` cannot be changed", "a bundle with it is not loaded")
            else:
                severities[code] = None if level == OFF else Severity(level)
        return Config(severities, tuple(self.findings), {self.name: self.text})

    def _table(self, data: Any, path: tuple[str, ...], known: list[str] | None) -> Mapping[str, Any]:
        if not isinstance(data, Mapping):
            self._report(path[-1] if path else "policyengine", f"`{'.'.join(path)}` has to be a table", None)
            return {}
        for key in data:
            if known is not None and key not in known:
                where = ".".join((*self.table, *path)) or "the file"
                hint = did_you_mean(key, known) or f"known here: {', '.join(known)}"
                self._report(key, f"unknown key `{key}` in {where}", hint)
        return data

    def _report(self, key: str, message: str, hint: str | None) -> None:
        self.findings.append(Finding(CONFIG.code, Severity.ERROR, message, self._place(key), hint))

    def _place(self, key: str) -> Place:
        """Where the key stands. tomllib keeps no places; a key of ours stands at the start of a line or in a header."""
        name = re.escape(key)
        found = re.search(rf"^[ \t]*[\"']?({name})[\"']?[ \t]*[=.]", self.text, re.MULTILINE)
        found = found or re.search(rf"^[ \t]*\[.*?\b({name})\b.*\]", self.text, re.MULTILINE)
        found = found or re.search(rf"\b({name})\b", self.text)
        return self.lines.place(*found.span(1)) if found else Place(self.name)
