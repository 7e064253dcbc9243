"""Settings that every HTTP server has, and the comparison of hosts and origins with the allowed ones."""

import re
from collections.abc import Collection
from typing import Final

from pydantic import BaseModel, ConfigDict, Field, SecretStr

from uraniborg.kernel.errors import Refused


class HttpConfig(BaseModel):
    """The settings of an HTTP server; a part derives its own settings from this class."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    host: str = "127.0.0.1"
    port: int = Field(default=0, ge=0, le=65_535)
    allow_origins: list[str] = Field(default_factory=list)
    """Web origins that may call beside those of this machine, written exactly: https://app.example.org."""
    allow_hosts: list[str] = Field(default_factory=list)
    """Names, with port if any, by which the server is called; for use behind a proxy."""
    token: SecretStr | None = None
    """The token that callers must send as `Authorization: Bearer …`."""
    insecure: bool = False
    """Serve addresses that others can reach without a token."""
    body_limit: int = Field(default=1_000_000, ge=1_000, le=100_000_000)
    """The largest request, in bytes."""

    def get_plain_token(self) -> str | None:
        """Return the token as plain text, or None."""
        return self.token.get_secret_value() if self.token else None


LOOPBACK: Final = "loopback"
"""Among origins or hosts: localhost, 127.0.0.1 and [::1], at any port."""

_LOOPBACK_HOST: Final = re.compile(r"(?:localhost|127\.0\.0\.1|\[::1\])(?::[0-9]{1,5})?", re.IGNORECASE | re.ASCII)


class HostRefused(Refused):
    code = "host_not_allowed"
    status = 421

    def __init__(self) -> None:
        super().__init__("This server does not have this host name.", hint="Use a host name from its settings.")


class OriginRefused(Refused):
    code = "origin_not_allowed"

    def __init__(self) -> None:
        super().__init__(
            "Requests from this origin are not allowed.",
            hint="Call from outside a browser, or add the origin to the server's allow_origins.",
        )


def format_authority(host: str) -> str:
    """Return a host as URLs and headers write it: an IPv6 address in brackets."""
    return f"[{host}]" if ":" in host else host


def is_loopback(authority: str) -> bool:
    """Return True if a host, with or without port, is exactly a loopback name or address."""
    return _LOOPBACK_HOST.fullmatch(authority) is not None


def list_host_names(host: str, allowed: Collection[str]) -> list[str] | None:
    """Return the allowed host names; those of this machine if only it can call; None for any name."""
    if allowed:
        return [*allowed, LOOPBACK]
    return [LOOPBACK] if is_loopback(format_authority(host)) else None


def is_host(authority: str, hosts: Collection[str]) -> bool:
    """Return True if a Host header names one of `hosts`."""
    if authority in hosts:
        return authority != LOOPBACK
    return LOOPBACK in hosts and is_loopback(authority)


def is_origin(origin: str, origins: Collection[str]) -> bool:
    """Return True if an Origin header is one of `origins`."""
    if origin in origins:
        return origin != LOOPBACK
    scheme, separator, host = origin.partition("://")
    return LOOPBACK in origins and scheme in ("http", "https") and bool(separator) and is_loopback(host)
