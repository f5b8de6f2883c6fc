"""What can go wrong with an expression: an error while evaluating, an issue found before."""

from __future__ import annotations

from dataclasses import dataclass

from policyengine.source.errors import PolicyEngineError
from policyengine.source.finding import Severity


class CelError(PolicyEngineError):
    """An expression could not be evaluated. The message never holds a value of the input."""


class Failure(str):
    """What a trace holds of a part of an expression that failed: the error's text, and no text that the part gave."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Issue:
    """One problem in an expression.

    `offset` and `length` count characters (code points) of the expression's text. `code` names the kind of problem
    (`syntax`, `unknown-name`, `unknown-field`, `operands`, ...).
    """

    code: str
    message: str
    offset: int
    length: int
    hint: str | None = None
    severity: Severity = Severity.ERROR


class CelSyntaxError(CelError):
    """The text is not an expression. `issue` says what and where."""

    def __init__(self, issue: Issue) -> None:
        self.issue = issue
        super().__init__(f"at character {issue.offset + 1}: {issue.message}")


def no_overload(what: str) -> CelError:
    """The error of applying `what` to values of types that it does not take."""
    return CelError(f"no such overload: {what}")
