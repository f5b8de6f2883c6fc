"""The time by which decisions are made: wall time that never goes back."""

from __future__ import annotations

import time
from collections.abc import Callable


class Clock:
    """Unix time in ms. Where the machine's clock is set back, it goes on from where it was."""

    def __init__(self, wall: Callable[[], float] = time.time, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._wall, self._monotonic = wall, monotonic
        self._value, self._at = wall(), monotonic()

    def now_ms(self) -> int:
        """Now."""
        at = self._monotonic()
        self._value = max(self._wall(), self._value + (at - self._at))
        self._at = at
        return int(self._value * 1000)
