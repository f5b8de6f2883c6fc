"""Declarative policy for LLM agent loops.

    import policyengine

    bundle = policyengine.load("policies")
    decision = bundle.policy("routing").decide({...}, trace=True)

What is listed in `__all__` is public; everything else in the package is internal. Names are imported when first used,
so that `import policyengine` costs nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from policyengine.kinds.bundle import Bundle, load
    from policyengine.kinds.policy import Policy
    from policyengine.rules.decision import Decision
    from policyengine.runtime.adapter import Adapter
    from policyengine.runtime.session import Session
    from policyengine.runtime.sync import SyncSession
    from policyengine.runtime.tools import Tool, ToolOutput
    from policyengine.source.errors import BundleError, InputError, PolicyEngineError

__all__ = [
    "Adapter", "Bundle", "BundleError", "Decision", "InputError", "Policy", "PolicyEngineError", "Session",
    "SyncSession", "Tool", "ToolOutput", "load",
]  # fmt: skip

_HOMES = {
    "Adapter": "policyengine.runtime.adapter",
    "Bundle": "policyengine.kinds.bundle",
    "BundleError": "policyengine.source.errors",
    "Decision": "policyengine.rules.decision",
    "InputError": "policyengine.source.errors",
    "Policy": "policyengine.kinds.policy",
    "PolicyEngineError": "policyengine.source.errors",
    "Session": "policyengine.runtime.session",
    "SyncSession": "policyengine.runtime.sync",
    "Tool": "policyengine.runtime.tools",
    "ToolOutput": "policyengine.runtime.tools",
    "load": "policyengine.kinds.bundle",
}


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'policyengine' has no attribute {name!r}")
    return getattr(importlib.import_module(home), name)


def __dir__() -> list[str]:
    return sorted(__all__)
