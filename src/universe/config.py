"""The universe's settings: what `serve` takes as options, and the environment and settings file as well."""

from typing import Final

from pydantic import BaseModel, ConfigDict, Field, SecretStr

from uraniborg.kernel.settings import LoadedSettings, data_dir, read_settings

SECTION: Final = "universe"


class UniverseConfig(BaseModel):
    """Set by `URANIBORG_UNIVERSE__NAME` or under `[universe]` in the settings file."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    db: SecretStr | None = None
    """Where universes are kept: sqlite:///PATH, postgresql://… (which may hold a password), or memory:."""
    host: str = "127.0.0.1"
    port: int = Field(default=3001, ge=0, le=65_535)
    allow_origins: list[str] = Field(default_factory=list)
    """Web origins that may call beside those of this machine, written exactly: https://app.example.org."""
    allow_hosts: list[str] = Field(default_factory=list)
    """Names, with port if any, by which the server is called; for use behind a proxy."""
    token: SecretStr | None = None
    """What callers must send as `Authorization: Bearer …`."""
    insecure: bool = False
    """Serve addresses that others can reach without a token."""
    body_limit: int = Field(default=10_000_000, ge=1_000, le=1_000_000_000)
    """The largest request, in bytes."""
    snapshot_every: int = Field(default=500, ge=1, le=1_000_000)
    """After how many changes the whole state is written once more, for a quick start."""
    heartbeat_s: float = Field(default=15.0, gt=0, le=300)
    """How often an event stream with nothing to tell says so."""
    stall_s: float = Field(default=30.0, gt=0, le=600)
    """How long a listener may take no bytes before it is dropped."""
    session_idle_s: float = Field(default=1_800.0, gt=0, le=86_400)
    """After how long an unused MCP session ends."""
    max_sessions: int = Field(default=1_000, ge=1, le=100_000)

    @property
    def address(self) -> str:
        """The address of the database: the one set, or the file in the data folder."""
        if self.db is not None:
            return self.db.get_secret_value()
        return f"sqlite:///{data_dir() / 'universe' / 'universes.db'}"


def load_config() -> UniverseConfig:
    """Return the settings. Raises InvalidConfig."""
    return read_config().settings


def read_config() -> LoadedSettings[UniverseConfig]:
    """Return the settings with the origin of each; a `.env` file sets none of them. Raises InvalidConfig."""
    return read_settings(UniverseConfig, section=SECTION)
