"""Two sides, document by document: what changed in words, and what it does."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policyengine.check.diff import ladders
from policyengine.check.diff.model import Change, Diff, Effect, PolicyDiff, Quoted
from policyengine.check.diff.sources import Broken, Side
from policyengine.check.diff.tables import TableDiff, comparable
from policyengine.check.diff.words import changes, same
from policyengine.check.proofs.cells import UndecidedError
from policyengine.check.proofs.reading import UnreadableError
from policyengine.kinds.bundle import BUILT_IN, TESTS
from policyengine.kinds.policy import Policy
from policyengine.source.counts import counted
from policyengine.source.document import Document
from policyengine.source.errors import MissingExtraError

TIMEOUT_MS = 10_000

_ALSO_WORDS = "the word lists it uses changed"


def compare(old: Side, new: Side, timeout_ms: int = TIMEOUT_MS) -> Diff:
    """Everything that differs. Two single files of one kind are compared whatever they are called."""
    missing: dict[str, list[str]] = {}
    found: list[PolicyDiff] = []
    unchanged = 0
    for before, after in _pairs(old, new):
        one = _document(old, new, before, after, timeout_ms, missing)
        if one is None:
            unchanged += 1
        else:
            found.append(one)
    found += (_incomparable(one, _documents(new).get(key)) for key, one in old.broken.items())
    use = () if old.single or new.single else (*_extending(old, new), *_serving(old, new))
    notes = tuple(f"{why} ({', '.join(names)})" for why, names in missing.items())
    return Diff(old.label, new.label, tuple(found), tuple(use), unchanged, old.wrong, notes)


def _pairs(old: Side, new: Side) -> Iterator[tuple[Document | None, Document | None]]:
    before, after = _documents(old), _documents(new)
    if old.single and new.single and len(before) == len(after) == 1 and not old.broken:
        yield next(iter(before.values())), next(iter(after.values()))
        return
    for key in dict.fromkeys((*after, *before)):
        if key not in old.broken:
            yield before.get(key), after.get(key)


def _incomparable(old: Broken, after: Document | None) -> PolicyDiff:
    """A document whose old form cannot be used: what changed in words, where the two are alike enough to tell."""
    data = old.document.data
    name, kind = data["metadata"]["name"], data["kind"]
    if after is None:
        found: tuple[Change, ...] = (Change("removed", (f"{kind} ", Quoted(name), " removed")),)
    else:
        found = changes(data, after.data) if _alike(data, after.data) else ()
    return PolicyDiff(name, kind, found, Effect.INCOMPARABLE, why=old.why)


def _alike(old: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    """Whether what both documents hold under the same keys is of the same type."""
    one, two = old.get("spec"), new.get("spec")
    if not isinstance(one, dict) or not isinstance(two, dict):
        return False
    return all(type(value) is type(two[key]) for key, value in one.items() if key in two)


def _documents(side: Side) -> dict[tuple[str, str], Document]:
    """The documents that decide or hold what others use, by kind and name; tests are neither."""
    return {
        (document.data["kind"], document.data["metadata"]["name"]): document
        for document in side.bundle.documents
        if document.data["kind"] not in (TESTS, "Bundle")
    }


def _extending(old: Side, new: Side) -> Iterator[Change]:
    """That only one side extends the built-in bundle, and for how many kinds the other has nothing."""
    if (old.bundle.base is None) == (new.bundle.base is None):
        return
    gone = new.bundle.base is None
    whole, alone = (old, new) if gone else (new, old)
    kinds = {policy.kind.name for policy in whole.bundle.inherited.values()}
    bare = len(kinds - {policy.kind.name for policy in alone.bundle.policies.values()})
    before = "now nothing serves" if gone else "before nothing served"
    what = "no longer extends" if gone else "now extends"
    about = f"{what} the {BUILT_IN} bundle: {before} for {counted(bare, 'kind')}"
    yield Change("removed" if gone else "added", (about,))


def _serving(old: Side, new: Side) -> Iterator[Change]:
    for kind in dict.fromkeys((*old.bundle.use, *new.bundle.use)):
        before, after = (side.bundle.serving(kind).name if side.bundle.of_kind(kind) else None for side in (old, new))
        if before is not None and after is not None and before != after:
            yield Change("changed", (f"{kind}: ", Quoted(after), " serves instead of ", Quoted(before)))


def _document(
    old: Side,
    new: Side,
    before: Document | None,
    after: Document | None,
    timeout_ms: int,
    missing: dict[str, list[str]],
) -> PolicyDiff | None:
    if before is None or after is None:
        only = after or before
        assert only is not None
        name, kind = only.data["metadata"]["name"], only.data["kind"]
        effect = Effect.ADDED if before is None else Effect.REMOVED
        change = Change(effect.value, (f"{kind} ", Quoted(name), f" {effect.value}"))
        return PolicyDiff(name, kind, (change,), effect)
    name, kind = after.data["metadata"]["name"], after.data["kind"]
    old_name = before.data["metadata"]["name"]
    one, two = old.bundle.policies.get(old_name), new.bundle.policies.get(name)
    found = changes(before.data, after.data)
    uses_words = one is not None and two is not None and _words(one) != _words(two)
    if uses_words:
        found = (*found, Change("changed", (_ALSO_WORDS,)))
    deciding = not same(_deciding(before.data), _deciding(after.data))
    if not found and deciding:
        found = (Change("moved", ("the order of named values changed",)),)
    if not found:
        return None
    renamed = old_name if old_name != name else None
    if one is None or two is None:
        return PolicyDiff(name, kind, found, Effect.NONE, old_name=renamed)
    if not uses_words and not deciding and one.input_schema == two.input_schema:
        return PolicyDiff(name, kind, found, Effect.SAME, old_name=renamed, why="nothing that decides has changed")
    return _policies(name, renamed, found, one, two, timeout_ms, missing)


def _policies(
    name: str,
    renamed: str | None,
    found: tuple[Change, ...],
    old: Policy,
    new: Policy,
    timeout_ms: int,
    missing: dict[str, list[str]],
) -> PolicyDiff:
    kind = new.kind.name
    if why := comparable(old, new):
        return PolicyDiff(name, kind, found, Effect.UNDECIDED, why=why, old_name=renamed)
    if kind == "Ladder":
        return _ladders(name, renamed, found, old, new)
    try:
        table = TableDiff(old, new, timeout_ms)
        effect, witness, why = table.effect()
    except MissingExtraError as error:
        missing.setdefault(str(error), []).append(name)
        return PolicyDiff(name, kind, found, Effect.UNDECIDED, why="there is no solver", old_name=renamed)
    except UnreadableError as error:
        return PolicyDiff(name, kind, found, Effect.UNDECIDED, why=str(error), old_name=renamed)
    assumes = table.search.assumes() if effect is Effect.SAME else ()
    return PolicyDiff(name, kind, found, effect, witness, why=why, assumes=assumes, old_name=renamed)


def _ladders(name: str, renamed: str | None, found: tuple[Change, ...], old: Policy, new: Policy) -> PolicyDiff:
    windows = ladders.domain(old, new)
    try:
        spans = ladders.spans(old, new)
        witness = ladders.witness(old, new, spans) if spans else ladders.renamed_branch(old, new)
    except (UndecidedError, UnreadableError) as error:
        why = f"{error} is not decided"
        return PolicyDiff(name, "Ladder", found, Effect.UNDECIDED, windows=windows, why=why, old_name=renamed)
    effect = Effect.DIFFERENT if witness else Effect.SAME if not spans else Effect.UNDECIDED
    why = "" if effect is not Effect.UNDECIDED else "thresholds differ by less than a whole token"
    return PolicyDiff(name, "Ladder", found, effect, witness, spans, windows, why, old_name=renamed)


def _deciding(data: Mapping[str, Any]) -> Any:
    """What of a document decides: not the descriptions of its rows, its claims, or who owns it."""
    spec = {key: _undescribed(value) for key, value in data["spec"].items() if key != "properties"}
    return {"kind": data["kind"], "spec": _in_order(spec)}


def _undescribed(part: Any) -> Any:
    """A list of rows without their descriptions. Deeper down `description` is a name like any other."""
    if not isinstance(part, list):
        return part
    return [{k: v for k, v in row.items() if k != "description"} if isinstance(row, dict) else row for row in part]


def _in_order(value: Any) -> Any:
    if isinstance(value, dict):
        return [(key, _in_order(item)) for key, item in value.items()]
    return [_in_order(item) for item in value] if isinstance(value, list) else value


def _words(policy: Policy) -> Mapping[str, tuple[str, ...]]:
    """The word lists that a policy asks for."""
    used = policy.compiled.programs.word_lists()
    return {name: listed for name, listed in policy.table.words.items() if name in used}
