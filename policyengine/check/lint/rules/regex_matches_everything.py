"""A regular expression that every text matches."""

from __future__ import annotations

import re
from collections.abc import Iterator

from policyengine.cel import CelError
from policyengine.cel.errors import CelSyntaxError
from policyengine.cel.parser import parse
from policyengine.cel.regex import matches
from policyengine.cel.syntax import Call, Ident, Literal, walk
from policyengine.check.lint.context import Context
from policyengine.check.lint.rule import Hit, Rule
from policyengine.check.lint.tables import expressions
from policyengine.kinds.policy import Policy


def check(context: Context) -> Iterator[Hit]:
    """`matches` in expressions, and the patterns of tool catalogues."""
    for policy in context.policies.values():
        yield from _in_expressions(policy)
    for document in context.of_kind("ToolCatalogue"):
        spec = document.data["spec"]
        paths: list[tuple[str | int, ...]] = [("spec", "compound")] if "compound" in spec else []
        paths += [("spec", "commands", index, "matches") for index in range(len(spec.get("commands", ())))]
        for path in paths:
            pattern = document.value(path)
            if matches_everything(pattern):
                yield Hit(document.place(path), f"{pattern!r} matches every command", "say what it has to hold")


def _in_expressions(policy: Policy) -> Iterator[Hit]:
    for expression in expressions(policy):
        if "matches" not in expression.text:
            continue
        try:
            tree = parse(expression.text)
        except CelSyntaxError:
            continue
        for node in walk(tree):
            if not isinstance(node, Call) or node.name != "matches" or not node.args:
                continue
            argument = node.args[-1]
            pattern = argument.value if isinstance(argument, Literal) else None
            if isinstance(argument, Ident):
                pattern = policy.table.constants.get(argument.name)
            if isinstance(pattern, str) and matches_everything(pattern):
                offset = argument.offset - expression.prefix
                place = policy.document.place_in(expression.path, offset, argument.end - argument.offset)
                yield Hit(place, f"{pattern!r} matches every text", "say what the text has to hold")


# What asserts something about a place in the text; a pattern without it that matches nothing at all matches anywhere.
_ASSERTS = re.compile(r"\\[bBAzZ]|\^|\$")
_ANY = re.compile(r"(?:\(\?[sm]+\))?(?:\.|\[\\s\\S\]|\[\\S\\s\]|\[\\w\\W\]|\[\\d\\D\])[*+]\??")


def matches_everything(pattern: str) -> bool:
    """Whether every text (or every one of a single line) matches. True only where that is certain."""
    core = pattern
    while True:
        inner = re.fullmatch(r"(?:\^|\\A)?(?:\(\?:(.*)\)|\((?!\?)(.*)\)|(.*?))(?:\$|\\z)?", core, re.DOTALL)
        shorter = next((part for part in inner.groups() if part is not None), core) if inner else core
        if shorter == core or not _balanced(shorter):
            break
        core = shorter
    if _ANY.fullmatch(core):
        return True
    free = pattern.removeprefix("^").removeprefix("\\A")
    if _ASSERTS.search(free):
        return False
    try:
        return matches("", pattern)
    except CelError:
        return False


def _balanced(pattern: str) -> bool:
    """Whether brackets close in order, so that taking off an outer pair took off one pair."""
    depth = 0
    for char in re.sub(r"\\.|\[[^\]]*\]", "", pattern, flags=re.DOTALL):
        depth += (char == "(") - (char == ")")
        if depth < 0:
            return False
    return depth == 0


RULE = Rule(
    code="regex-matches-everything",
    title="A regular expression matches everything",
    why="""\
A pattern such as `.*`, or one that may match nothing at all, is found in every text. The condition around it is then
always true, which is not how it reads.
""",
    bad="""\
when: prompt.matches("(?:deploy)?")
""",
    good="""\
when: prompt.matches("deploy")
""",
    check=check,
)
