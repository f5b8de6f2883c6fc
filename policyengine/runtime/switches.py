"""Who may use the fast model: the policies FastAccess and KillSwitch over the state that sessions share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from policyengine.kinds.made import Made
from policyengine.runtime.deciding import Deciding
from policyengine.runtime.rollout import Rollout
from policyengine.runtime.state.store import State

Use: TypeAlias = Literal["routing", "helper"]
RATE_LIMIT = "rate_limit"


@dataclass(frozen=True, slots=True)
class Access:
    """Whether the fast model may be called, why, and when the call was counted (ms)."""

    allowed: bool
    reason: str
    at_ms: int


class Switches:
    """Asks for one session; state is shared by all sessions of the rollout's scope."""

    def __init__(self, rollout: Rollout, advisor: Deciding, now_ms: Callable[[], int]) -> None:
        self._rollout = rollout
        self._advisor = advisor
        self._now = now_ms

    async def take(self, use: Use, asked: bool | None) -> Access:
        """Whether a call of the fast model may be made; one that may is counted. `asked` is the person's word."""
        rollout, live, now = self._rollout, self._advisor.live, self._now()
        policy = live.policy("FastAccess")
        stage, tripped = await rollout.stage(), await rollout.tripped()
        window: int = policy.spec["limit_window_ms"]

        def step(before: State | None) -> tuple[State | None, Made]:
            # Pure, and perhaps in another thread: what is decided is taken note of afterwards.
            calls = _calls(before, now - window, now)
            given = {
                "use": use,
                "stage": stage.stage,
                "fast": stage.fast,
                "asked": asked,
                "tripped": tripped,
                "routing_calls": sum(1 for _, one in calls if one == "routing"),
                "helper_calls": sum(1 for _, one in calls if one == "helper"),
            }
            made = Made(policy, given, policy.decide(given))
            return ({"calls": [*calls, [now, use]]} if made.decision.outcome["allowed"] else None), made

        made = await rollout.store.update(rollout.calls_key, step)
        self._advisor.take(live, (made,))
        outcome = made.decision.outcome
        return Access(outcome["allowed"], outcome.get("reason", ""), now)

    async def give_back(self, use: Use, access: Access) -> None:
        """The call that was counted is not made."""
        if not access.allowed:
            return

        def step(before: State | None) -> tuple[State | None, None]:
            calls = _calls(before, 0, None)
            if [access.at_ms, use] in calls:
                calls.remove([access.at_ms, use])
            return {"calls": calls}, None

        await self._rollout.store.update(self._rollout.calls_key, step)

    async def fast_round(self, fell_back: bool) -> tuple[int, int] | None:
        """Count a fast round. Where this turns fast routing off: fast rounds and fallbacks that led to it."""
        live = self._advisor.live
        policy, most = live.policy("KillSwitch"), live.settings["kill_switch_rounds"]

        def step(before: State | None) -> tuple[State | None, tuple[Made, bool]]:
            recent = [*_recent(before), int(fell_back)][-most:]
            tripped = before is not None and before.get("tripped") is True
            given = {"fast_rounds": len(recent), "fallbacks": sum(recent), "tripped": tripped}
            made = Made(policy, given, policy.decide(given))
            off = not made.decision.outcome["fast"]
            return {"recent": recent, "tripped": off}, (made, off and not tripped)

        made, turned_off = await self._rollout.store.update(self._rollout.kill_key, step)
        self._advisor.take(live, (made,))
        return (made.input["fast_rounds"], made.input["fallbacks"]) if turned_off else None


def _recent(state: State | None) -> list[int]:
    """The last fast rounds: 1 for each that fell back, else 0. What is neither (damaged) is left out."""
    kept = state.get("recent") if state is not None else None
    return [one for one in kept if type(one) is int and one in (0, 1)] if isinstance(kept, list) else []


def _calls(state: State | None, after_ms: int, now_ms: int | None) -> list[list[int | str]]:
    """The counted calls later than `after_ms`: when, and what for. A time that lies ahead counts as now; what is no
    call (damaged) is left out."""
    kept = state.get("calls") if state is not None else None
    found: list[list[int | str]] = []
    for one in kept if isinstance(kept, list) else []:
        if not isinstance(one, list) or [type(part) for part in one] != [int, str]:
            continue
        at, use = one
        at = at if now_ms is None else min(at, now_ms)
        if at > after_ms:
            found.append([at, use])
    return found
