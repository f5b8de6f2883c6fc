"""Tips: which tip a person sees. Tips are ranges between thresholds and never overlap."""

from __future__ import annotations

from policyengine.kinds.kind import Kind
from policyengine.kinds.spec import Path, Spec, SpecError
from policyengine.rules.table import Expression, HitPolicy, Outcome, Rule, Table
from policyengine.source.schema import load_schema

THRESHOLDS = ("warn", "auto", "hard")
"""From the lowest up."""


def build(kind: Kind, spec: Spec) -> Table:
    """A table with one rule a tip; two tips at once are an error."""
    derived = {"known": spec.generated(_known(), ("spec",)), **spec.derived(), **_starts(spec)}
    rules = []
    for index, tip in enumerate(spec.get("tips")):
        path: Path = ("spec", "tips", index)
        if "below" in tip and THRESHOLDS.index(tip["below"]) <= THRESHOLDS.index(tip["from"]):
            raise SpecError(
                f"the tip `{tip['id']}` ends at `{tip['below']}`, where or before it starts",
                (*path, "below"),
                "name a higher threshold, or leave `below` out",
            )
        span = _span(tip["from"], tip.get("below"))
        when = spec.wrapped(f"{span} && (", (*path, "when"), ")") if "when" in tip else spec.generated(span, path)
        outcome = Outcome({"tip": tip["id"], "text": tip["text"]}, _footer(spec))
        rules.append(Rule(tip["id"], when, outcome, spec.document.place(path), tip.get("description", "")))
    return Table(
        policy=spec.metadata["name"],
        version=spec.metadata["version"],
        kind=kind.name,
        input_schema=load_schema("inputs/tips"),
        rules=spec.unique(rules, ("spec", "tips")),
        default=Outcome({"tip": None, "text": None}, _footer(spec)),
        on_error=spec.get("on_error", kind.on_error),
        hit=HitPolicy.UNIQUE,
        constants=spec.constants(),
        words=spec.words,
        derived=derived,
    )


def _known() -> str:
    given = " && ".join(f"{name} != null" for name in THRESHOLDS)
    return f"({given}) || input.window != null"


def _starts(spec: Spec) -> dict[str, Expression]:
    """`START_warn` and so on: where each tier begins, from the thresholds or from shares of the window.

    With a hysteresis, a tier that the shown tip has reached begins that much lower, so that the tip stays.
    """
    starts = {}
    hysteresis = spec.get("hysteresis_tokens", 0)
    for rank, name in enumerate(THRESHOLDS):
        share = float(spec.get("fallback")[name])
        path: Path = ("spec", "fallback", name)
        text = f"{name} != null ? {name} : int(math.ceil(double(input.window) * {share!r}))"
        if hysteresis:
            reached = [t["id"] for t in spec.get("tips") if THRESHOLDS.index(t["from"]) >= rank]
            ids = ", ".join(f'"{tip}"' for tip in reached)
            text = f"({text}) - (shown != null && shown in [{ids}] ? {hysteresis} : 0)"
        starts[f"start_{name}"] = spec.generated(text, path)
    return starts


def _span(start: str, below: str | None) -> str:
    end = f" && tokens < start_{below}" if below else ""
    return f"known && tokens >= start_{start}{end}"


def _footer(spec: Spec) -> dict[str, Expression]:
    footer = spec.get("footer")
    if footer is None:
        return {"footer": spec.generated("false", ("spec",))}
    return {"footer": spec.generated(_span(footer["from"], footer["below"]), ("spec", "footer"))}


KIND = Kind("Tips", "Which tip a person sees", build, {"tip": None, "text": None, "footer": False})
