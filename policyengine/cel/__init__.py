"""Expressions: the Common Expression Language, checked before it runs and compiled to Python.

`evaluate` runs one expression over plain values; `compile_expression` reads and checks one against an `Environment`.
"""

from __future__ import annotations

from policyengine.cel.environment import Environment
from policyengine.cel.errors import CelError, CelSyntaxError, Issue
from policyengine.cel.functions import WordMatcher, estimate_tokens, fingerprint, mentions
from policyengine.cel.program import Program, compile_expression, evaluate
from policyengine.cel.types import Type, from_json_schema
from policyengine.cel.values import CelType, Duration, Optional, Timestamp, UInt

__all__ = [
    "CelError",
    "CelSyntaxError",
    "CelType",
    "Duration",
    "Environment",
    "Issue",
    "Optional",
    "Program",
    "Timestamp",
    "Type",
    "UInt",
    "WordMatcher",
    "compile_expression",
    "estimate_tokens",
    "evaluate",
    "fingerprint",
    "from_json_schema",
    "mentions",
]
