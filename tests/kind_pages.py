"""docs/kinds.md, made from the schemas and the built-in bundle: `python -m tests.kind_pages --write` writes it.

A test checks that it is current.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from policyengine.kinds.bundle import load
from policyengine.kinds.kind import Kind
from policyengine.kinds.registry import KINDS
from policyengine.source.errors import InputError
from policyengine.source.schema import load_schema
from tests.schema_tables import resolve, rows, table

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "kinds.md"
OWN_TABLE = "examples/policies/review.yaml"
"""The built-in bundle has no Table."""

SHARED = (
    "constants", "derived", "hit", "rules", "default", "unless_set", "state", "reason_field", "on_error", "properties",
)  # fmt: skip
"""Parts of a `spec` that docs/policies.md describes for all kinds."""

_SHOWN = 14
"""Lines of an example, about."""

_SCALARS = (">", ">-", "|", "|-")
"""How a line ends below which stands one text, in which a mark would be part of it."""

_HEAD = """\
# Policy kinds

Made from `schemas/` and `policies/` by `python -m tests.kind_pages --write`.

[policies.md](policies.md) is about what all kinds share: the head of a document, rules, outcomes, expressions, claims.
Here stands what each kind adds. A field that is not required may be left out; in a decision, required means always
there. In the path of a field `[]` stands for each item of a list, `*` for each name of a mapping, `a/b` for both of two
that are made alike. A measure is a metric, as [metrics.md](metrics.md) explains.

Each kind has a JSON Schema for its document, one for the input of its decisions and one for what it decides. An editor
that knows the YAML language server completes and checks a document that begins with
`# yaml-language-server: $schema=PATH`; `policyengine init` writes these lines.
"""


def page() -> str:
    """The whole page."""
    index = ["| kind | |", "|---|---|"]
    index += [f"| [{kind.name}](#{kind.name.lower()}) | {kind.title} |" for kind in KINDS.values()]
    return "\n".join([_HEAD, *index, "", *(line for kind in KINDS.values() for line in _kind(kind))])


def _kind(kind: Kind) -> Iterator[str]:
    schema = load_schema(kind.file)
    spec = schema["properties"]["spec"]
    shared = [name for name in SHARED if name in spec.get("properties", {})]
    yield f"## {kind.name}\n\n{kind.title}.{_about(kind)}\n"
    if shared:
        needed = [name for name in shared if name in spec.get("required", ())]
        more = f"; required: {_names(needed)}" if needed else ""
        yield f"[Shared parts](policies.md#spec): {_names(shared)}{more}.\n"
    if own := list(rows(spec, kind.file, leave=SHARED)):
        yield f"{table('`spec`', own)}\n"
    file, text = _document(kind)
    example = _example(text, [name for name in spec["properties"] if name not in SHARED])
    yield f"From `{file}`:\n\n```yaml\n{example}\n```\n"
    yield from _decides(kind, spec)
    if kind.on_error is not None:
        yield f"Conservative outcome: `{json.dumps(dict(kind.on_error), ensure_ascii=False)}`\n"


def _decides(kind: Kind, spec: Mapping[str, Any]) -> Iterator[str]:
    """What it looks at and what it decides."""
    for label, folder in (("input", "inputs"), ("decision", "decisions")):
        file = f"{folder}/{kind.file}"
        try:
            whole, home = resolve(load_schema(file), file)
        except InputError:
            continue
        as_written = [
            name for name, field in spec["properties"].items()
            if (fields := resolve(field, kind.file)[0].get("properties")) and fields == whole.get("properties")
        ]  # fmt: skip
        if as_written:
            yield f"It decides what `{as_written[0]}` holds.\n"
        elif listed := list(rows(whole, home)):
            yield f"{table(label, listed)}\n"
        elif label == "input":
            yield "It looks at no input.\n"


def _about(kind: Kind) -> str:
    if kind.several:
        return " A bundle may hold several, each asked by its name."
    return "" if kind.build is not None else " It decides nothing by itself."


def _names(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


# Examples


def _example(text: str, own: Sequence[str]) -> str:
    """The beginning of the `spec` of a document: what is the kind's own, else its first constants and rules."""
    lines = text.splitlines()
    start = next(number for number, line in enumerate(lines) if line == "spec:")
    blocks = {block[_first(block)].split(":")[0].strip(): block for block in _blocks(lines[start + 1 :])}
    wanted = [name for name in own if name in blocks] or [name for name in ("constants", "rules") if name in blocks]
    room = max(_SHOWN // max(len(wanted), 1), 2)
    shown = [line for name in blocks if name in wanted for line in _cut(blocks[name], room)]
    left = [name for name in blocks if name not in wanted]
    return "\n".join(["spec:", *shown, *([f"  # … {', '.join(left)}"] if left else [])])


def _document(kind: Kind) -> tuple[str, str]:
    """File and text of the document that serves for a kind in the built-in bundle."""
    if kind.name == "Table":
        return OWN_TABLE, (ROOT / OWN_TABLE).read_text(encoding="utf-8")
    bundle = load()
    found = [document for document in bundle.documents if document.data["kind"] == kind.name]
    serving = bundle.use.get(kind.name)
    document = next((d for d in found if d.data["metadata"]["name"] == serving), found[0])
    return f"policies/{Path(document.file).relative_to(bundle.path).as_posix()}", document.text


def _cut(block: list[str], room: int) -> list[str]:
    """The first lines of a block, cut between two of its children; what is missing is marked."""
    if len(block) <= room + 1 or block[_first(block)].endswith(_SCALARS):
        return block
    head = block[: _first(block) + 1]
    children = _blocks(block[len(head) :])
    kept = _cut(children[0], max(room - 1, 2))
    for child in children[1:]:
        if len(kept) + len(child) > room:
            break
        kept = [*kept, *child]
    missing = sum(map(len, children)) - len(kept) > 0
    indent = " " * _indent(children[0][_first(children[0])])
    cut_inside = any(line.strip() == "# …" for line in kept[-1:])
    return [*head, *kept, *([f"{indent}# …"] if missing and not cut_inside else [])]


def _blocks(lines: Sequence[str]) -> list[list[str]]:
    """Lines as blocks that begin at the outermost indent, each with the comments above it."""
    outer = min(_indent(line) for line in lines if line.strip())
    found: list[list[str]] = []
    comments: list[str] = []
    for line in lines:
        if _indent(line) == outer and line.strip().startswith("#"):
            comments.append(line)
        elif line.strip() and _indent(line) == outer:
            found.append([*comments, line])
            comments = []
        elif line.strip() and found:
            found[-1].append(line)
    return found


def _first(block: Sequence[str]) -> int:
    """Where the block's own first line is, below its comments."""
    return next(number for number, line in enumerate(block) if not line.strip().startswith("#"))


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


if __name__ == "__main__":
    if "--write" in sys.argv:
        PAGE.write_text(page(), encoding="utf-8")
    sys.exit(PAGE.read_text(encoding="utf-8") != page())
