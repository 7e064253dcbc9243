"""Settings of universes: those of every HTTP server, the database, and limits of streams and sessions."""

import re
from pathlib import Path
from typing import Final, Self

from pydantic import Field, SecretStr

from uraniborg.kernel.http.config import HttpConfig
from uraniborg.kernel.settings import LoadedSettings, data_dir, read_settings

SECTION: Final = "universe"
SQLITE: Final = "sqlite:///"
_ADDRESS: Final = re.compile("[a-z]{2,}:")
"""The start of an address; anything else is a path, also one with the letter of a drive."""


class UniverseConfig(HttpConfig):
    """Set by `URANIBORG_UNIVERSE__NAME` or under `[universe]` in the settings file."""

    db: SecretStr | None = None
    """The database: the path of an SQLite file, postgresql://… (which may hold a password), or memory:."""
    port: int = Field(default=3001, ge=0, le=65_535)
    body_limit: int = Field(default=10_000_000, ge=1_000, le=1_000_000_000)
    """The largest request, in bytes."""
    snapshot_every: int = Field(default=500, ge=1, le=1_000_000)
    """The number of changes between two snapshots of the state."""
    heartbeat_s: float = Field(default=15.0, gt=0, le=300)
    """The interval of heartbeats in a quiet event stream."""
    stall_s: float = Field(default=30.0, gt=0, le=600)
    """The time that a listener may read nothing before it is disconnected."""
    session_idle_s: float = Field(default=1_800.0, gt=0, le=86_400)
    """The time after which an unused MCP session ends."""
    max_sessions: int = Field(default=1_000, ge=1, le=100_000)
    max_jobs: int = Field(default=2, ge=1, le=1_000)
    """The number of jobs (N-body runs, transits, radial velocities) that are computed at once."""
    max_ended_jobs: int = Field(default=1_000, ge=1, le=1_000_000)
    """The number of ended jobs that are stored; older ones are deleted, except those of a story."""

    @property
    def database_address(self) -> str:
        """Return the address of the database: the one set, or the file in the data folder."""
        given = self.db.get_secret_value() if self.db is not None else str(data_dir() / "universe" / "universes.db")
        return given if _ADDRESS.match(given) else f"{SQLITE}{given}"

    @property
    def database_path(self) -> Path | None:
        """Return the file of the database; None for a database that is not a file."""
        address = self.database_address
        return Path(address.removeprefix(SQLITE)).expanduser() if address.startswith(SQLITE) else None

    def with_database(self, db: str, folder: Path) -> Self:
        """Return these settings with another database: an address, or a path, which starts in `folder`."""
        changed = self.model_copy(update={"db": SecretStr(db)})
        path = changed.database_path
        return changed if path is None else changed.model_copy(update={"db": SecretStr(str(folder / path))})


def load_config() -> UniverseConfig:
    """Return the settings. Raise InvalidConfig."""
    return read_config().settings


def read_config() -> LoadedSettings[UniverseConfig]:
    """Return the settings with the origin of each; a `.env` file sets none of them. Raise InvalidConfig."""
    return read_settings(UniverseConfig, section=SECTION)
