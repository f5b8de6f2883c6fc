"""A second opinion by a model, where one is asked for: how well a summary answers each probe."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from policyengine.compression.method import Answer, Ask
from policyengine.compression.probing import Probe
from policyengine.kinds.bundle import Bundle
from policyengine.source.errors import InputError
from policyengine.source.jsonfile import parse_json

_LONGEST = 4_000
"""Characters of an opinion that are looked at: it is one small object."""


def judged(
    bundle: Bundle, probes: Iterable[Probe], summary: str, model: Callable[[Ask], Answer]
) -> Iterator[tuple[Probe, float | None]]:
    """The model's score (0 to 1) of each probe; None where its answer cannot be used."""
    about: Mapping[str, Any] = bundle.serving("Probes").spec["judge"]
    for probe in probes:
        text = about["question"].replace("{question}", probe.question)
        text = text.replace("{answer}", ", ".join(probe.answer)).replace("{summary}", summary)
        yield probe, read_opinion(model(Ask(about["system"], (text,))))


def read_opinion(answer: Answer) -> float | None:
    """The score in an opinion; None for anything but the one object that was asked for."""
    if answer.stop != "stop" or len(answer.text) > _LONGEST:
        return None
    try:
        data = parse_json(answer.text.strip().removeprefix("```json").removesuffix("```").strip(), "opinion")
    except InputError:
        return None
    value = data.get("score") if isinstance(data, dict) and set(data) == {"score"} else None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        return None
    return float(value)
