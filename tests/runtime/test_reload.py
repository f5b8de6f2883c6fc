"""Reload and shadow: a bundle is swapped as a whole between rounds, or refused; a candidate only decides beside."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path
from typing import Any

import pytest
from runtime_kit import Script, adapter, builtin, calls, changed, events, of, says, tool

from policyengine.kinds.bundle import load
from policyengine.runtime.events import BundleChanged, BundleRefused, ContextMeasured, Degraded, Routed, TurnEnded

LOOK = ("c1", "look", {})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    copy = tmp_path / "bundle"
    shutil.copytree(builtin().path, copy, ignore=shutil.ignore_patterns("*.test.yaml"))
    return copy


def _edit(folder: Path, file: str, old: str, new: str) -> None:
    path = folder / file
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def test_a_changed_bundle_serves_from_the_next_round_on(folder: Path) -> None:
    async def run() -> None:
        script = Script([calls(LOOK), says("fine", 60_000, 5)])
        made, log = adapter(script, bundle=load(folder))
        made.reloader.watch()
        before = made.bundle.digest

        def change(arguments: Any) -> str:
            # In mid-turn: the round that runs ends under the old bundle, the next one begins under the new one.
            _edit(folder, "ladders/floor.yaml", "pct: 0.7", "pct: 0.9")
            return "changed"

        one = made.session("big", tools=[tool(run=change)], window=100_000)
        found = await events(one.send("show me the file"))
        swapped = of(found, BundleChanged)
        assert [(e.before, e.digest) for e in swapped] == [(before, made.bundle.digest)]
        assert of(found, ContextMeasured)[1].left_until_auto > 80_000
        digests = [record["bundle_digest"] for record in log.records]
        assert sorted(set(digests), key=digests.index) == [before, made.bundle.digest]
        # No round saw two bundles.
        assert all(
            len({r["bundle_digest"] for r in log.records if r["round"] == n and r["kind"] == "Ladder"}) == 1
            for n in (1, 2)
        )

    asyncio.run(run())


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("pct: 0.7", "pct: ["),
        ("pct: 0.7", "ptc: 0.7"),
        ("pct * window", "pct * nothing"),
        ("kind: Ladder", "kind: Lader"),
    ],
    ids=["not YAML", "a name that is not there", "an expression that does not compile", "no kind"],
)
def test_a_bad_bundle_is_refused_and_the_last_good_one_goes_on(folder: Path, old: str, new: str) -> None:
    async def run() -> None:
        made, _ = adapter(Script([says("fine")]), bundle=load(folder))
        good = made.bundle.digest
        one, other = made.session("big", window=100_000), made.session("big")
        _edit(folder, "ladders/floor.yaml", old, new)
        assert not await made.reload()
        status = made.reloader.status
        assert status.live == good
        assert status.refused != good
        assert status.findings
        found = await events(one.send("hello there"))
        assert of(found, BundleRefused)[0].live == good
        assert of(found, TurnEnded)[0].status == "completed"
        # Every session hears of it, once.
        assert len(of(await events(other.send("hello there")), BundleRefused)) == 1
        assert not of(await events(one.send("hello there")), BundleRefused)
        _edit(folder, "ladders/floor.yaml", new, old)
        assert await made.reload()
        assert made.reloader.status.refused is None

    asyncio.run(run())


def test_a_bundle_whose_own_tests_fail_is_refused(folder: Path) -> None:
    async def run() -> None:
        made, _ = adapter(Script([says("fine")]), bundle=load(folder))
        (folder / "kill-switch.test.yaml").write_text(
            "apiVersion: policyengine/v1\nkind: Tests\nmetadata: {name: k, version: 1.0.0}\nspec:\n"
            "  policy: kill-switch\n  cases:\n    - name: stays on\n"
            "      input: {fast_rounds: 100, fallbacks: 21, tripped: false}\n      expect: {fast: true}\n"
        )
        assert not await made.reload()
        assert "stays on" in made.reloader.status.findings[0]
        _edit(folder, "kill-switch.test.yaml", "fallbacks: 21", "fallbacks: 20")
        assert await made.reload()

    asyncio.run(run())


def test_how_long_a_refused_change_may_wait_can_be_limited(folder: Path) -> None:
    async def run() -> None:
        now = [1_000_000]
        _edit(folder, "adapter-settings.yaml", "stale_after_ms: 0", "stale_after_ms: 60000")
        made, _ = adapter(Script([says("fine")]), bundle=load(folder), clock=lambda: now[0])
        one = made.session("big")
        _edit(folder, "ladders/floor.yaml", "pct: 0.7", "pct: [")
        assert not await made.reload()
        assert not of(await events(one.send("hello there")), Degraded)
        now[0] += 61_000
        assert made.reloader.status.too_stale
        assert [e.what for e in of(await events(one.send("hello there")), Degraded)] == ["bundle"]
        assert not of(await events(one.send("hello there")), Degraded)

    asyncio.run(run())


def test_a_candidate_decides_beside_the_live_bundle_and_never_acts() -> None:
    async def run() -> None:
        candidate = changed(routing={"cross_result_calls": 1})
        script = Script([calls(LOOK), says("fine")])
        made, log = adapter(script, shadow=candidate)
        one = made.session("big", fast="small", fast_routing=True, fast_window=100_000, tools=[tool()])
        found = await events(one.send("show me the file"))
        assert of(found, Routed)[0].decision == "fast"
        assert [r.model for r in script.requests] == ["big", "small"]
        routing = next(r for r in log.records if r["kind"] == "Routing")
        assert routing["outcome"]["decision"] == "fast"
        assert routing["shadow"]["same"] is False
        assert routing["shadow"]["outcome"]["veto_reason"] == "cross_result"
        others = [r["shadow"]["same"] for r in log.records if r["kind"] == "Ladder"]
        assert others == [True, True]

    asyncio.run(run())
