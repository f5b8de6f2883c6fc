"""Declarative policy for LLM agent loops.

    bundle = policyengine.load("policies")
    decision = bundle.policy("routing").decide({...}, trace=True)

Everything else in the package is internal.
"""

from policyengine.kinds.bundle import Bundle, load
from policyengine.kinds.policy import Policy
from policyengine.rules.decision import Decision
from policyengine.source.errors import BundleError, InputError, PolicyEngineError

__all__ = ["Bundle", "BundleError", "Decision", "InputError", "Policy", "PolicyEngineError", "load"]
