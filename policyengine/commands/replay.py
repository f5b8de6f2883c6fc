"""`policyengine replay`: what a bundle would have decided in every round of recorded sessions."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import click

from policyengine.commands.max_changed import MaxChanged, max_changed_option
from policyengine.commands.options import (
    bundle_option,
    load_bundle,
    print_json,
    print_jsonl,
    read_session,
    refuse_idle,
    thousands,
)
from policyengine.commands.outputs import keep_inputs

_LONG_BYTES = 1_000_000
"""Files larger than this get a progress bar (on a terminal)."""


@click.command(
    epilog="Examples:  policyengine replay session.jsonl --window 200000   |   policyengine replay s.jsonl --round 12",
)
@click.argument("sessions", nargs=-1, required=True, metavar="SESSION...")
@click.option("--window", type=click.IntRange(min=1), metavar="N", help="Context window of the primary model, tokens.")
@click.option(
    "--fast-window", type=click.IntRange(min=1), metavar="N", help="Context window of the fast model, tokens."
)
@click.option("--ladder", metavar="NAME", help="A ladder of the bundle; without it the one that serves.")
@click.option(
    "--strategy", type=click.Choice(["auto", "always_primary", "always_fast"]), default="auto",
    help="The person's routing setting.",
)  # fmt: skip
@bundle_option
@max_changed_option(
    help="Decision logs: exit with 1 where more decisions change: a share of them (5%) or a count (10)."
)
@click.option(
    "--engine", type=click.Choice(["local", "ray"]), default="local", help="Decision logs: all cores, or Ray."
)
@click.option("--output", metavar="DIR", help="Decision logs: write every decision here, as Parquet.")
@click.option("--round", "number", type=click.IntRange(min=1), metavar="K", help="Everything about one round.")
@click.option("--wide", is_flag=True, help="Every column, also where the terminal is too narrow for them.")
@click.option(
    "--log", metavar="FILE", help="Append a decision record for each decision to this file, JSONL or .sqlite."
)
@click.option("--log-prompts", is_flag=True, help="Write prompts into the records as they are, not hashed.")
@click.option("--format", "form", type=click.Choice(["text", "json", "jsonl"]), default="text", help="Output format.")
def command(
    sessions: tuple[str, ...], window: int | None, fast_window: int | None, ladder: str | None, strategy: str,
    bundle: str | None, max_changed: MaxChanged | None, engine: str, output: str | None, number: int | None,
    wide: bool, log: str | None, log_prompts: bool, form: str,
) -> None:  # fmt: skip
    """Replay recorded sessions: tier, compaction, tip, routing, directive and breaker of every round.

    Reads Claude Code, Codex and qwen-code transcripts, and OpenAI, Anthropic and Gemini message lists; the format is
    told from the content. SESSION may be -, which is stdin. Nothing is sent anywhere.

    Also takes decision logs (JSONL, Parquet, SQLite): decides every recorded input again by the bundle and says how
    the outcomes moved.
    """
    from policyengine.commands import redecide

    if sessions.count("-") > 1:
        raise click.UsageError("- is stdin, which can be read once; give it once")
    if redecide.are_logs(sessions):
        only_sessions = ("window", "fast_window", "ladder", "strategy", "number", "wide", "log", "log_prompts")
        refuse_idle("is for sessions; these are decision logs, whose recorded inputs are decided again", *only_sessions)
        if form == "jsonl":
            raise click.UsageError("--format jsonl is for sessions; decision logs have one result: --format json")
        redecide.run(sessions, bundle, max_changed, engine, output, form)
        return
    refuse_idle("is for decision logs; these are sessions", "max_changed", "engine", "output")
    if form != "text" or number is not None:
        refuse_idle("is about the table of rounds, which is text without --round", "wide")
    if log is None:
        refuse_idle("says how records are written; give --log FILE", "log_prompts")
    from policyengine.check.recorded_window import window_recorded
    from policyengine.check.replay import Options, SessionReplay, refetched, rounds, unlisted_tools
    from policyengine.commands import replay_text
    from policyengine.commands.replay_json import as_json, round_json
    from policyengine.kinds.loop import Loop
    from policyengine.source.errors import InputError

    if log is not None:
        keep_inputs("--log", log, sessions)
    loaded = load_bundle(bundle)
    loop = Loop(loaded, ladder)
    if why := loop.tokenizer()[1]:
        click.echo(f"policyengine: {why}; bytes are counted instead", err=True)
    options = Options(window=window, fast_window=fast_window, strategy=strategy, trace_round=number)
    replays: list[SessionReplay] = []
    with ExitStack() as stack:
        record = _recording(stack, loaded, log, log_prompts)
        for path in sessions:
            with _progress(path) as advance:
                session = read_session(path, advance)
            one = SessionReplay(session, refetches=refetched(session, loop), unlisted=unlisted_tools(session, loop))
            again = {item.round: item for item in one.refetches}
            for row in rounds(session, loop, options):
                one.rounds.append(row)
                record(row, session, again.get(row.round.index))
                if form == "jsonl" and number is None:
                    print_jsonl({"path": session.path, **round_json(row)})
            if number is not None and number > len(one.rounds):
                raise InputError(f"{path}: there is no round {number}; the session has {len(one.rounds)}")
            _say_window(path, window_recorded(one, loop))
            replays.append(one)
    if number is not None:
        for one in replays:
            row = one.rounds[number - 1]
            if form == "text":
                click.echo(replay_text.one_round(one, row))
            else:
                (print_json if form == "json" else print_jsonl)(
                    {"path": one.session.path, **round_json(row, whole=True)}
                )
    elif form == "json":
        print_json(as_json(replays))
    elif form == "text":
        replay_text.show(replays, wide=wide)


def _say_window(path: str, found: tuple[int, int, int] | None) -> None:
    """Say that the recording speaks for another window."""
    if found is None:
        return
    number, tokens, window = found
    recorded = f"the automatic compaction recorded at {thousands(tokens)} tokens (round {number})"
    way = f"speaks for a window of {thousands(window)}; --window {window} replays it so"
    click.echo(f"policyengine: {path}: {recorded} {way}", err=True)


def _recording(stack: ExitStack, bundle: Any, log: str | None, log_prompts: bool) -> Callable[..., None]:
    """What is called with each round: writes its records where a log is asked for."""
    if log is None:
        return lambda row, session, refetch: None
    from policyengine.log.record import Recorder
    from policyengine.log.replay_records import records
    from policyengine.log.settings import appending, logging_policy

    write = stack.enter_context(appending(log, logging_policy(bundle)))
    recorder = Recorder(bundle, source="replay", show_prompts=log_prompts)

    def record(row: Any, session: Any, refetch: Any) -> None:
        for item in records(row, session, recorder, refetch):
            write(item)

    return record


@contextmanager
def _progress(path: str) -> Iterator[Callable[[int, int], None] | None]:
    """A progress bar on stderr for a long file, and only on a terminal."""
    import os

    try:
        long = os.path.getsize(path) > _LONG_BYTES
    except OSError:
        long = False
    if not long or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(os.path.basename(path), total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
