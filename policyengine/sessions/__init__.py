"""Real transcripts in: one reader per format, one turn model."""

from policyengine.sessions.model import (
    Part,
    RecordedCompaction,
    Round,
    Session,
    ToolCall,
    ToolResult,
    Turn,
    Usage,
)
from policyengine.sessions.reading import read, read_bytes, read_text

__all__ = [
    "Part",
    "RecordedCompaction",
    "Round",
    "Session",
    "ToolCall",
    "ToolResult",
    "Turn",
    "Usage",
    "read",
    "read_bytes",
    "read_text",
]
