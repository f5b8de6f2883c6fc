"""What a person sees and may do: the state that the Presentation policy says."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeAlias

from policyengine.runtime.events import Event, StateChanged

Moment: TypeAlias = Literal[
    "turn_started", "terminal_batch", "confirmation_asked", "confirmation_given", "tool_calls", "message", "turn_ended"
]


class Presentation:
    """The state of one session."""

    def __init__(
        self, ask: Callable[[str, Mapping[str, Any]], Mapping[str, Any]], say: Callable[[Event], None]
    ) -> None:
        self._ask, self._say = ask, say
        self.state: Literal["idle", "responding", "waiting_for_confirmation", "summarizing"] = "idle"
        self.accepts_message = True
        self.suggestions = True

    def at(self, moment: Moment) -> Mapping[str, Any]:
        """Something happened; the policy's answer. A change of state is said."""
        decided = self._ask("Presentation", {"state": self.state, "event": moment})
        if moment == "message" and not decided["accepts_message"]:
            return decided
        before = self.state, self.accepts_message, self.suggestions
        self.state = decided["state"]
        self.accepts_message = decided["accepts_message"]
        self.suggestions = decided["suggestions"]
        if before != (self.state, self.accepts_message, self.suggestions):
            self._say(StateChanged(self.state, self.accepts_message, self.suggestions))
        return decided
