"""The input of a step: what it starts from, what was carried into it, what it sets and leaves out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from policyengine.check.policy_tests.model import Setting, TestStep
from policyengine.kinds.paths import set_path, steps
from policyengine.source.errors import InputError

CLOCK = "now_ms"

Recording = Callable[[TestStep], Mapping[str, Any]]
"""Gives the recorded input that a step starts from."""


def build(
    step: TestStep,
    properties: Mapping[str, Any],
    recording: Recording,
    carried: Mapping[str, Any] | None = None,
    clock: int | None = None,
) -> dict[str, Any]:
    """The input of a step. `properties` are the input fields that its policy has.

    Raises `InputError` for a path that fits nothing and for a session that cannot be read.
    """
    given = dict(recording(step) if step.start.recorded else step.start.value)
    for setting in step.settings:
        if setting.field.split(".")[0].split("[")[0] not in step.own:
            given = applied(given, setting)
    for name, value in (carried or {}).items():
        if name in properties and name not in step.own:
            given[name] = value
    if clock is not None and CLOCK in properties and CLOCK not in step.own:
        given[CLOCK] = clock
    for setting in step.settings:
        if setting.field.split(".")[0].split("[")[0] in step.own:
            given = applied(given, setting)
    for setting in step.unset:
        given = without(given, setting.field)
    return given


def applied(data: dict[str, Any], setting: Setting) -> dict[str, Any]:
    """A copy of `data` with one field set."""
    return set_path(data, setting.field, setting.value)


def without(data: dict[str, Any], path: str) -> dict[str, Any]:
    """A copy of `data` without the field at `path`. Raises `InputError` where it is not there."""
    found = _without(data, steps(path), path)
    assert isinstance(found, dict)
    return found


def _without(data: Any, rest: list[str | int], path: str) -> Any:
    step, *later = rest
    if isinstance(data, list) and isinstance(step, int) and step < len(data):
        copy: Any = list(data)
    elif isinstance(data, dict) and step in data:
        copy = dict(data)
    else:
        raise InputError(f"{path!r} is not in the input, so that it cannot be left out")
    if later:
        copy[step] = _without(copy[step], later, path)
    else:
        del copy[step]
    return copy
