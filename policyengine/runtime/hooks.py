"""Hooks: what an agent may see, and change, at each decision point."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from policyengine.kinds.batch import AfterBatch
from policyengine.kinds.before_send import BeforeSend
from policyengine.runtime.stated import stated_as

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Hooks:
    """Called with each decision. What a hook returns replaces the decision; None leaves it.

    A hook that raises is left out for that decision, and an event says so. Raises `InputError` for what is no function.
    """

    before_send: Callable[[BeforeSend], BeforeSend | None] | None = None
    after_batch: Callable[[AfterBatch], AfterBatch | None] | None = None
    compacted: Callable[[str], None] | None = None
    """Gets the result of each compaction."""

    def __post_init__(self) -> None:
        for name in ("before_send", "after_batch", "compacted"):
            stated_as(getattr(self, name), name, "a function, or None", callable, optional=True)


def hooked(hook: Callable[[T], T | None] | None, decided: T, on_error: Callable[[str], None]) -> T:
    """The decision after its hook."""
    if hook is None:
        return decided
    try:
        given = hook(decided)
    except Exception as error:
        on_error(type(error).__name__)
        return decided
    return decided if given is None else given
