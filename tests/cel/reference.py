"""cel-python in a process of its own: the only module that imports it.

Importing it raises the recursion limit, its Environment writes into what it is given, and its parser is one per
process, so it lives behind a pipe: one JSON line in (`expr`, `bindings`, `container`), one line out (a value as the
suite writes it, or `{"error": ...}`).
"""

from __future__ import annotations

import base64
import json
import math
import subprocess
import sys
from typing import Any

from policyengine.cel.errors import CelError
from policyengine.cel.values import CelType, Duration, Timestamp, UInt


def encode(value: Any) -> Any:
    """A plain value as the suite writes it."""
    if value is None:
        return {"nullValue": None}
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, UInt):
        return {"uint64Value": str(int(value))}
    if isinstance(value, int):
        return {"int64Value": str(value)}
    if isinstance(value, float):
        return {"doubleValue": value if math.isfinite(value) else str(value)}
    if isinstance(value, str):
        return {"stringValue": value}
    if isinstance(value, bytes):
        return {"bytesValue": base64.b64encode(value).decode()}
    if isinstance(value, (list, tuple)):
        return {"listValue": {"values": [encode(item) for item in value]}}
    if isinstance(value, dict):
        return {"mapValue": {"entries": [{"key": encode(key), "value": encode(item)} for key, item in value.items()]}}
    raise TypeError(type(value).__name__)


def decode(written: dict[str, Any]) -> Any:
    """The plain value."""
    ((kind, inner),) = written.items()
    if kind == "error":
        raise CelError(str(inner))
    if kind == "int64Value":
        return int(inner)
    if kind == "uint64Value":
        return UInt(inner)
    if kind == "doubleValue":
        return float(inner)
    if kind == "bytesValue":
        return base64.b64decode(inner)
    if kind == "listValue":
        return [decode(item) for item in inner.get("values", ())]
    if kind == "mapValue":
        return {decode(entry["key"]): decode(entry["value"]) for entry in inner.get("entries", ())}
    if kind == "typeValue":
        return CelType(inner)
    if kind == "timestamp":
        return Timestamp(inner)
    if kind == "duration":
        return Duration(inner)
    return inner


class Reference:
    """A running cel-python. Use as a context manager."""

    def __enter__(self) -> Reference:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.cel.reference"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(10)

    def evaluate(self, expression: str, bindings: dict[str, Any], container: str = "") -> Any:
        """What cel-python gives. Raises CelError where it fails."""
        encoded = {name: encode(value) for name, value in bindings.items()}
        return self.ask(expression, encoded, container)

    def ask(self, expression: str, encoded: dict[str, Any], container: str = "") -> Any:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        request = {"expr": expression, "bindings": encoded, "container": container}
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        return decode(json.loads(self._process.stdout.readline()))


def _serve() -> None:
    import celpy
    from celpy import celtypes

    def inward(written: dict[str, Any]) -> Any:
        ((kind, inner),) = written.items()
        if kind == "listValue":
            return celtypes.ListType([inward(item) for item in inner.get("values", ())])
        if kind == "mapValue":
            entries = inner.get("entries", ())
            return celtypes.MapType({inward(entry["key"]): inward(entry["value"]) for entry in entries})
        if kind == "nullValue":
            return None
        makers = {
            "int64Value": celtypes.IntType,
            "uint64Value": celtypes.UintType,
            "doubleValue": celtypes.DoubleType,
            "stringValue": celtypes.StringType,
            "boolValue": celtypes.BoolType,
            "bytesValue": celtypes.BytesType,
        }
        return makers[kind](decode(written))

    def outward(value: Any) -> Any:
        if isinstance(value, celtypes.UintType):
            return {"uint64Value": str(int(value))}
        if isinstance(value, celtypes.BoolType):
            return {"boolValue": bool(value)}
        if isinstance(value, celtypes.TimestampType):
            return {"timestamp": Timestamp.of(value).nanos}
        if isinstance(value, celtypes.DurationType):
            return {"duration": Duration.of(value).nanos}
        if isinstance(value, celtypes.ListType):
            return {"listValue": {"values": [outward(item) for item in value]}}
        if isinstance(value, celtypes.MapType):
            entries = [{"key": outward(key), "value": outward(item)} for key, item in value.items()]
            return {"mapValue": {"entries": entries}}
        if isinstance(value, type):
            return {"typeValue": _TYPE_NAMES.get(value.__name__, value.__name__)}
        for plain in (int, float, str, bytes):
            if isinstance(value, plain):
                return encode(plain(value))
        return encode(value)

    for line in sys.stdin:
        request = json.loads(line)
        try:
            environment = celpy.Environment(package=request["container"] or None)
            program = environment.program(environment.compile(request["expr"]))
            answer = outward(program.evaluate({name: inward(one) for name, one in request["bindings"].items()}))
        except Exception as error:  # whatever it raises is its error; its text would show the input
            answer = {"error": type(error).__name__}
        print(json.dumps(answer), flush=True)


_TYPE_NAMES = {
    "BoolType": "bool",
    "BytesType": "bytes",
    "DoubleType": "double",
    "IntType": "int",
    "ListType": "list",
    "MapType": "map",
    "NullType": "null_type",
    "NoneType": "null_type",
    "StringType": "string",
    "UintType": "uint",
    "TypeType": "type",
    "TimestampType": "google.protobuf.Timestamp",
    "DurationType": "google.protobuf.Duration",
}

if __name__ == "__main__":
    _serve()
