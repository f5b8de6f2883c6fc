"""The formats, by the name that `--format` takes. Their modules are imported when one is asked for."""

from __future__ import annotations

import importlib

from policyengine.check.formats.results import Results
from policyengine.source.render import render_json, render_text

FORMATS = ("text", "json", "sarif", "junit", "github", "gitlab")


def render(results: Results, form: str, *, color: bool = False) -> str:
    """The results in a format of `FORMATS`."""
    if form == "text":
        return render_text(results.findings, results.texts, color=color)
    if form == "json":
        return render_json(results.findings)
    text: str = importlib.import_module(f"policyengine.check.formats.{form}").render(results)
    return text
