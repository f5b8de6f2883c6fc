"""The parts of a running agent: events, batches and counts, providers, state stores, summarizers, tracing.

`Adapter`, `Advisor`, `Session`, `SyncSession`, `Tool`, `open_provider` and the errors are in `policyengine` itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from policyengine.source.lazy import lazy

if TYPE_CHECKING:
    from policyengine.compression.compressor import Wish as Wish
    from policyengine.compression.summary import Standing as Standing
    from policyengine.kinds.batch import AfterBatch as AfterBatch
    from policyengine.kinds.batch import Batch as Batch
    from policyengine.kinds.batch import BatchCall as BatchCall
    from policyengine.kinds.before_send import BeforeSend as BeforeSend
    from policyengine.kinds.before_send import LoopState as LoopState
    from policyengine.kinds.capabilities import Missing as Missing
    from policyengine.kinds.prompt_size import Count as Count
    from policyengine.kinds.prompt_size import Sizes as Sizes
    from policyengine.runtime.compaction import Outcome as Outcome
    from policyengine.runtime.compressing import CompressingSummarizer as CompressingSummarizer
    from policyengine.runtime.events import AttemptEnded as AttemptEnded
    from policyengine.runtime.events import BundleChanged as BundleChanged
    from policyengine.runtime.events import BundleRefused as BundleRefused
    from policyengine.runtime.events import CapabilityMissing as CapabilityMissing
    from policyengine.runtime.events import CompactionEnded as CompactionEnded
    from policyengine.runtime.events import CompactionStarted as CompactionStarted
    from policyengine.runtime.events import ConfirmationAsked as ConfirmationAsked
    from policyengine.runtime.events import ContextMeasured as ContextMeasured
    from policyengine.runtime.events import Degraded as Degraded
    from policyengine.runtime.events import Event as Event
    from policyengine.runtime.events import FastTurnedOff as FastTurnedOff
    from policyengine.runtime.events import FellBack as FellBack
    from policyengine.runtime.events import HistoryRepaired as HistoryRepaired
    from policyengine.runtime.events import LoopSuspected as LoopSuspected
    from policyengine.runtime.events import ReasoningChunk as ReasoningChunk
    from policyengine.runtime.events import Restored as Restored
    from policyengine.runtime.events import Retrying as Retrying
    from policyengine.runtime.events import RoundEnded as RoundEnded
    from policyengine.runtime.events import RoundStarted as RoundStarted
    from policyengine.runtime.events import Routed as Routed
    from policyengine.runtime.events import StateChanged as StateChanged
    from policyengine.runtime.events import TextChunk as TextChunk
    from policyengine.runtime.events import TextWithdrawn as TextWithdrawn
    from policyengine.runtime.events import Tokens as Tokens
    from policyengine.runtime.events import ToolEnded as ToolEnded
    from policyengine.runtime.events import ToolKindUnknown as ToolKindUnknown
    from policyengine.runtime.events import ToolStarted as ToolStarted
    from policyengine.runtime.events import TurnEnded as TurnEnded
    from policyengine.runtime.events import TurnFailed as TurnFailed
    from policyengine.runtime.events import TurnStarted as TurnStarted
    from policyengine.runtime.events import WindowUnknown as WindowUnknown
    from policyengine.runtime.hooks import Hooks as Hooks
    from policyengine.runtime.journal import ListSink as ListSink
    from policyengine.runtime.messages import Call as Call
    from policyengine.runtime.messages import Image as Image
    from policyengine.runtime.messages import Message as Message
    from policyengine.runtime.messages import Result as Result
    from policyengine.runtime.messages import Text as Text
    from policyengine.runtime.messages import Thinking as Thinking
    from policyengine.runtime.places import Place as Place
    from policyengine.runtime.provider import CallFinished as CallFinished
    from policyengine.runtime.provider import CallStarted as CallStarted
    from policyengine.runtime.provider import Finished as Finished
    from policyengine.runtime.provider import Provider as Provider
    from policyengine.runtime.provider import ReasoningDelta as ReasoningDelta
    from policyengine.runtime.provider import Request as Request
    from policyengine.runtime.provider import StreamEvent as StreamEvent
    from policyengine.runtime.provider import TextDelta as TextDelta
    from policyengine.runtime.provider import ThinkingBlock as ThinkingBlock
    from policyengine.runtime.provider import ToolSpec as ToolSpec
    from policyengine.runtime.provider import UsageReport as UsageReport
    from policyengine.runtime.providers.script import Script as Script
    from policyengine.runtime.providers.scripted import Scripted as Scripted
    from policyengine.runtime.reload import Reloader as Reloader
    from policyengine.runtime.reload import Status as Status
    from policyengine.runtime.rollout import Rollout as Rollout
    from policyengine.runtime.rollout import Stage as Stage
    from policyengine.runtime.state.opening import open_store as open_store
    from policyengine.runtime.state.redis import RedisStore as RedisStore
    from policyengine.runtime.state.sqlite import SqliteStore as SqliteStore
    from policyengine.runtime.state.store import MemoryStore as MemoryStore
    from policyengine.runtime.state.store import StateStore as StateStore
    from policyengine.runtime.summarizer import PlainSummarizer as PlainSummarizer
    from policyengine.runtime.summarizer import Summarizer as Summarizer
    from policyengine.runtime.summarizer import Summary as Summary
    from policyengine.runtime.summarizer import SummaryAnswer as SummaryAnswer
    from policyengine.runtime.summarizer import SummaryJob as SummaryJob
    from policyengine.runtime.tracing import OtelTracing as OtelTracing
    from policyengine.runtime.tracing import Tracing as Tracing

_HOMES = {
    "AfterBatch": "policyengine.kinds.batch",
    "AttemptEnded": "policyengine.runtime.events",
    "Batch": "policyengine.kinds.batch",
    "BatchCall": "policyengine.kinds.batch",
    "BeforeSend": "policyengine.kinds.before_send",
    "BundleChanged": "policyengine.runtime.events",
    "BundleRefused": "policyengine.runtime.events",
    "Call": "policyengine.runtime.messages",
    "CallFinished": "policyengine.runtime.provider",
    "CallStarted": "policyengine.runtime.provider",
    "CapabilityMissing": "policyengine.runtime.events",
    "CompactionEnded": "policyengine.runtime.events",
    "CompactionStarted": "policyengine.runtime.events",
    "CompressingSummarizer": "policyengine.runtime.compressing",
    "ConfirmationAsked": "policyengine.runtime.events",
    "ContextMeasured": "policyengine.runtime.events",
    "Count": "policyengine.kinds.prompt_size",
    "Degraded": "policyengine.runtime.events",
    "Event": "policyengine.runtime.events",
    "FastTurnedOff": "policyengine.runtime.events",
    "FellBack": "policyengine.runtime.events",
    "Finished": "policyengine.runtime.provider",
    "HistoryRepaired": "policyengine.runtime.events",
    "Hooks": "policyengine.runtime.hooks",
    "Image": "policyengine.runtime.messages",
    "ListSink": "policyengine.runtime.journal",
    "LoopState": "policyengine.kinds.before_send",
    "LoopSuspected": "policyengine.runtime.events",
    "MemoryStore": "policyengine.runtime.state.store",
    "Message": "policyengine.runtime.messages",
    "Missing": "policyengine.kinds.capabilities",
    "OtelTracing": "policyengine.runtime.tracing",
    "Outcome": "policyengine.runtime.compaction",
    "Place": "policyengine.runtime.places",
    "PlainSummarizer": "policyengine.runtime.summarizer",
    "Provider": "policyengine.runtime.provider",
    "ReasoningChunk": "policyengine.runtime.events",
    "ReasoningDelta": "policyengine.runtime.provider",
    "RedisStore": "policyengine.runtime.state.redis",
    "Reloader": "policyengine.runtime.reload",
    "Request": "policyengine.runtime.provider",
    "Restored": "policyengine.runtime.events",
    "Result": "policyengine.runtime.messages",
    "Retrying": "policyengine.runtime.events",
    "Rollout": "policyengine.runtime.rollout",
    "RoundEnded": "policyengine.runtime.events",
    "RoundStarted": "policyengine.runtime.events",
    "Routed": "policyengine.runtime.events",
    "Script": "policyengine.runtime.providers.script",
    "Scripted": "policyengine.runtime.providers.scripted",
    "Sizes": "policyengine.kinds.prompt_size",
    "SqliteStore": "policyengine.runtime.state.sqlite",
    "Stage": "policyengine.runtime.rollout",
    "Standing": "policyengine.compression.summary",
    "StateChanged": "policyengine.runtime.events",
    "StateStore": "policyengine.runtime.state.store",
    "Status": "policyengine.runtime.reload",
    "StreamEvent": "policyengine.runtime.provider",
    "Summarizer": "policyengine.runtime.summarizer",
    "Summary": "policyengine.runtime.summarizer",
    "SummaryAnswer": "policyengine.runtime.summarizer",
    "SummaryJob": "policyengine.runtime.summarizer",
    "Text": "policyengine.runtime.messages",
    "TextChunk": "policyengine.runtime.events",
    "TextDelta": "policyengine.runtime.provider",
    "TextWithdrawn": "policyengine.runtime.events",
    "Thinking": "policyengine.runtime.messages",
    "ThinkingBlock": "policyengine.runtime.provider",
    "Tokens": "policyengine.runtime.events",
    "ToolEnded": "policyengine.runtime.events",
    "ToolSpec": "policyengine.runtime.provider",
    "ToolKindUnknown": "policyengine.runtime.events",
    "ToolStarted": "policyengine.runtime.events",
    "Tracing": "policyengine.runtime.tracing",
    "TurnEnded": "policyengine.runtime.events",
    "TurnFailed": "policyengine.runtime.events",
    "TurnStarted": "policyengine.runtime.events",
    "UsageReport": "policyengine.runtime.provider",
    "WindowUnknown": "policyengine.runtime.events",
    "Wish": "policyengine.compression.compressor",
    "open_store": "policyengine.runtime.state.opening",
}
__all__ = list(_HOMES)

__getattr__, __dir__ = lazy(__name__, _HOMES)
