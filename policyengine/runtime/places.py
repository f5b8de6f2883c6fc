"""The places in which an answer that is still being written stands, and how it leaves all of them at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol


class Place(Protocol):
    """Somewhere a growing answer is kept or shown."""

    def add(self, text: str) -> None:
        """More text has come."""
        ...

    def commit(self) -> None:
        """The answer is finished and stays."""
        ...

    def discard(self) -> None:
        """The answer is taken back: nothing of it may stay."""
        ...


class PendingDisplay:
    """The item on the screen that is not final yet."""

    def __init__(self) -> None:
        self._parts: list[str] = []

    @property
    def text(self) -> str:
        """What it shows."""
        return "".join(self._parts)

    def add(self, text: str) -> None:
        """Show more."""
        self._parts.append(text)

    def commit(self) -> None:
        """The item is final: it is no longer pending."""
        self._parts.clear()

    def discard(self) -> None:
        """Remove the item."""
        self._parts.clear()


class RecordingBuffer(PendingDisplay):
    """What the session's recording would say of the answer if it ended now."""


class LoopDetector:
    """Counts equal chunks in a row within one answer."""

    def __init__(self) -> None:
        self._last = ""
        self.repeats = 0

    def add(self, text: str) -> None:
        """Count a chunk."""
        self.repeats = self.repeats + 1 if text == self._last and text.strip() else 1
        self._last = text

    def commit(self) -> None:
        """Start anew."""
        self._last, self.repeats = "", 0

    def discard(self) -> None:
        """Forget what was counted."""
        self.commit()


class Draft:
    """One answer in all its places. The chat history is not among them: it only ever takes finished answers."""

    def __init__(self, places: Sequence[Place], on_error: Callable[[str], None]) -> None:
        self._places = places
        self._on_error = on_error
        self._open = True

    def add(self, text: str) -> bool:
        """More text. False, and nothing happens, once the answer is finished or taken back."""
        if not self._open:
            return False
        for place in self._places:
            try:
                place.add(text)
            except Exception as error:
                self._on_error(type(error).__name__)
        return True

    def commit(self) -> bool:
        """Finish it. False where it was taken back before."""
        return self._end(lambda place: place.commit())

    def discard(self) -> bool:
        """Take it back everywhere. False where it was finished before."""
        return self._end(lambda place: place.discard())

    def _end(self, step: Callable[[Place], None]) -> bool:
        if not self._open:
            return False
        self._open = False
        for place in self._places:
            try:
                step(place)
            except Exception as error:
                self._on_error(type(error).__name__)
        return True
