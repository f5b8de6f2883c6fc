"""The text of a summary: what goes into the history in place of what was cut."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable

from policyengine.compression.records import FileRecord
from policyengine.compression.sections import Layout, Section
from policyengine.compression.summary import Item, Standing, fit, one_line, size


def render(layout: Layout, standing: Standing) -> str:
    """The whole text. Every line of an item begins with a dash: no item can look like a heading or a message."""
    texts = layout.texts
    header = layout.fill(
        "header_extractive" if standing.method == "extractive" else "header",
        cycle=standing.cycle,
        method=standing.method,
    )
    parts = [header]
    if standing.task:
        parts.append(f"## {texts['task']}\n{_quoted(standing.task)}")
    for section in layout.sections:
        parts.append(f"## {section.title}\n" + "\n".join(_section(layout, standing, section)))
    root = _root(standing)
    read_only = [_below(record.path, root) for record in _latest(standing.index.read_only)]
    limit = layout.limits["read_only_files"]
    if read_only and limit:
        more = [layout.fill("more_files", count=len(read_only) - limit)] if len(read_only) > limit else []
        parts.append(f"## {texts['read_only']}\n" + ", ".join([*read_only[:limit], *more]))
    commands = sorted(standing.index.commands.values(), key=lambda row: -row.last)[: layout.limits["commands"]]
    if commands:
        mark, limit = texts["cut"], layout.limits["item_bytes"] // 4
        lines = [
            f"- `{fit(one_line(row.text), limit, mark)}`" + (f" ({texts['failed']})" if row.failed else "")
            for row in commands
        ]
        parts.append(f"## {texts['commands']}\n" + "\n".join(lines))
    return "\n\n".join(parts) + "\n"


def render_opaque(layout: Layout, standing: Standing) -> str:
    """The text of an opaque summary: the task, and what cannot be read."""
    parts = [layout.fill("header_opaque", cycle=standing.cycle)]
    if standing.task:
        parts.append(f"## {layout.texts['task']}\n{_quoted(standing.task)}")
    return "\n\n".join([*parts, standing.prose.strip()]) + "\n"


def render_regenerative(layout: Layout, standing: Standing) -> str:
    """The text of a summary that was rewritten as a whole."""
    parts = [layout.fill("header", cycle=standing.cycle, method=standing.method)]
    if standing.task:
        parts.append(f"## {layout.texts['task']}\n{_quoted(standing.task)}")
    return "\n\n".join([*parts, standing.prose.strip()]) + "\n"


def render_any(layout: Layout, standing: Standing) -> str:
    """The text of a summary, whatever made it."""
    if standing.method == "opaque":
        return render_opaque(layout, standing)
    if standing.method == "regenerative":
        return render_regenerative(layout, standing)
    return render(layout, standing)


def _section(layout: Layout, standing: Standing, section: Section) -> list[str]:
    items = standing.sections.get(section.id, ())
    if section.identity == "path":
        lines = _files(layout, standing, items)
    else:
        lines = [f"- {_item(item)}" for item in items]
    if left := standing.dropped.get(section.id, 0):
        lines.append(layout.fill("dropped", count=left))
    return lines or [layout.texts["unfilled"]]


def _item(item: Item) -> str:
    notes = "; ".join(f"{one_line(note.text)} [{note.cycle}]" for note in item.notes)
    return f"{one_line(item.label)}: {notes}" if item.label else notes


def _files(layout: Layout, standing: Standing, items: Iterable[Item]) -> list[str]:
    """Every changed file from the index, then what room allows of its symbols, then the items' notes.

    The paths come first in the budget, the files changed last before the others.
    """
    changed = _latest(standing.index.changed)
    if not changed:
        return []
    root = _root(standing)
    room = layout.limits["index_bytes"] - size(root)
    lines: dict[str, str] = {}
    for record in changed:
        line = f"- {_below(record.path, root)} ({record.status}"
        if size(line) + 2 > room:
            break
        room -= size(line) + 2
        lines[record.path] = line
    for record in changed:
        if record.path not in lines or not record.symbols:
            continue
        symbols, left = _symbols(record, room)
        room = left
        lines[record.path] += symbols
    notes = {item.identity: item for item in items}
    found = [layout.fill("root", root=root)] if root else []
    for record in sorted(changed, key=lambda row: (row.first, row.path)):
        if record.path in lines:
            item = notes.get(record.path)
            about = f": {'; '.join(f'{one_line(n.text)} [{n.cycle}]' for n in item.notes)}" if item else ""
            found.append(f"{lines[record.path]}){about}")
    if len(lines) < len(changed):
        found.append(layout.fill("more_files", count=len(changed) - len(lines)))
    return found


def _symbols(record: FileRecord, room: int) -> tuple[str, int]:
    text = "; "
    for index, symbol in enumerate(record.symbols):
        piece = (", " if index else "") + one_line(symbol)
        if size(text) + size(piece) + 4 > room:
            text += ", …" if index else "…"
            break
        text += piece
    return text, room - size(text)


def _latest(records: Iterable[FileRecord]) -> list[FileRecord]:
    return sorted(records, key=lambda row: (-(row.last_change or row.last_read or 0), row.path))


def _root(standing: Standing) -> str:
    """The folder that all changed files with a full path share; empty where that is no saving."""
    paths = [record.path for record in standing.index.changed if record.path.startswith("/")]
    if len(paths) < 2:
        return ""
    common = posixpath.commonpath([posixpath.dirname(path) for path in paths])
    return "" if common == "/" else common


def _below(path: str, root: str) -> str:
    inside = path.removeprefix(root + "/") if root else path
    return one_line(inside)


def _quoted(text: str) -> str:
    """A text that no line of it can be taken for a heading or an item of the summary."""
    return "\n".join(f"> {line}" for line in text.strip().splitlines())
