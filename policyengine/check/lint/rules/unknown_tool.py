"""A directive for a tool that the catalogue does not have."""

from __future__ import annotations

from collections.abc import Iterator

from policyengine.check.lint.context import Context
from policyengine.check.lint.rule import Hit, Rule
from policyengine.source.nearest import did_you_mean


def check(context: Context) -> Iterator[Hit]:
    """The tool table of each directives policy against the tool catalogue."""
    tools = context.tools
    if tools is None:
        return
    for document in context.of_kind("Directives"):
        for row, group in enumerate(document.data["spec"]["tools"]):
            for index, tool in enumerate(group["tools"]):
                if tool in tools.ids:
                    continue
                place = document.place(("spec", "tools", row, "tools", index))
                if tool in tools.of_name:
                    message = f"`{tool}` is an agent's name for `{tools.of_name[tool]}`"
                    yield Hit(place, message, f"write `{tools.of_name[tool]}`, which stands for all its names")
                else:
                    hint = did_you_mean(tool, tools.ids) or "add it to the tool catalogue"
                    yield Hit(place, f"there is no tool `{tool}` in the catalogue", hint)


RULE = Rule(
    code="unknown-tool",
    title="A directive names an unknown tool",
    why="""\
Directives name tools as the tool catalogue does, whatever an agent calls them. A row for a tool that the catalogue
does not have decides nothing.
""",
    bad="""\
tools:
  - {tools: [Read], skip_llm_round: "true", result_is_terminal: "true"}
""",
    good="""\
tools:
  - {tools: [read_file], skip_llm_round: "true", result_is_terminal: "true"}
""",
    check=check,
)
