"""An allowlist that names a tool which nothing is called."""

from __future__ import annotations

from collections.abc import Iterator

from policyengine.check.lint.context import Context, Tools
from policyengine.check.lint.rule import Hit, Rule
from policyengine.source.nearest import did_you_mean


def check(context: Context) -> Iterator[Hit]:
    """Constants called allowlist, in any document, against the tool catalogue."""
    tools = context.tools
    if tools is None:
        return
    for document in context.documents:
        for name, listed in document.data["spec"].get("constants", {}).items():
            if "allowlist" not in name or not isinstance(listed, list):
                continue
            for index, tool in enumerate(listed):
                if isinstance(tool, str) and (wrong := _wrong(tool, "mcp" in name.split("_"), tools)):
                    yield Hit(document.place(("spec", "constants", name, index)), *wrong)


def _wrong(tool: str, mcp: bool, tools: Tools) -> tuple[str, str] | None:
    prefix = tools.mcp_prefix
    if prefix and tool.startswith(prefix):
        return None
    listed = tool in tools.of_name or tool in tools.ids
    if mcp and prefix:
        what = "a tool of the catalogue, no MCP tool" if listed else "no MCP tool"
        return f"`{tool}` is {what}, so that this entry never counts", f"names of MCP tools begin with {prefix}"
    if listed or tool in tools.kinds:
        return None
    known = [*tools.ids, *tools.of_name]
    return f"there is no tool `{tool}` in the catalogue", did_you_mean(tool, known) or "add it to the tool catalogue"


RULE = Rule(
    code="allowlist-unknown-tool",
    title="An allowlist names an unknown tool",
    why="""\
An entry that no tool is called by allows nothing: the list says less than its reader thinks. Often it is a typo, or
the name that one agent uses where the catalogue's name is wanted.
""",
    bad="""\
mcp_allowlist: [search_docs]
""",
    good="""\
mcp_allowlist: [mcp__docs__search_docs]
""",
    check=check,
)
