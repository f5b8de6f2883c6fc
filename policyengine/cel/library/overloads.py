"""How a function is described: overloads with types, so that the checker and the evaluator read the same list."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from policyengine.cel.types import Type


@dataclass(frozen=True, slots=True)
class Overload:
    """One signature of a function. A method's first parameter is its receiver."""

    name: str
    params: tuple[Type, ...]
    result: Type
    run: Callable[..., Any]
    method: bool = False

    def takes(self, kinds: tuple[str, ...]) -> bool:
        """Whether values of these kinds can be passed."""
        for param, kind in zip(self.params, kinds, strict=True):
            wanted = param.kind
            if wanted == kind or wanted in ("dyn", "var"):
                continue
            if wanted == "abstract" and param.name == kind:
                continue
            if wanted == "null" and kind == "null_type":
                continue
            return False
        return True


def function(name: str, params: tuple[Type, ...], result: Type, run: Callable[..., Any]) -> Overload:
    """A function called as `name(a, b)`."""
    return Overload(name, params, result, run)


def method(name: str, params: tuple[Type, ...], result: Type, run: Callable[..., Any]) -> Overload:
    """A function called as `a.name(b)`; `params` starts with the receiver."""
    return Overload(name, params, result, run, method=True)
