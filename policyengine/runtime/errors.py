"""Errors that a session raises on purpose, beside `ProviderError`. None of them holds a prompt, argument or key."""

from __future__ import annotations

from policyengine.source.errors import PolicyEngineError


class SessionBusyError(PolicyEngineError):
    """A second message while a turn runs that does not take one."""

    def __init__(self, state: str) -> None:
        self.state = state
        super().__init__(
            f"the session is {state.replace('_', ' ')}; "
            "read the running turn to its end, or close it, before the next send"
        )


class NothingToRetryError(PolicyEngineError):
    """`retry` where no turn waits for an answer."""

    def __init__(self) -> None:
        super().__init__("there is nothing to try again: the last message has its answer")
