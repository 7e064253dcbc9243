"""What the headers of a request must satisfy before anything of its body is read.

UraniborgError
├── Refused
│   ├── OriginRefused          403   the Origin header is not on the list
│   └── HostRefused            421   the Host header is not on the list
└── InvalidInput
    ├── MethodNotAllowed       405
    ├── UnsupportedVersion     400   MCP-Protocol-Version names no version this server speaks
    ├── NotAcceptable          406   the Accept header excludes JSON
    ├── UnsupportedMediaType   415   the body is not said to be JSON
    └── BodyTooLarge           413
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from mcp.shared.version import SUPPORTED_PROTOCOL_VERSIONS
from starlette.types import Scope

from uraniborg.kernel.errors import InvalidInput
from uraniborg.kernel.gate import check_json_type
from uraniborg.kernel.hosts import HostRefused, OriginRefused, is_host, is_origin

_READ: Final = frozenset(
    (
        b"accept",
        b"content-encoding",
        b"content-length",
        b"content-type",
        b"host",
        b"mcp-protocol-version",
        b"origin",
    )
)
_JSON_RANGES: Final = {"*": 0, "*/*": 0, "application/*": 1, "application/json": 2}

Headers = Mapping[bytes, bytes]


class MethodNotAllowed(InvalidInput):
    code = "method_not_allowed"
    status = 405


class UnsupportedVersion(InvalidInput):
    code = "unsupported_protocol_version"
    status = 400


class NotAcceptable(InvalidInput):
    code = "not_acceptable"
    status = 406


class BodyTooLarge(InvalidInput):
    code = "body_too_large"
    status = 413

    def __init__(self, limit: int) -> None:
        super().__init__(
            "The body is larger than this server takes.",
            hint=f"Send at most {limit:,} bytes in one request.",
            limit=limit,
        )


def read_headers(scope: Scope) -> Headers:
    """The headers of a request that have a say here. One sent twice is a list, and so is on none of ours."""
    found: dict[bytes, bytes] = {}
    for name, value in scope["headers"]:
        if name in _READ:
            found[name] = found[name] + b", " + value if name in found else value
    return found


@dataclass(frozen=True)
class Rules:
    """Which origins and hosts may call (compared exactly, but for LOOPBACK; None: any host), and by which methods."""

    methods: tuple[str, ...]
    origins: frozenset[str]
    hosts: frozenset[str] | None

    def check(self, method: str, headers: Headers) -> None:
        """Raises the refusal that a request with these headers deserves, the gravest first."""
        origin = headers.get(b"origin")
        if origin is not None and not is_origin(origin.decode("latin-1"), self.origins):
            raise OriginRefused
        if self.hosts is not None and not is_host(headers.get(b"host", b"").decode("latin-1"), self.hosts):
            raise HostRefused
        if method not in self.methods:
            raise MethodNotAllowed(
                f"{method[:20]} is not possible here.",
                hint=f"Use {', '.join(self.methods)}.",
                allowed=list(self.methods),
            )
        version = headers.get(b"mcp-protocol-version")
        if version is not None and version.decode("latin-1") not in SUPPORTED_PROTOCOL_VERSIONS:
            raise UnsupportedVersion(
                "The MCP-Protocol-Version header names a version this server does not speak.",
                hint=f"Use one of: {', '.join(SUPPORTED_PROTOCOL_VERSIONS)}.",
                allowed=list(SUPPORTED_PROTOCOL_VERSIONS),
            )


def check_content(headers: Headers, body_limit: int) -> None:
    """Raises unless the answer may be JSON and the body can be: by its type, its encoding and its length if told."""
    accept = headers.get(b"accept")
    if accept is not None and not accepts_json(accept):
        raise NotAcceptable("This server answers in JSON only.", hint="Accept application/json.")
    check_json_type(
        headers.get(b"content-type", b"").decode("latin-1"), headers.get(b"content-encoding", b"").decode("latin-1")
    )
    length = headers.get(b"content-length", b"0")
    # int() reads no more than 4,300 digits.
    if len(length) > 20 or (length.isdigit() and int(length) > body_limit):
        raise BodyTooLarge(body_limit)


@lru_cache(maxsize=64)
def accepts_json(accept: bytes) -> bool:
    """Whether an Accept header admits application/json, as the most specific of the ranges that cover it says."""
    if not accept.strip():
        return True
    deciding = (-1, 0.0)
    for item in accept.decode("latin-1").lower().split(","):
        media, *parameters = (part.strip() for part in item.split(";"))
        if media in _JSON_RANGES:
            deciding = max(deciding, (_JSON_RANGES[media], _quality(parameters)))
    return deciding[1] > 0


def _quality(parameters: list[str]) -> float:
    for parameter in parameters:
        if parameter.startswith("q="):
            try:
                return float(parameter[2:])
            except ValueError:
                break
    return 1.0
