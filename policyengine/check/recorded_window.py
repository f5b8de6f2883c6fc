"""Whether the compactions that a session records speak for another window than the one that was assumed."""

from __future__ import annotations

from policyengine.check.replay import SessionReplay
from policyengine.kinds.loop import Loop


def window_recorded(one: SessionReplay, loop: Loop) -> tuple[int, int, int] | None:
    """Round, prompt tokens and window (tokens) of a recorded automatic compaction that another window explains better.

    Only where the window is the catalogue's, which knows what a model takes and not what a product was set to. The
    windows of the catalogue are held against the compaction: the one whose `auto` lies nearest explains it best.
    """
    windows = {found for row in loop.models.spec["models"] if (found := loop.window(row["id"])) is not None}
    nearest = {window: loop.thresholds(window)["auto"] for window in windows}
    by_round = {row.round.index: row for row in one.rounds}
    for item in one.session.recorded_compactions:
        row = by_round.get(item.round)
        if item.trigger != "auto" or item.tokens is None or row is None or row.window_origin != "catalogue":
            continue
        tokens = item.tokens
        best = min(
            (window for window, auto in nearest.items() if auto is not None and window >= tokens),
            key=lambda window: (abs(nearest[window] - tokens), window),
            default=row.window,
        )
        if best is not None and row.window is not None and best < row.window:
            return item.round, tokens, best
    return None
