"""Numbers of tokens that a person or an agent states: checked once, where they come in."""

from __future__ import annotations

from policyengine.source.errors import InputError


def stated_tokens(tokens: int | None, name: str) -> int | None:
    """A window or an output limit, tokens; None where it is unknown, which 0 means too.

    `name` is what the person calls it. Raises `InputError` for what is no number of tokens.
    """
    if tokens is None:
        return None
    if isinstance(tokens, bool) or not isinstance(tokens, int) or tokens < 0:
        raise InputError(f"{name} is a whole number of tokens, or None where it is unknown; {tokens!r} is neither")
    return tokens or None
