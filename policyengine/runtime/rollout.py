"""The rollout stage and the kill switch in the state store: what `gate` decides there, and every adapter obeys."""

from __future__ import annotations

from dataclasses import dataclass

from policyengine.runtime.state.store import State, StateStore
from policyengine.runtime.stated import stated, stated_text

_DAY_MS = 86_400_000


@dataclass(frozen=True, slots=True)
class Stage:
    """A stage of the rollout, who has fast routing in it (as the Stage policy said), and since when (Unix time, ms)."""

    stage: str | None = None
    fast: str | None = None
    since_ms: int | None = None

    def days(self, now_ms: int) -> int:
        """Whole days since it began."""
        return max(0, now_ms - self.since_ms) // _DAY_MS if self.since_ms is not None else 0


class Rollout:
    """Stage and kill switch of one scope."""

    def __init__(self, store: StateStore, scope: str) -> None:
        self.store = store
        self.stage_key, self.kill_key, self.calls_key = (
            f"{name}:{scope}" for name in ("rollout", "kill-switch", "fast-calls")
        )

    async def stage(self) -> Stage:
        """The stage now; all None where none was set."""
        return _stage(await self.store.get(self.stage_key))

    async def move(self, stage: str, *, fast: str | None = None, now_ms: int) -> Stage:
        """Go to a stage. `fast` is who has fast routing in it (off, opt_in, on), None for what the policy FastAccess
        makes of the stage's name. A stage that stays keeps its beginning. Raises `InputError` for what is neither."""
        stated_text(stage, "stage", empty=False)
        stated(fast, "fast", "fast-access")
        stated(now_ms, "now_ms", "breaker")

        def step(before: State | None) -> tuple[State, Stage]:
            now = _stage(before)
            since = now.since_ms if now.stage == stage and now.since_ms is not None else now_ms
            return {"stage": stage, "fast": fast, "since_ms": since}, Stage(stage, fast, since)

        return await self.store.update(self.stage_key, step)

    async def tripped(self) -> bool:
        """Whether the kill switch turned fast routing off."""
        kill = await self.store.get(self.kill_key)
        return kill is not None and kill.get("tripped") is True

    async def reset_kill_switch(self) -> None:
        """A person turns fast routing on again after the kill switch."""
        await self.store.update(self.kill_key, lambda before: ({"recent": [], "tripped": False}, None))


def _stage(state: State | None) -> Stage:
    if state is None:
        return Stage()
    stage, fast, since = (state.get(name) for name in ("stage", "fast", "since_ms"))
    return Stage(
        stage if isinstance(stage, str) else None,
        fast if isinstance(fast, str) else None,
        since if isinstance(since, int) and not isinstance(since, bool) else None,
    )
