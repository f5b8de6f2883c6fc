"""The decisions of an agent loop in their order, over the policies of one bundle: pure, state in and state out.

Before a send: estimate, ladder, breaker, gate, tip. After a batch: directive, then routing of the continuation.
Replay and the runtime adapter both call this module, so that a dry run decides what the agent would.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from policyengine.kinds.batch import AfterBatch, Batch, directives_input, routing_input
from policyengine.kinds.before_send import BREAKER_FIELDS, BeforeSend, LoopState
from policyengine.kinds.bundle import Bundle, builtin
from policyengine.kinds.made import Made
from policyengine.kinds.policy import Policy
from policyengine.kinds.prompt_size import Count, Sizes, estimate_input
from policyengine.kinds.tokenizers import Count as TokenCount
from policyengine.kinds.tokenizers import TokenizerUnavailableError, counter
from policyengine.rules.decision import Decision
from policyengine.source.errors import InputError
from policyengine.source.nearest import did_you_mean

K = TypeVar("K")
V = TypeVar("V")
_KNOWN = 256
"""Models and windows whose facts are kept."""


class Loop:
    """The policies of a bundle that an agent loop asks, in the order it asks them."""

    def __init__(self, bundle: Bundle, ladder: str | None = None) -> None:
        self.bundle = bundle
        self.ladder = _ladder(bundle, ladder) if ladder is not None else bundle.serving("Ladder")
        self.estimate = bundle.serving("TokenEstimate")
        self.tips = bundle.serving("Tips")
        self.breaker = bundle.serving("Breaker")
        self.gate = bundle.serving("CompactionGate")
        self.result = bundle.serving("CompactionResult")
        self.routing = bundle.serving("Routing")
        self.prompt_class = bundle.serving("PromptClass")
        self.directives = bundle.serving("Directives")
        self.models = bundle.serving("ModelCatalogue")
        self.tools = bundle.serving("ToolCatalogue")
        asked = bundle.of_kind("CompressionTriggers")
        self.triggers = bundle.serving("CompressionTriggers") if asked else None
        """The policy that may compact below the ladder, where the bundle has one."""
        self._policies: dict[str, Policy] = {}
        # What depends on nothing but the bundle and a name or a number is worked out once.
        self._models: dict[str | None, Mapping[str, Any]] = {}
        self._ladders: dict[int | None, Mapping[str, Any]] = {}

    def policy(self, kind: str) -> Policy:
        """The policy that serves for a kind; the built-in one where the bundle has none."""
        found = self._policies.get(kind)
        if found is None:
            try:
                found = self.bundle.serving(kind)
            except InputError:
                found = builtin().serving(kind)
            self._policies[kind] = found
        return found

    def asking(self, made: list[Made], *, trace: bool = False) -> Callable[[str, Mapping[str, Any]], Mapping[str, Any]]:
        """A way to ask the policy of a kind; each decision is added to `made`."""
        return lambda kind, given: self._ask(made, self.policy(kind), given, trace).outcome

    def before_send(
        self,
        state: LoopState,
        count: Count,
        *,
        window: int | None,
        session_prompt_count: int,
        now_ms: int = 0,
        forced: bool = False,
        asked: bool = False,
        triggers: Mapping[str, Any] | None = None,
        trace: bool = False,
    ) -> BeforeSend:
        """Decide everything that is decided before a send. `forced` is a provider's demand, `asked` a person's.

        `triggers` is the input of CompressionTriggers, which may compact below the ladder and holds nothing back.

        `window` in tokens; None where it is unknown, which 0 means too.
        """
        window = window or None
        made: list[Made] = []
        estimate = self._ask(made, self.estimate, estimate_input(count), trace)
        tokens: int | None = estimate.outcome["tokens"]
        ladder = self._ask(made, self.ladder, {"window": window, "tokens": tokens or 0}, trace).outcome
        tier = ladder["tier"]
        trigger: str | None = None
        if triggers is not None and self.triggers is not None:
            given = {**triggers, "tier": tier, "tokens": tokens or 0}
            wanted = self._ask(made, self.triggers, given, trace).outcome
            trigger = (wanted.get("trigger") or wanted["reason"]) if wanted["compress"] else None
        if tier == "hard" and state.tier != "hard":
            state = self._event(made, state, "hard_crossing", now_ms=now_ms, trace=trace)
        answer = self._ask(made, self.breaker, self._breaker_input(state, "ask", now_ms), trace)
        state = _carried(state, answer.outcome)
        forced = forced or asked or tier == "hard"
        breaker, rescue = answer.outcome["breaker"], answer.outcome["rescue"]
        gate = self._ask(
            made,
            self.gate,
            {
                "forced": forced,
                **({"asked": True} if asked else {}),
                **({"triggered": True} if trigger is not None else {}),
                "breaker": breaker,
                "rescue": rescue,
                "tokens": tokens or 0,
                "auto": ladder["auto"],
            },
            trace,
        ).outcome
        tip = self._ask(
            made,
            self.tips,
            {
                "tokens": tokens or 0,
                **{name: ladder[name] for name in ("warn", "auto", "hard")},
                "window": window,
                "session_prompt_count": session_prompt_count,
                "shown": state.tip,
            },
            trace,
        ).outcome
        in_a_row = state.compactions_in_a_row + 1 if gate["compact"] else 0
        state = replace(state, tier=tier, tip=tip["tip"], compactions_in_a_row=in_a_row)
        return BeforeSend(
            tokens, estimate.outcome["tokens_source"], ladder, breaker, rescue, forced, gate["compact"],
            gate["reason"], tip, state, tuple(made), trigger,
        )  # fmt: skip

    def compacted(
        self,
        state: LoopState,
        *,
        forced: bool,
        facts: Mapping[str, Any],
        attempt_generation: int | None = None,
        now_ms: int = 0,
        trace: bool = False,
    ) -> tuple[str, LoopState, tuple[Made, ...]]:
        """What became of a compaction (`facts` is the input of CompactionResult), and the breaker after it."""
        made: list[Made] = []
        result = self._ask(made, self.result, facts, trace).outcome["result"]
        accepted = result == "accepted"
        state = self._event(
            made,
            state,
            "success" if accepted else "failure",
            forced=forced,
            failure=None if accepted else result,
            attempt_generation=attempt_generation,
            now_ms=now_ms,
            trace=trace,
        )
        return result, state, tuple(made)

    def event(self, state: LoopState, event: str, **about: Any) -> tuple[LoopState, tuple[Made, ...]]:
        """The breaker after an event (success, failure, cancelled)."""
        made: list[Made] = []
        return self._event(made, state, event, **about), tuple(made)

    def after_batch(
        self, batch: Batch, *, history_tokens: int, fast_auto: int | None, trace: bool = False
    ) -> AfterBatch:
        """Decide what follows a batch: whether the model round is skipped, and which model would answer it.

        `fast_auto` is the fast model's own `auto` threshold in tokens, None where its window is unknown.
        """
        made: list[Made] = []
        if batch.prompt_known:
            prompt_class = self._ask(made, self.prompt_class, {"prompt": batch.prompt}, trace).outcome["prompt_class"]
        else:
            # A prompt that cannot be read may ask for anything: take the class that forbids most.
            prompt_class = "action"
        directive = self._ask(made, self.directives, directives_input(batch, prompt_class), trace).outcome
        given = routing_input(
            batch,
            tool_output_tokens=self.size_tokens(batch.tool_output),
            history_tokens=history_tokens,
            fast_auto=fast_auto,
        )
        routing = self._ask(made, self.routing, given, trace).outcome
        return AfterBatch(prompt_class, directive, routing, tuple(made))

    def classify(self, name: str, arguments: Mapping[str, object] | str) -> Mapping[str, Any]:
        """What a tool call is, by the tool catalogue: `tool`, `kind`, `mcp`, `listed`."""
        return self.tools.outcome({"name": name, "command": self.command_of(arguments)})

    def command_of(self, arguments: Mapping[str, object] | str) -> str | None:
        """The shell command among a call's arguments, None where there is none."""
        if isinstance(arguments, str):
            return None
        for argument in self.tools.spec.get("command_arguments", ()):
            command = arguments.get(argument)
            if isinstance(command, str):
                return command
            if isinstance(command, list) and command and all(isinstance(part, str) for part in command):
                # ["bash", "-lc", "git status"] runs its last part; anything else is the words of one command.
                return str(command[-1]) if len(command) == 3 and command[1] in ("-c", "-lc") else " ".join(command)
        return None

    def tokenizer(self) -> tuple[TokenCount | None, str | None]:
        """The tokenizer that the token estimate names, or None and why its bytes are counted instead."""
        name = self.estimate.spec.get("tokenizer")
        if name is None:
            return None, None
        try:
            return counter(name), None
        except TokenizerUnavailableError as error:
            return None, str(error)

    def size_tokens(self, sizes: Sizes) -> int:
        """Estimated tokens of something of this size; 0 where the estimate fails."""
        return self.count_tokens(Count(sizes, Sizes()))

    def count_tokens(self, count: Count) -> int:
        """Tokens of a prompt of which this is known; 0 where the estimate fails."""
        tokens = self.estimate.outcome(estimate_input(count))["tokens"]
        return tokens or 0

    def model(self, name: str | None) -> Mapping[str, Any]:
        """What the catalogue knows about a model."""
        return _kept(self._models, name, lambda: self.models.outcome({"model": name or ""}))

    def window(self, name: str | None) -> int | None:
        """The longest prompt a model takes (tokens): its window, or less where the provider says so."""
        facts = self.model(name)
        known = [limit for limit in (facts["window"], facts["max_input"]) if limit is not None]
        return min(known) if known else None

    def fast_model(self, provider: str | None) -> str | None:
        """The fast model beside a primary model of `provider`."""
        name: str | None = self.routing.spec.get("fast_models", {}).get(provider)
        return name

    def thresholds(self, window: int | None) -> Mapping[str, Any]:
        """The ladder's outcome for a window and an empty prompt: its thresholds."""
        return _kept(self._ladders, window, lambda: self.ladder.outcome({"window": window, "tokens": 0}))

    def _ask(self, made: list[Made], policy: Policy, input: Mapping[str, Any], trace: bool) -> Decision:
        decision = policy.decide(input, trace=trace)
        made.append(Made(policy, input, decision))
        return decision

    def _event(self, made: list[Made], state: LoopState, event: str, **about: Any) -> LoopState:
        trace = about.pop("trace", False)
        now_ms = about.pop("now_ms", 0)
        return _carried(
            state,
            self._ask(made, self.breaker, self._breaker_input(state, event, now_ms, **about), trace).outcome,
        )

    def _breaker_input(
        self,
        state: LoopState,
        event: str,
        now_ms: int,
        forced: bool = False,
        failure: str | None = None,
        attempt_generation: int | None = None,
    ) -> dict[str, Any]:
        return {
            "event": event,
            "forced": forced,
            "failure": failure,
            "attempt_generation": attempt_generation,
            "now_ms": now_ms,
            **state.breaker_input(),
        }


def _kept(known: dict[K, V], key: K, work_out: Callable[[], V]) -> V:
    """What was worked out before, or now."""
    found = known.get(key)
    if found is None:
        if len(known) >= _KNOWN:
            known.clear()
        found = known[key] = work_out()
    return found


def _ladder(bundle: Bundle, name: str) -> Policy:
    """The ladder called `name`. Raises `InputError` where the bundle has none of that name."""
    ladders = {policy.name: policy for policy in bundle.of_kind("Ladder")}
    found = ladders.get(name)
    if found is None:
        hint = did_you_mean(name, ladders) or f"it has: {', '.join(ladders)}"
        raise InputError(f"the bundle {bundle.path} has no ladder `{name}`; {hint}")
    return found


def _carried(state: LoopState, outcome: Mapping[str, Any]) -> LoopState:
    """The state with the breaker's fields of an outcome; an error outcome has none and changes nothing."""
    return replace(state, **{name: outcome[name] for name in BREAKER_FIELDS if name in outcome})
