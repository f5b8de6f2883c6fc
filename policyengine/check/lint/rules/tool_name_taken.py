"""A tool name or command that an earlier row of the catalogue has taken."""

from __future__ import annotations

from collections.abc import Iterator

from policyengine.check.lint.context import Context
from policyengine.check.lint.edits import remove_item
from policyengine.check.lint.rule import Hit, Rule
from policyengine.source.finding import Fix


def check(context: Context) -> Iterator[Hit]:
    """The names in each tool catalogue."""
    for document in context.of_kind("ToolCatalogue"):
        taken: dict[str, str] = {}
        for row, tool in enumerate(document.data["spec"]["tools"]):
            for index, name in enumerate(tool["names"]):
                path = ("spec", "tools", row, "names", index)
                if name in taken:
                    edit = remove_item(document, path)
                    fix = Fix(f"remove `{name}` here", (edit,), safe=True) if edit else None
                    message = f"the name `{name}` already belongs to `{taken[name]}`, which is looked at first"
                    yield Hit(document.place(path), message, "list every name once", fix)
                taken.setdefault(name, tool["tool"])


RULE = Rule(
    code="tool-name-taken",
    title="A tool name is listed twice",
    why="""\
The first row of the catalogue that lists a name decides what the tool does. A second row with that name looks as if
it counted and does not.
""",
    bad="""\
tools:
  - {tool: read_file, kind: read, names: [Read, open]}
  - {tool: fetch, kind: fetch, names: [open]}
""",
    good="""\
tools:
  - {tool: read_file, kind: read, names: [Read]}
  - {tool: fetch, kind: fetch, names: [open]}
""",
    fixable=True,
    check=check,
)
