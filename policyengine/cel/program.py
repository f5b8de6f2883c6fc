"""One expression, checked and ready to run."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, TypeVar

from policyengine.cel.checker import check
from policyengine.cel.environment import Environment
from policyengine.cel.errors import CelError, CelSyntaxError, Failure, Issue
from policyengine.cel.interpreter import Interpreter
from policyengine.cel.parser import parse
from policyengine.cel.resolve import resolve
from policyengine.cel.syntax import Node
from policyengine.cel.types import DYN, ERROR, Type
from policyengine.cel.values import from_python
from policyengine.source.finding import Severity

R = TypeVar("R")


def on_fresh_stack(work: Callable[[], R]) -> R:
    """Do something whose recursion is bounded, even where the caller has used up nearly all of the stack.

    A thread starts with an empty stack, so the process's recursion limit is never touched. Raises CelError when not
    even that is enough.
    """
    try:
        return work()
    except RecursionError:
        pass
    result: list[R] = []
    failure: list[BaseException] = []

    def run() -> None:
        try:
            result.append(work())
        except BaseException as error:
            failure.append(error)

    try:
        thread = threading.Thread(target=run, name="policyengine-cel", daemon=True)
        thread.start()
    except RuntimeError:  # no stack left for that either, no thread to be had, the process is ending
        raise CelError("the stack is used up, and no thread can be started") from None
    thread.join()
    if failure:
        if isinstance(failure[0], RecursionError):
            raise CelError("the expression or a value is nested too deeply")
        raise failure[0]
    return result[0]


class Program:
    """An expression that was read and checked.

    `type` is what it gives (`error` when it cannot be read), `issues` what is wrong with it. A program with issues can
    still be evaluated as far as it goes; one that could not be read raises CelError. `holding` is a condition over the
    same environment that is known to hold wherever this one is evaluated: a field that it asks for is there.
    """

    def __init__(self, text: str, environment: Environment, holding: Program | None = None) -> None:
        self._holding = holding.node if holding is not None else None
        self.text = text
        self.environment = environment
        self.node: Node | None = None
        self.type: Type = ERROR
        self.issues: tuple[Issue, ...] = ()
        try:
            on_fresh_stack(self._read)
        except CelSyntaxError as error:
            self.issues = (error.issue,)
        except CelError as error:
            self.issues = (Issue("limit", str(error), 0, max(len(text), 1)),)

    def _read(self) -> None:
        node = resolve(parse(self.text), self.environment)
        self.issues = tuple(check(node, self.environment, self._holding))
        self.node = node
        self.type = node.type

    @property
    def ok(self) -> bool:
        """Whether there is no issue of severity error."""
        return not any(issue.severity is Severity.ERROR for issue in self.issues)

    def evaluate(self, bindings: Mapping[str, Any], extra: Mapping[str, Any] | None = None) -> Any:
        """The value. `extra` holds values by name that are not part of the input. Raises CelError."""
        node = self._node()
        return on_fresh_stack(lambda: Interpreter(self.environment, bindings, extra).run(node))

    def observe(self, bindings: Mapping[str, Any], extra: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """What the leaves saw, by their source text; for one that failed, its error's text. Raises nothing."""
        seen: dict[str, Any] = {}
        if self.node is None:
            return seen

        def note(node: Node, value: Any) -> None:
            seen[self.text[node.offset : node.end]] = Failure(value) if isinstance(value, CelError) else value

        node = self.node
        with suppress(CelError):  # the leaf that failed has told so
            on_fresh_stack(lambda: Interpreter(self.environment, bindings, extra, note).run(node))
        return seen

    def _node(self) -> Node:
        if self.node is None:
            raise CelError(f"the expression cannot be read: {self.issues[0].message}")
        return self.node


def compile_expression(text: str, environment: Environment | None = None) -> Program:
    """Read and check an expression. What is wrong with it is in the program's `issues`; nothing is raised."""
    return Program(text, environment or Environment())


def evaluate(expression: str, bindings: Mapping[str, Any] | None = None, *, container: str = "") -> Any:
    """Evaluate an expression over plain Python values.

    Types are looked at as values come by, as CEL does without declarations. The result is plain too, with UInt,
    Timestamp and Duration (all in `policyengine.cel`) for what Python has no type for. A name may hold dots. Raises
    CelError.
    """
    plain = on_fresh_stack(lambda: {name: from_python(value) for name, value in (bindings or {}).items()})
    program = Program(expression, Environment(dict.fromkeys(plain, DYN), container=container))
    return program.evaluate(plain)
