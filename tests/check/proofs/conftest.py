"""Policies written in a test, loaded as a bundle of one file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from policyengine.kinds.bundle import load
from policyengine.kinds.policy import Policy

Loader = Callable[[dict[str, Any]], Policy]


def write(folder: Path, kind: str, name: str, spec: dict[str, Any]) -> Path:
    document = {
        "apiVersion": "policyengine/v1",
        "kind": kind,
        "metadata": {"name": name, "version": "1.0.0", "owner": "tests"},
        "spec": spec,
    }
    path = folder / f"{name}.yaml"
    path.write_text(yaml.safe_dump(document, sort_keys=False, allow_unicode=True), encoding="utf-8")
    return path


@pytest.fixture
def table_policy(tmp_path: Path) -> Loader:
    def loaded(spec: dict[str, Any]) -> Policy:
        complete = {"rules": [], "on_error": {"x": -1}, **spec}
        if spec.get("hit") != "collect":  # it has none: where no rule matches, nothing is collected
            complete.setdefault("default", {"outcome": {"x": 0}})
        complete["input"] = {"type": "object", "additionalProperties": False, **complete["input"]}
        complete["input"].setdefault("required", list(complete["input"]["properties"]))
        return load(write(tmp_path, "Table", "t", complete)).policy("t")

    return loaded


@pytest.fixture
def ladder_policy(tmp_path: Path) -> Loader:
    def loaded(spec: dict[str, Any]) -> Policy:
        complete: dict[str, Any] = {
            "derived": {"effective_window": "window", "compact_max_output_tokens": "0.0"},
            "thresholds": {"warn": "0.5 * window", "auto": "0.6 * window", "hard": "0.7 * window"},
            **spec,
        }
        complete["thresholds"] = {
            tier: {"least": {"only": text}} if isinstance(text, str) else text
            for tier, text in complete["thresholds"].items()
        }
        return load(write(tmp_path, "Ladder", "l", complete)).policy("l")

    return loaded
