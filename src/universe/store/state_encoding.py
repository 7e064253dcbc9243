"""States as bytes for logs and snapshots: JSON, compressed if it is large."""

import zlib
from typing import Any, Final

import orjson

_COMPRESSED_FROM: Final = 16 * 1024
"""The size in bytes from which JSON is compressed."""
_LEVEL: Final = 1
"""Higher levels save little and take several times as long."""


def encode_json(value: Any) -> bytes:
    """Return a value as JSON, compressed by zlib if it is large."""
    json = orjson.dumps(value)
    return json if len(json) < _COMPRESSED_FROM else zlib.compress(json, _LEVEL)


def decode_json(encoded: bytes) -> Any:
    """Return the value that `encode_json` encoded, or that a release without compression wrote as JSON.

    Raise orjson.JSONDecodeError or zlib.error.
    """
    return orjson.loads(encoded if encoded.startswith(b"{") else zlib.decompress(encoded))
