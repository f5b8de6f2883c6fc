"""`policyengine run`: a small agent in the terminal, with its decisions shown beside it."""

from __future__ import annotations

from typing import Any

import click

from policyengine.commands.options import bundle_option, refuse_idle

_PROVIDERS = ["scripted", "openai", "openai-responses", "qwen", "anthropic", "gemini"]


@click.command(
    epilog='Examples:  policyengine run "what is in this folder?"   |   '
    'policyengine run "which tests are slow?" --provider anthropic --save session.jsonl'
)
@click.argument("prompt")
@click.option(
    "--provider", type=click.Choice(_PROVIDERS), default="scripted", show_default=True,
    help="Whose models answer. Keys come from the provider's usual environment variable.",
)  # fmt: skip
@click.option("--base-url", metavar="URL", help="Another server that speaks the provider's API.")
@click.option("--primary", metavar="MODEL", help="The primary model; without it the catalogue's first of the provider.")
@click.option("--fast", metavar="MODEL", help="The fast model, and turn routing to it on.")
@click.option("--script", metavar="FILE", help="What the scripted provider plays; without it a short demonstration.")
@click.option(
    "--tools", type=click.Choice(["read-only", "none"]), default="read-only", show_default=True,
    help="read-only: read_file, list_directory, grep and git, confined to the current folder.",
)  # fmt: skip
@click.option("--window", type=click.IntRange(min=1), metavar="N", help="Context window of the primary model, tokens.")
@click.option("--fast-window", type=click.IntRange(min=1), metavar="N", help="That of the fast model, tokens.")
@click.option(
    "--max-output", type=click.IntRange(min=1), metavar="N",
    help="Output limit of the primary model, tokens, where the catalogue does not list it (anthropic needs one).",
)  # fmt: skip
@click.option("--fast-max-output", type=click.IntRange(min=1), metavar="N", help="That of the fast model, tokens.")
@click.option(
    "--cap-field", type=click.Choice(["max_tokens", "max_completion_tokens"]),
    help="What an openai or qwen server calls the output cap, where it does not know the catalogue's name.",
)  # fmt: skip
@click.option(
    "--plain-text", is_flag=True,
    help="For an openai or qwen server that takes nothing but strings as the contents of messages.",
)  # fmt: skip
@click.option(
    "--always-summarize", is_flag=True,
    help="Let the model answer after every tool; without it what a tool gives may itself be the answer.",
)  # fmt: skip
@click.option("--resume", metavar="FILE", help="Take up a session that was saved.")
@click.option("--save", metavar="FILE", help="Save the session, in a form that `policyengine replay` reads.")
@click.option(
    "--state", metavar="FILE|URL",
    help="Keep breaker, kill switch and stage in this SQLite file, or at redis://HOST:PORT/DB.",
)  # fmt: skip
@click.option("--log", metavar="FILE", help="Append a record for each decision to this file, JSONL or .sqlite.")
@click.option("--quiet", "-q", is_flag=True, help="Show the answer only.")
@bundle_option
def command(**options: Any) -> None:
    """Ask PROMPT, and let a model answer with tools that only read.

    The answer goes to stdout; decisions, tool calls and warnings go to stderr. Where the policies skip the round
    after a tool, what the tool gave is the answer.
    """
    from policyengine.commands.run_agent import run
    from policyengine.commands.run_signals import run_stoppable

    if options["fast"] is None:
        refuse_idle("is a limit of the fast model; name that with --fast MODEL", "fast_window", "fast_max_output")
    status = run_stoppable(run(**options))
    if status:
        raise click.exceptions.Exit(status)
