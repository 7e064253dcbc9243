"""The library's settings: what `serve` takes as options, and the environment and settings file as well."""

from pathlib import Path
from typing import Final

from pydantic import BaseModel, ConfigDict, Field, SecretStr

from uraniborg.kernel.settings import LoadedSettings, own_folder, read_settings

SECTION: Final = "library"


class LibraryConfig(BaseModel):
    """Set by `URANIBORG_LIBRARY__NAME` or under `[library]` in the settings file."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    shelf: Path | None = None
    """The shelf that a paper search looks on, and that `serve` serves when none is named."""
    host: str = "127.0.0.1"
    port: int = Field(default=8421, ge=0, le=65_535)
    allow_origins: list[str] = Field(default_factory=list)
    """Web origins that may call `/mcp` beside those of this machine, written exactly: https://app.example.org."""
    allow_hosts: list[str] = Field(default_factory=list)
    """Names, with port if any, by which the server is called; for use behind a proxy."""
    static_base_url: str | None = None
    """Where assets are fetched that are not in the shelf's static folder."""
    token: SecretStr | None = None
    """What callers must send as `Authorization: Bearer …`."""
    insecure: bool = False
    """Serve addresses that others can reach without a token."""
    workers: int = Field(default=1, ge=1, le=64)
    threads: int = Field(default=8, ge=1, le=256)
    """For searches and reading, in each worker."""
    query_timeout_s: float = Field(default=5.0, gt=0, le=300)
    asset_timeout_s: float = Field(default=10.0, gt=0, le=300)
    body_limit: int = Field(default=1_000_000, ge=1_000, le=100_000_000)
    """The largest request to `/mcp`, in bytes."""
    extra_tools: bool = True
    """Offer read_paper_section and export_citations; false leaves the six tools of the specification."""


def load_config() -> LibraryConfig:
    """Return the settings. Raises InvalidConfig."""
    return read_config().settings


def read_config() -> LoadedSettings[LibraryConfig]:
    """Return the settings with the origin of each; a `.env` file sets none of them. Raises InvalidConfig."""
    return read_settings(LibraryConfig, section=SECTION)


def sample_shelf_path() -> Path:
    """Where the sample shelf is built on first use."""
    return own_folder("data", "library") / "sample-shelf"
