"""What a shell completes: names of the bundle and of this program, and files."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

if TYPE_CHECKING:
    from policyengine.kinds.bundle import Bundle

_FILES = re.compile(r"\b(FILE|DIR|SESSION|PATH|OLD|NEW)\b")
"""What an argument or option that takes files calls them."""


def complete(command: click.Command, name: str) -> None:
    """Let a shell complete what the command called `name` and the commands below it take."""
    for param in command.params:
        if param.type is not click.STRING:
            continue
        named = _NAMED.get((name, str(param.name))) or _NAMED.get(("", str(param.name)))
        if named is not None:
            param.type = _Name(named)
        elif _FILES.search(param.make_metavar(click.Context(command))):
            # Checks nothing, as it is asked to; a shell then offers files.
            param.type = click.Path()
    if isinstance(command, click.Group):
        for called, inner in command.commands.items():
            complete(inner, called)


class _Name(click.types.StringParamType):
    """Text of which some values are known."""

    def __init__(self, known: Callable[[click.Context], Iterable[str]]) -> None:
        self._known = known

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """The known values that begin so; none where they cannot be read: a shell shows no errors."""
        from policyengine.source.errors import PolicyEngineError

        try:
            return [CompletionItem(name) for name in sorted(set(self._known(ctx))) if name.startswith(incomplete)]
        except (PolicyEngineError, OSError):
            return []


def _bundle(ctx: click.Context) -> Bundle:
    from policyengine.commands.options import bundle_folder
    from policyengine.kinds.bundle import load

    return load(bundle_folder(ctx.params.get("bundle") or ctx.params.get("path")))


def _policies(ctx: click.Context) -> Iterable[str]:
    bundle = _bundle(ctx)
    return [*bundle.policies, *bundle.inherited]


def _ladders(ctx: click.Context) -> Iterable[str]:
    return [policy.name for policy in _bundle(ctx).of_kind("Ladder")]


def _gates(ctx: click.Context) -> Iterable[str]:
    from policyengine.log.gates import KINDS

    bundle = _bundle(ctx)
    return [policy.name for kind in KINDS for policy in bundle.of_kind(kind)]


def _models(ctx: click.Context) -> Iterable[str]:
    models = _bundle(ctx).serving("ModelCatalogue").spec["models"]
    return [name for model in models for name in (model["id"], *model.get("aliases", ()))]


def _rules(ctx: click.Context) -> Iterable[str]:
    from policyengine.log.known import known_names

    return known_names(_bundle(ctx))["rule"]


def _vetoes(ctx: click.Context) -> Iterable[str]:
    from policyengine.log.known import known_names

    return known_names(_bundle(ctx))["veto_reason"]


def _kinds(_: click.Context) -> Iterable[str]:
    from policyengine.kinds.registry import KINDS

    return KINDS


def _codes(_: click.Context) -> Iterable[str]:
    from policyengine.check.lint.registry import BY_CODE

    return BY_CODE


_NAMED: Mapping[tuple[str, str], Callable[[click.Context], Iterable[str]]] = {
    ("eval", "policy"): _policies,
    ("verify", "names"): _policies,
    ("show", "policy"): _policies,
    ("show", "kind"): _kinds,
    ("show", "rule"): _rules,
    ("show", "veto"): _vetoes,
    ("init", "only"): _kinds,
    ("explain", "code"): _codes,
    ("gate", "name"): _gates,
    ("baseline", "gate"): _gates,
    ("context", "model"): _models,
    ("run", "primary"): _models,
    ("run", "fast"): _models,
    ("", "ladder"): _ladders,
    ("", "primary_model"): _models,
    ("", "fast_model"): _models,
}
"""By the names of a command (any, where empty) and of its parameter."""
