"""What turns fast routing on and off over all sessions that share a store: rollout stage and kill switch."""

from __future__ import annotations

from policyengine.kinds.loop import Made
from policyengine.runtime.advisor import Advisor
from policyengine.runtime.state.store import State, StateStore

DEFAULT_ON = "default_on"


class Switches:
    """Rollout stage and kill switch of one scope."""

    def __init__(self, store: StateStore, scope: str, advisor: Advisor) -> None:
        self._store = store
        self._kill, self._stage = f"kill-switch:{scope}", f"rollout:{scope}"
        self._advisor = advisor

    async def fast_allowed(self, wanted: bool | None) -> bool:
        """Whether routing may use the fast model: the person's word, else the stage, and never after the kill."""
        if wanted is False:
            return False
        if wanted is None:
            stage = await self._store.get(self._stage)
            if stage is None or stage.get("stage") != DEFAULT_ON:
                return False
        kill = await self._store.get(self._kill)
        return not (kill is not None and kill.get("tripped") is True)

    async def fast_round(self, fell_back: bool) -> tuple[int, int] | None:
        """Count a fast round. Where this turns fast routing off: fast rounds and fallbacks that led to it."""
        live = self._advisor.live
        policy, most = live.policy("KillSwitch"), live.settings["kill_switch_rounds"]

        def step(before: State | None) -> tuple[State | None, tuple[Made, bool]]:
            # Pure, and perhaps in another thread: what is decided is taken note of afterwards.
            kept = before.get("recent") if before is not None else None
            recent = [*(kept if isinstance(kept, list) else []), int(fell_back)][-most:]
            tripped = before is not None and before.get("tripped") is True
            given = {"fast_rounds": len(recent), "fallbacks": sum(recent), "tripped": tripped}
            made = Made(policy, given, policy.decide(given))
            off = not made.decision.outcome["fast"]
            return {"recent": recent, "tripped": off}, (made, off and not tripped)

        made, turned_off = await self._store.update(self._kill, step)
        self._advisor.take(live, (made,))
        return (made.input["fast_rounds"], made.input["fallbacks"]) if turned_off else None

    async def set_stage(self, stage: str) -> None:
        """Move to another rollout stage."""
        await self._store.update(self._stage, lambda before: ({**(before or {}), "stage": stage}, None))

    async def reset(self) -> None:
        """A person turns fast routing on again."""
        await self._store.update(self._kill, lambda before: ({"recent": [], "tripped": False}, None))
