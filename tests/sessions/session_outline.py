"""A session as short text, so that a person can check what is expected of a reader line by line."""

from __future__ import annotations

from policyengine.sessions import Part, Round, Session


def outline(session: Session) -> dict[str, object]:
    """Everything a reader decides, without the texts of parts."""
    return {
        "format": session.format,
        "provider": session.provider,
        "model": session.model,
        "window": session.window,
        "lines": session.lines,
        "turns": [
            f"{turn.kind} @{turn.first_round}{' redacted' if turn.prompt_redacted else ''}: {turn.prompt}"
            for turn in session.turns
        ],
        "rounds": [_round(item) for item in session.rounds],
        "compactions": [
            f"before {item.round}, {item.trigger}, {item.tokens}, context {item.context}, "
            f"pending [{_parts(item.pending)}]"
            for item in session.recorded_compactions
        ],
        "unsent": _parts(session.unsent),
        "skipped": dict(session.skipped),
        "noted": dict(session.noted),
    }


def _round(item: Round) -> str:
    usage = item.usage
    counts = (
        "no usage"
        if usage is None
        else f"{usage.input}/{usage.cache_read}/{usage.cache_write} {usage.output}/{usage.reasoning}"
    )
    calls = ", ".join(
        f"{call.name}={'?' if call.result is None else _outcome(call.result.error, call.result.cancelled)}"
        for call in item.calls
    )
    return (
        f"turn {item.turn} context {item.context}{' continues' if item.is_continuation else ''} | "
        f"{_parts(item.added)} | {_parts(item.output)} | {calls} | {counts} | "
        f"{item.model} {item.stop_reason} {item.duration_ms}"
    )


def _outcome(error: bool | None, cancelled: bool) -> str:
    return {True: "error", False: "ok", None: "unknown"}[error] + (" cancelled" if cancelled else "")


def _parts(parts: tuple[Part, ...]) -> str:
    return " ".join(f"{part.kind}:{part.bytes}{'r' if part.redacted else ''}" for part in parts)
