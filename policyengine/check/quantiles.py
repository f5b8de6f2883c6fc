"""Exact percentiles."""

from __future__ import annotations

from collections.abc import Iterable


def quantile(values: Iterable[float], share: float) -> float | None:
    """The value below which `share` (0 to 1) of the values lie, interpolated linearly; None without values.

    Definition 7 of Hyndman and Fan, "Sample Quantiles in Statistical Packages" (1996): what spreadsheets and
    numpy compute.
    """
    ordered = sorted(values)
    if not ordered:
        return None
    position = share * (len(ordered) - 1)
    below = int(position)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (position - below)
