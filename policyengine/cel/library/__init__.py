"""The functions of expressions, one module a family; `registry` finds them by name."""
