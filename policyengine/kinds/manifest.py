"""Bundle: what a bundle is, and which policy serves where several of one kind are present."""

from __future__ import annotations

from policyengine.kinds.kind import Kind

KIND = Kind("Bundle", "What a bundle is, and which policies serve")
