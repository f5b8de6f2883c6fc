"""The core: every policy is a table of rules over a typed input; deciding gives an outcome and, on request, a trace."""
