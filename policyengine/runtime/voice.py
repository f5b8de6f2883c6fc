"""Who hears the events of a session: nobody until it is built, then the session itself."""

from __future__ import annotations

from collections.abc import Callable

from policyengine.runtime.events import Event


class Voice:
    """Keeps events until somebody takes them."""

    def __init__(self) -> None:
        self._early: list[Event] = []
        self._to: Callable[[Event], None] = self._early.append

    def say(self, event: Event) -> None:
        """Hand an event over, now or as soon as somebody listens."""
        self._to(event)

    def listen(self, to: Callable[[Event], None]) -> None:
        """Give `to` what was said so far, and everything from now on."""
        self._to = to
        for event in self._early:
            to(event)
