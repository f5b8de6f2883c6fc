"""One bundle as the adapter uses it: swapped as a whole, so that no round sees two."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from functools import cached_property
from typing import Any, TypeVar

from policyengine.compression.compressor import Compressor
from policyengine.kinds.bundle import Bundle, builtin
from policyengine.kinds.loop import Loop
from policyengine.kinds.policy import Policy
from policyengine.log.record import Recorder

T = TypeVar("T")
_KNOWN = 256
"""How much is kept."""


class Live:
    """A bundle, its loop, and the policies that only the adapter asks.

    `shadow` is a candidate that decides beside it and is only logged.
    """

    def __init__(self, bundle: Bundle, *, ladder: str | None = None, shadow: Bundle | None = None) -> None:
        self.bundle = bundle
        self.shadow = shadow
        self.loop = Loop(bundle, ladder)
        self._known: dict[Hashable, Any] = {}

    @property
    def digest(self) -> str:
        """What tells one bundle from another."""
        return self.bundle.digest

    def once(self, key: Hashable, work_out: Callable[[], T]) -> T:
        """What depends on nothing but this bundle and `key`: worked out when it is first asked for."""
        try:
            found: T = self._known[key]  # one look: sessions in other threads may clear it meanwhile
        except KeyError:
            found = work_out()
            if len(self._known) >= _KNOWN:
                self._known.clear()
            self._known[key] = found
        return found

    @cached_property
    def recorder(self) -> Recorder:
        """Turns this bundle's decisions into records."""
        if self.shadow is None:
            return Recorder(self.bundle, source="runtime")
        return Recorder(self.bundle, source="runtime", shadow=self.shadow)

    @cached_property
    def compressor(self) -> Compressor:
        """Looks at histories by this bundle's tool catalogue and word lists; it keeps nothing of them."""
        return Compressor(self.loop)

    def policy(self, kind: str) -> Policy:
        """The policy that serves for a kind; the built-in one where the bundle has none."""
        return self.loop.policy(kind)

    @cached_property
    def settings(self) -> Mapping[str, Any]:
        """Texts and numbers of the adapter."""
        return self.policy("AdapterSettings").outcome({})

    def contract(self, provider: str | None) -> Mapping[str, Any]:
        """How a provider counts tokens; as the catalogue says of others where it is not listed."""
        usage: Mapping[str, Mapping[str, Any]] = self.loop.models.spec["usage"]
        if (found := usage.get(provider or "") or usage.get(_OTHER)) is not None:
            return found
        usual: Mapping[str, Any] = builtin().serving("ModelCatalogue").spec["usage"][_OTHER]
        return usual


_OTHER = "other"
"""What the catalogue calls every provider that it does not list."""
