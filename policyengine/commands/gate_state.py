"""The rollout's stage in a state store, as `policyengine gate --state` reads and moves it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

from policyengine.kinds.policy import Policy
from policyengine.log.gates import Verdict
from policyengine.runtime.rollout import Rollout, Stage
from policyengine.runtime.state.opening import open_store, store_errors
from policyengine.source.errors import InputError

T = TypeVar("T")


class StoredStage:
    """Stage of one scope in the store `where`: an SQLite file or a Redis URL; `timeout_s` is how long to wait for it.

    Raises `InputError` where it cannot be read, or `policy` moves no stage.
    """

    def __init__(self, where: str, scope: str, policy: Policy, timeout_s: float) -> None:
        if policy.kind.name != "Stage":
            raise InputError(
                f"--state is for a gate that moves a rollout stage; `{policy.name}` is a {policy.kind.name}"
            )
        self._where, self._scope, self._timeout_s = where, scope, timeout_s

    def now(self, stage: str | None, days: int | None) -> tuple[str | None, int]:
        """The stage and its days; what a person states comes before what the store holds."""
        found = self._with(lambda rollout: rollout.stage())
        if stage is not None and stage != found.stage:
            return stage, days or 0
        return found.stage, days if days is not None else found.days(_now_ms())

    def move(self, verdict: Verdict) -> Stage:
        """Put the stage that the policy decided into the store."""
        outcome = verdict.outcome
        return self._with(lambda rollout: rollout.move(outcome["stage"], fast=outcome["fast"], now_ms=_now_ms()))

    def _with(self, act: Callable[[Rollout], Awaitable[T]]) -> T:
        async def run() -> T:
            store = open_store(self._where, timeout_s=self._timeout_s)
            try:
                return await act(Rollout(store, self._scope))
            finally:
                await store.close()

        with store_errors(self._where):
            return asyncio.run(run())


def _now_ms() -> int:
    return int(time.time() * 1000)
