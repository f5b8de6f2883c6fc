"""Numbers on the command line: what is no such number is answered by what was expected."""

from __future__ import annotations

from typing import Any, NoReturn

import click


def say_what_was_expected(command: click.Command) -> None:
    """Let every number that a command and the commands below it take say what was expected where it is none."""
    for param in command.params:
        if type(param.type) is click.IntRange:
            param.type = _Whole(**_bounds(param.type))
        elif type(param.type) is click.FloatRange:
            param.type = _Real(**_bounds(param.type))
    if isinstance(command, click.Group):
        for inner in command.commands.values():
            say_what_was_expected(inner)


class _Whole(click.IntRange):
    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter:
            _refuse(self, "a whole number", value, param, ctx)


class _Real(click.FloatRange):
    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter:
            _refuse(self, "a number", value, param, ctx)


_Range = click.IntRange | click.FloatRange


def _bounds(of: _Range) -> dict[str, Any]:
    return {name: getattr(of, name) for name in ("min", "max", "min_open", "max_open", "clamp")}


def _refuse(of: _Range, what: str, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> NoReturn:
    of.fail(f"expected {what}{_range(of)}, not {value!r}.", param, ctx)


def _range(of: _Range) -> str:
    """The bounds in words."""
    low, high = of.min, of.max
    if low is not None and high is not None and not of.min_open and not of.max_open:
        return f" from {low} to {high}"
    words = []
    if low is not None:
        words.append(f"more than {low}" if of.min_open else f"{low} or more")
    if high is not None:
        words.append(f"less than {high}" if of.max_open else f"{high} or less")
    return f", {' and '.join(words)}" if words else ""
