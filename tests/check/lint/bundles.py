"""Small bundles for tests of lint."""

HEAD = "apiVersion: policyengine/v1\n"

BREAKER = (
    HEAD
    + """\
kind: Breaker
metadata: {name: breaker, version: 1.0.0, owner: team}
spec:
  constants: {max_consecutive_failures: 3}
  rules:
    - {id: open, when: consecutive_failures >= max_consecutive_failures, outcome: {breaker: open}}
  default: {outcome: {breaker: closed}}
"""
)

MANIFEST = HEAD + "kind: Bundle\nmetadata: {name: example, version: 1.0.0, owner: team}\nspec: {}\n"

WORDS = (
    HEAD
    + """\
kind: WordLists
metadata: {name: words, version: 1.0.0, owner: team}
spec:
  words:
    action:
      latin:
        # the verbs
        [
          fix, fix it, add, Add, add,
          change
        ]
---
"""
    + HEAD
    + """\
kind: PromptClass
metadata: {name: prompt-class, version: 1.0.0, owner: team}
spec:
  rules:
    - {id: action, when: prompt.mentions(words.action), outcome: {prompt_class: action}}
  default: {outcome: {prompt_class: query}}
  unless_set: {more_detail: "false"}
"""
)


def closed_breaker(comment=""):
    """A breaker with a limit of 0, which `breaker-limit` finds on line 5."""
    return BREAKER.replace("failures: 3}", f"failures: 0}}{comment}")
