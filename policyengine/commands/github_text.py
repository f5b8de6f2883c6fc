"""Findings on a GitHub runner: annotations in the log of the step, and all of them in the job summary."""

from __future__ import annotations

import os
from pathlib import Path

import click

from policyengine.check.formats import github
from policyengine.check.formats.results import Results
from policyengine.commands.outputs import writing


def show(results: Results, title: str) -> None:
    """Print the annotations; append every finding to the job summary, or print the rest where there is none."""
    click.echo(github.render(results))
    where = os.environ.get("GITHUB_STEP_SUMMARY")
    if where:
        with writing(where), Path(where).open("a", encoding="utf-8") as stream:
            stream.write(github.summary(results, title))
    elif more := github.rest(results):
        click.echo(more)
