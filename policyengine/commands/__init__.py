"""The command line: one module a command, imported when it is called.

Each module under `commands/` listed in `COMMANDS` exports `command`, a click command. Exit status: 0 fine, 1 findings,
2 the command could not run.
"""

from __future__ import annotations

import errno
import gc
import importlib
import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import click
from click.shell_completion import CompletionItem

from policyengine.commands.completion import complete
from policyengine.commands.numbers import say_what_was_expected
from policyengine.source.errors import PolicyEngineError

COMMANDS: Mapping[str, str] = {
    "run": "A small agent in the terminal, with its decisions beside it.",
    "replay": "Decide every round of recorded sessions.",
    "eval": "One decision, as a dry run.",
    "context": "The ladder's thresholds for a window, and where a count stands.",
    "lint": "Find what is wrong in policies.",
    "test": "Run the policy tests that lie beside the policies.",
    "fmt": "Bring policies into one layout, keeping comments.",
    "rules": "List the lint rules.",
    "explain": "Show one lint rule: why it is there, a bad and a good example.",
    "verify": "Prove the properties that policies claim, or refute them with an example.",
    "diff": "Say what differs between two bundles, and what that does.",
    "compress": "Show what a compaction would leave of a session, and how good that is.",
    "probe": "Ask a summary questions whose answers the session knows.",
    "init": "Write a commented starter bundle with tests.",
    "log": "Decision logs: check, count, show, follow, query, export.",
    "gate": "Ask a gate, checkpoint or rollout stage about a decision log.",
    "baseline": "Measure what fast routing would gain, from a decision log.",
    "report": "A decision log as one page with charts.",
}
"""Name and one line of help, so that `--help` needs no command's module."""


class _Lazy(click.Group):
    """Imports the module of a command only when that command is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        module = importlib.import_module(f"policyengine.commands.{name}")
        found: click.Command = module.command
        _one_a_line(found)
        say_what_was_expected(found)
        complete(found, name)
        return found

    def invoke(self, ctx: click.Context) -> Any:
        from policyengine.commands.options import say_bundle

        try:
            result = super().invoke(ctx)
        except (SystemExit, click.exceptions.Exit):
            say_bundle(ctx)
            raise
        say_bundle(ctx)
        return result

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError:
            from policyengine.source.nearest import did_you_mean

            hint = did_you_mean(args[0], COMMANDS) or "`policyengine --help` lists the commands"
            raise click.UsageError(f"there is no command {args[0]!r}; {hint}", ctx) from None

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """The commands by their lines of help, without their modules, and the options of this one."""
        found = [CompletionItem(name, help=text) for name, text in COMMANDS.items() if name.startswith(incomplete)]
        return [*found, *click.Command.shell_complete(self, ctx, incomplete)]

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        _one_a_line(self)
        super().format_epilog(ctx, formatter)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


_HELP_INSTEAD: tuple[type[click.ClickException], ...] = tuple(
    found for found in (getattr(click.exceptions, "NoArgsIsHelpError", None),) if found is not None
)
"""Raised where nothing is asked of a group of commands: it holds the group's help. Older releases print that."""

_LONGEST = 200
"""Characters of a message that repeats arguments: a prompt whose quotes were forgotten is no part of an error."""


def _one_a_line(command: click.Command) -> None:
    """Give each example of a command a line of its own, so that none is broken or read as a pipe."""
    if command.epilog is not None and "\b" not in command.epilog:
        examples = [one.strip() for one in command.epilog.partition(":")[2].split("   |   ")]
        title = "Examples" if len(examples) > 1 else "Example"
        command.epilog = "\n  ".join([f"\b\n{title}:", *examples])
    if isinstance(command, click.Group) and not isinstance(command, _Lazy):
        for inner in command.commands.values():
            _one_a_line(inner)


def _version(ctx: click.Context, _: click.Parameter, asked: bool) -> None:
    if asked and not ctx.resilient_parsing:
        from importlib.metadata import version

        click.echo(f"policyengine {version('policyengine')}")
        ctx.exit()


@click.group(
    cls=_Lazy,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Examples:  policyengine replay session.jsonl   |   policyengine lint policies/",
)
@click.option("--version", is_flag=True, expose_value=False, is_eager=True, callback=_version, help="Show the version.")
@click.option("--traceback", is_flag=True, expose_value=False, help="Show the traceback of an internal error.")
def group() -> None:
    """Declarative policy for LLM agent loops: lint, test, prove, dry-run and replay policies."""


