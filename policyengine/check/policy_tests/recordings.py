"""Inputs from recorded sessions: what a policy was asked in one round of a replay."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from policyengine.check.policy_tests.model import Recorded, TestStep
from policyengine.check.replay import Options, RoundReplay, replay
from policyengine.kinds.bundle import Bundle
from policyengine.kinds.loop import Loop
from policyengine.sessions import read
from policyengine.source.errors import InputError


class Recordings:
    """The sessions that test documents name. Each is read and replayed once for each way of replaying it."""

    def __init__(self, bundle: Bundle) -> None:
        self._bundle = bundle
        self._rounds: dict[tuple[str, str], list[RoundReplay]] = {}
        self.files: set[Path] = set()

    def input(self, step: TestStep, folder: Path) -> Mapping[str, Any]:
        """What the step's policy was asked first in the round that the step names; `folder` is its document's.

        Raises `InputError` where there is no such file, round or question.
        """
        recorded = step.start.recorded
        assert recorded is not None
        rounds = self._replayed(recorded, folder / recorded.file)
        for row in rounds:
            if row.round.index == recorded.round:
                return self._asked(step.policy, row, recorded)
        last = rounds[-1].round.index if rounds else 0
        raise InputError(f"{recorded.file} has no round {recorded.round}; its last is {last}")

    def _asked(self, policy: str, row: RoundReplay, recorded: Recorded) -> Mapping[str, Any]:
        for made in row.made:
            if made.policy.name == policy:
                return made.input
        asked = ", ".join(dict.fromkeys(made.policy.name for made in row.made))
        raise InputError(f"`{policy}` is not asked in round {recorded.round} of {recorded.file}; asked are: {asked}")

    def _replayed(self, recorded: Recorded, file: Path) -> list[RoundReplay]:
        key = (str(file), repr(sorted(recorded.options.items())))
        if key not in self._rounds:
            self.files.add(file)
            session = read(file)
            self._rounds[key] = replay(session, Loop(self._bundle), Options(**recorded.options)).rounds
        return self._rounds[key]
