"""Settings that every HTTP server has."""

from pydantic import BaseModel, ConfigDict, Field, SecretStr


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
