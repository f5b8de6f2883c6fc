"""Declarative policy for LLM agent loops.

    import policyengine

    bundle = policyengine.load("policies")
    decision = bundle.policy("routing").decide({...}, trace=True)

Public is what `__all__` names here and in `policyengine.runtime` (the adapter's parts), `policyengine.log` (decision
records) and `policyengine.cel` (expressions); everything else is internal. docs/python.md describes all of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from policyengine.source.lazy import lazy

if TYPE_CHECKING:
    from policyengine.kinds.bundle import Bundle as Bundle
    from policyengine.kinds.bundle import load as load
    from policyengine.kinds.policy import Policy as Policy
    from policyengine.log.writer import LogError as LogError
    from policyengine.rules.decision import Decision as Decision
    from policyengine.rules.decision import EvaluationError as EvaluationError
    from policyengine.rules.decision import RuleStatus as RuleStatus
    from policyengine.rules.decision import Step as Step
    from policyengine.runtime.adapter import Adapter as Adapter
    from policyengine.runtime.advisor import Advisor as Advisor
    from policyengine.runtime.errors import NothingToRetryError as NothingToRetryError
    from policyengine.runtime.errors import SessionBusyError as SessionBusyError
    from policyengine.runtime.provider import ProviderError as ProviderError
    from policyengine.runtime.providers.opening import open_provider as open_provider
    from policyengine.runtime.session import Session as Session
    from policyengine.runtime.sync import SyncSession as SyncSession
    from policyengine.runtime.tools import Tool as Tool
    from policyengine.runtime.tools import ToolOutput as ToolOutput
    from policyengine.source.errors import BundleError as BundleError
    from policyengine.source.errors import InputError as InputError
    from policyengine.source.errors import MissingExtraError as MissingExtraError
    from policyengine.source.errors import PolicyEngineError as PolicyEngineError
    from policyengine.source.finding import Finding as Finding
    from policyengine.source.finding import Severity as Severity
    from policyengine.source.version import __version__ as __version__

_HOMES = {
    "Adapter": "policyengine.runtime.adapter",
    "Advisor": "policyengine.runtime.advisor",
    "Bundle": "policyengine.kinds.bundle",
    "BundleError": "policyengine.source.errors",
    "Decision": "policyengine.rules.decision",
    "EvaluationError": "policyengine.rules.decision",
    "Finding": "policyengine.source.finding",
    "InputError": "policyengine.source.errors",
    "LogError": "policyengine.log.writer",
    "MissingExtraError": "policyengine.source.errors",
    "NothingToRetryError": "policyengine.runtime.errors",
    "Policy": "policyengine.kinds.policy",
    "PolicyEngineError": "policyengine.source.errors",
    "ProviderError": "policyengine.runtime.provider",
    "RuleStatus": "policyengine.rules.decision",
    "Session": "policyengine.runtime.session",
    "SessionBusyError": "policyengine.runtime.errors",
    "Severity": "policyengine.source.finding",
    "Step": "policyengine.rules.decision",
    "SyncSession": "policyengine.runtime.sync",
    "Tool": "policyengine.runtime.tools",
    "ToolOutput": "policyengine.runtime.tools",
    "__version__": "policyengine.source.version",
    "load": "policyengine.kinds.bundle",
    "open_provider": "policyengine.runtime.providers.opening",
}
__all__ = list(_HOMES)

__getattr__, __dir__ = lazy(__name__, _HOMES)
