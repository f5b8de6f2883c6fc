"""What decisions ask of tool calls, computed one way for a replay and for a running agent."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeAlias

from policyengine.sessions.model import Part, Round, ToolCall

CallKey: TypeAlias = tuple[str, str]
"""A tool's name and the fingerprint of its arguments: calls that are equal in it count as one."""


def call_key(call: ToolCall) -> CallKey:
    """Key of a call."""
    return call.name, call.fingerprint


def distinct_calls(calls: Iterable[ToolCall]) -> frozenset[CallKey]:
    """Keys of the calls: the same tool with the same arguments counts once."""
    return frozenset(call_key(call) for call in calls)


def unresolved_errors(calls: Iterable[ToolCall], before: frozenset[CallKey] = frozenset()) -> frozenset[CallKey]:
    """Keys whose latest known outcome is an error, over calls in their order.

    `before` is the answer for the calls that came before these. A call that has no result, was cancelled or
    says nothing about errors changes nothing: only a success resolves an error.
    """
    errors = set(before)
    for call in calls:
        if call.result is None:
            continue
        if call.result.error:
            errors.add(call_key(call))
        elif call.result.error is False and not call.result.cancelled:
            errors.discard(call_key(call))
    return frozenset(errors)


def has_error(calls: Iterable[ToolCall]) -> bool:
    """Whether the result of any of the calls is an error."""
    return any(call.result is not None and call.result.error is True for call in calls)


def has_cancel(calls: Iterable[ToolCall]) -> bool:
    """Whether any of the calls was stopped or refused by the person."""
    return any(call.result is not None and call.result.cancelled for call in calls)


def turn_rounds(rounds: Iterable[Round], turn: int, until: int | None = None) -> Iterator[Round]:
    """Rounds of a turn (1-based), up to and with the round `until` (1-based), else all."""
    return (item for item in rounds if item.turn == turn and (until is None or item.index <= until))


def tool_output(rounds: Iterable[Round]) -> tuple[Part, ...]:
    """What the tools called in these rounds gave back, in the order of the calls."""
    return tuple(
        part for item in rounds for call in item.calls if call.result is not None for part in call.result.parts
    )
