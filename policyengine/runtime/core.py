"""What one session holds, and the small steps that its turns, compactions and batches share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from policyengine.kinds.before_send import LoopState
from policyengine.kinds.prompt_size import Count, Sizes
from policyengine.runtime.attempt import Attempt
from policyengine.runtime.choices import Choices
from policyengine.runtime.deciding import Deciding
from policyengine.runtime.events import Event, Tokens
from policyengine.runtime.history import History, for_provider
from policyengine.runtime.live import Live
from policyengine.runtime.messages import Message
from policyengine.runtime.places import Place
from policyengine.runtime.prefix import Prefix
from policyengine.runtime.presentation import Presentation
from policyengine.runtime.provider import Provider
from policyengine.runtime.sizing import message_sizes, text_sizes
from policyengine.runtime.state.store import StateStore
from policyengine.runtime.tools import Tool
from policyengine.runtime.toolset import Toolset
from policyengine.runtime.tracing import NoTracing, Tracing
from policyengine.runtime.transcript import Transcript
from policyengine.runtime.triggering import Triggering
from policyengine.runtime.usage import tokens
from policyengine.sessions.facts import CallKey
from policyengine.source.errors import InputError


@dataclass(slots=True)
class Settings:
    """What a person or an agent sets for a session. `windows` and `max_outputs` (tokens, by model) come before
    the catalogue's.

    `fast_routing` true or false is the person's word on routing to the fast model, None is none: the policy FastAccess
    decides by it and by the rollout's stage.
    """

    primary: str
    fast: str | None = None
    system: str = ""
    memory: str = ""
    windows: dict[str, int] = field(default_factory=dict)
    max_outputs: dict[str, int] = field(default_factory=dict)
    strategy: str = "auto"
    always_summarize: bool = False
    fast_routing: bool | None = None
    strict_template: bool = False


@dataclass(slots=True)
class Core:
    """One session."""

    id: str
    live: Callable[[], Live]
    settings: Settings
    providers: Mapping[str, Provider]
    tools: Mapping[str, Tool]
    store: StateStore
    advisor: Deciding
    history: History
    transcript: Transcript
    presentation: Presentation
    say: Callable[[Event], None]
    now_ms: Callable[[], int]
    tracing: Tracing = field(default_factory=NoTracing)
    places: tuple[Place, ...] = ()
    state: LoopState = field(default_factory=LoopState)
    choices: Choices = field(default_factory=Choices)
    prefix: Prefix = field(default_factory=Prefix)
    last_prompt_tokens: int = 0
    last_model: str | None = None
    usage_stale: bool = False
    counted: int = 0
    """Messages that the last reported count covers."""
    errors: frozenset[CallKey] = frozenset()
    compacted_or_cleared: bool = False
    rounds: int = 0
    prompts: int = 0
    """Messages that started a turn, whoever sent them."""
    sent: int = 0
    """Messages that the person has sent."""
    attempts: int = 0
    last_primary: str | None = None
    usage: dict[str, list[Tokens]] = field(default_factory=dict)
    """Tokens of every attempt, by model."""
    answers: list[Message] = field(default_factory=list)
    """The whole answers to the last prompt."""
    last_decision: str | None = None
    """What the last batch was followed by."""
    compaction_ms: int | None = None
    """How long the last compaction's calls took."""
    triggering: Triggering = field(default_factory=Triggering)
    brief: str = ""
    """An instruction that was added once, for summary rounds."""
    _toolset: Toolset = field(default_factory=Toolset)
    _sizes: dict[int, tuple[Message, Sizes]] = field(default_factory=dict)
    _sized_by: str = ""

    def provider_of(self, model: str) -> Provider:
        """Who serves a model: the catalogue's provider, or the only one there is."""
        name = self.live().loop.model(model)["provider"]
        if name in self.providers:
            return self.providers[name]
        if len(self.providers) == 1:
            return next(iter(self.providers.values()))
        known = ", ".join(self.providers)
        raise InputError(f"no provider for the model {model}; there are: {known}")

    def serves(self, model: str) -> bool:
        """Whether there is a provider for a model."""
        return len(self.providers) == 1 or self.live().loop.model(model)["provider"] in self.providers

    def contract_of(self, model: str) -> Mapping[str, Any]:
        """How tokens of a model are counted."""
        live = self.live()
        return live.contract(live.loop.model(model)["provider"] or self.provider_of(model).name)

    def facts_of(self, model: str) -> Mapping[str, Any]:
        """What the catalogue knows about a model, with the output limit that was stated for it."""
        facts = self.live().loop.model(model)
        stated = self.settings.max_outputs.get(model)
        return facts if stated is None else {**facts, "max_output": stated}

    def window_of(self, model: str | None) -> int | None:
        """Context window of a model, tokens; None where it is unknown."""
        stated = self.settings.windows.get(model or "")
        return stated if stated is not None else self.live().loop.window(model)

    def fast_model(self) -> str | None:
        """The fast model, None where there is none that could be called."""
        if self.settings.fast is not None:
            return self.settings.fast
        live = self.live()
        provider = live.loop.model(self.settings.primary)["provider"]
        return live.loop.fast_model(provider) if provider in self.providers else None

    @property
    def system(self) -> str:
        """The system text as it is sent."""
        return self.settings.system + self.settings.memory + self.brief

    @property
    def toolset(self) -> Toolset:
        """The tools as a model sees them."""
        if not self._toolset.of(self.tools):
            self._toolset = Toolset(self.tools.values())
        return self._toolset

    def sizes(self, messages: Sequence[Message]) -> list[Sizes]:
        """Sizes of messages; each message is measured once under a bundle."""
        live = self.live()
        known = self._sizes if self._sized_by == live.digest else {}
        self._sized_by = live.digest
        tokenizer, _ = live.loop.tokenizer()
        fresh: dict[int, tuple[Message, Sizes]] = {}
        found = []
        for message in messages:
            entry = known.get(id(message)) or fresh.get(id(message))
            if entry is None or entry[0] is not message:
                entry = (message, message_sizes(message, tokenizer))
            fresh[id(message)] = entry
            found.append(entry[1])
        self._sizes = {**known, **fresh} if len(known) < 4 * len(self.history) + 64 else fresh
        return found

    def total(self, messages: Sequence[Message]) -> Sizes:
        """Size of messages together."""
        total = Sizes()
        for one in self.sizes(messages):
            total = total + one
        return total

    def prefix_sizes(self) -> Sizes:
        """Size of system text and tools."""
        count, _ = self.live().loop.tokenizer()
        return text_sizes(self.system, count) + self.toolset.sizes(count)

    def count(self) -> Count:
        """What is known about the size of the next prompt."""
        messages = self.history.messages
        return Count(
            added=self.total(messages[self.counted :]),
            history=self.prefix_sizes() + self.total(messages[: self.counted]),
            last_prompt_tokens=self.last_prompt_tokens,
            usage_stale=self.usage_stale,
            usage_window=self.window_of(self.last_model) if self.last_model else None,
        )

    def tokens_before(self) -> int:
        """Tokens of the next prompt as the token estimate sees them; 0 where it fails."""
        return self.live().loop.count_tokens(self.count())

    def estimate(self) -> int:
        """Tokens of the next prompt, from sizes alone."""
        return self.live().loop.size_tokens(self.prefix_sizes() + self.total(self.history.messages))

    def messages_for(self, model: str, messages: Sequence[Message]) -> list[Message]:
        """Messages as the provider of a model takes them."""
        provider = self.provider_of(model).name
        asked = {"provider": provider, "strict_template": self.settings.strict_template}
        gap = self.advisor.ask("HistoryRepair", asked)["gap"]
        empty = self.live().settings["empty_assistant"]
        return for_provider(messages, provider=provider, model=model, gap=gap, empty_assistant=empty)

    def tokens_of(self, attempt: Attempt, prompt_estimate: int | None) -> Tokens:
        """What an attempt took, and the count kept at its model."""
        loop = self.live().loop
        output = loop.size_tokens(Sizes(attempt.text_bytes, attempt.other_bytes))
        if output == 0 and (attempt.text_bytes or attempt.other_bytes):
            output = 1
        taken = tokens(
            attempt.usage,
            self.contract_of(attempt.model),
            finished=attempt.good,
            prompt_estimate=prompt_estimate,
            output_estimate=output,
        )
        self.usage.setdefault(attempt.model, []).append(taken)
        return taken

    def half_written(self, prompt_id: str) -> int:
        """Answers to a prompt in the history that are no whole ones: has to be 0."""
        return sum(
            1
            for message in self.history.messages
            if message.role == "assistant"
            and message.prompt_id == prompt_id
            and not any(message is whole for whole in self.answers)
        )

    def next_attempt(self) -> int:
        """Number of a new attempt, from 1."""
        self.attempts += 1
        return self.attempts
