"""Bounds that keep a hostile expression or input from costing more than it may.

They are properties of the evaluator, not of any policy: a policy that meets one of them is wrong.
"""

from __future__ import annotations

MAX_EXPRESSION_CHARS = 32_768
"""Length of an expression's text, characters."""

MAX_DEPTH = 96
"""Nesting of an expression: brackets, calls, selections, operators of mixed precedence."""

MAX_NODES = 10_000
"""Parts of one expression."""

RUN_BUDGET = 500_000
"""Steps that one evaluation may take: parts of the expression evaluated, and the sizes of what operators walk over."""

MAX_STATIC_COST = RUN_BUDGET
"""Worst-case steps of one decision, as far as lists declare `maxItems`; more is refused at load."""

MAX_STRING_CHARS = 4_000_000
"""Length of a string or bytes value that an expression may build."""

MAX_LIST_ITEMS = 100_000
"""Length of a list or map that an expression may build."""

MAX_REGEX_CHARS = 4_096
"""Length of a regular expression's text."""

MAX_REGEX_MEMORY = 2 << 20
"""Memory of one compiled regular expression, bytes."""

MAX_WORDS_MEMORY = 32 << 20
"""Memory of the matcher of a policy's word lists, bytes."""

MAX_VALUE_DEPTH = 64
"""Nesting of a value that is compared, converted or hashed."""

MIN_INT, MAX_INT = -(2**63), 2**63 - 1
MAX_UINT = 2**64 - 1