def main() -> None:
    """Run the command line. Never shows a traceback for what a person did wrong."""
    try:
        sys.exit(_written())
    finally:
        # The process ends here. Without this the interpreter would search all that was read for reference cycles first.
        gc.freeze()


def _written() -> int:
    """Run a command and see its output written; the exit status."""
    stdout = sys.stdout
    try:
        status = _status()
        if sys.stdout is not stdout:
            # click has met a broken pipe and put something harmless in its place.
            sys.stdout = stdout
            raise BrokenPipeError
        if stdout is not None:
            # What could not be written is said here; later the interpreter would say it in its own way.
            stdout.flush()
    except BrokenPipeError:
        # The reader of our output has gone (`| head`).
        _silence_stdout()
        return 141
    except OSError as error:
        _silence_stdout()
        with suppress(OSError):
            _say(f"the output cannot be written: {error.strerror or type(error).__name__}")
        return 2
    return status


def _status() -> int:
    """Run a command; its exit status. Raises `OSError` where its output cannot be written, and that error alone."""
    try:
        status = group(prog_name="policyengine", standalone_mode=False)
        # click gives the status of an `Exit` back; what a command itself returns says nothing.
        return status if isinstance(status, int) else 0
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else int(stop.code is not None)
    except click.Abort:
        click.echo("stopped", err=True)
        return 130
    except _HELP_INSTEAD as error:
        click.echo(error.format_message(), err=True)
    except click.ClickException as error:
        _say(_shortened(error.format_message()))
    except PolicyEngineError as error:
        _say(str(error))
    except RecursionError:
        _say("the input is nested too deeply to be read")
    except Exception as error:
        if isinstance(error, OSError) and _from_printing(error):
            raise
        if "--traceback" in sys.argv:
            raise _ShownError from error
        if isinstance(error, OSError) and _of_the_system(error):
            _say(": ".join(filter(None, (_named(error), error.strerror or type(error).__name__))))
            return 2
        called = next((word for word in sys.argv[1:] if word in COMMANDS), "COMMAND")
        way = f"`policyengine --traceback {called} ...` shows all of it"
        _say(f"internal error: {_where(error)}; this is a fault of policyengine ({way})")
    return 2


_PRINTERS = ("click", "rich")


class _ShownError(Exception):
    """An internal error whose traceback was asked for."""


_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO, errno.EFBIG, errno.EMFILE, errno.ENFILE})
"""What the system says of a disk or of itself, whoever asked."""


def _of_the_system(error: OSError) -> bool:
    """Whether the system refused what a person asked for: a file that is not our own, or for want of something."""
    ours = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    name = _named(error)
    return error.errno in _FULL or (name is not None and not os.path.abspath(name).startswith(ours + os.sep))


def _named(error: OSError) -> str | None:
    """The file that an error of the system is about, in a form that can be printed."""
    name = error.filename
    return os.fsencode(name).decode("utf-8", "backslashreplace") if isinstance(name, str | bytes) else None


def _from_printing(error: OSError) -> bool:
    """Whether an error of the system comes from printing, which click and rich do."""
    last = error.__traceback__
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    where = str(last.tb_frame.f_globals.get("__name__")) if last is not None else ""
    return where.partition(".")[0] in _PRINTERS


def _silence_stdout() -> None:
    """Point stdout nowhere, so that closing it says nothing either."""
    with suppress(OSError, AttributeError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _where(error: BaseException) -> str:
    """The kind of an error and the line that raised it, without its text: that may hold what a person wrote."""
    last = error.__traceback__
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    name = type(error).__name__
    return f"{name} at {os.path.basename(last.tb_frame.f_code.co_filename)}:{last.tb_lineno}" if last else name


def _shortened(message: str) -> str:
    """A message about the arguments, which may repeat them, by its two ends."""
    half = _LONGEST // 2
    return message if len(message) <= _LONGEST else f"{message[:half].rstrip()} … {message[-half:].lstrip()}"


def _say(message: str) -> None:
    click.echo(f"policyengine: {' '.join(message.splitlines())}", err=True)
