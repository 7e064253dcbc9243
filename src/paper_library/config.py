"""Settings of the library: those of every HTTP server, the shelf, and the limits of searches."""

from pathlib import Path
from typing import Final

from pydantic import Field

from uraniborg.kernel.http.config import HttpConfig, format_authority
from uraniborg.kernel.settings import LoadedSettings, OriginKind, read_settings, secure_own_folder

SECTION: Final = "library"
_ALL_INTERFACES: Final = ("0.0.0.0", "::", "")  # noqa: S104 - compared, not listened on


class LibraryConfig(HttpConfig):
    """Set by `URANIBORG_LIBRARY__NAME` or under `[library]` in the settings file."""

    shelf: Path | None = None
    """The shelf that a paper search searches, and that `serve` serves when none is named."""
    port: int = Field(default=8421, ge=0, le=65_535)
    static_base_url: str | None = None
    """The address of assets that are not in the shelf's static folder."""
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
    """Return the settings. Raise InvalidConfig."""
    return read_config().settings


def read_config() -> LoadedSettings[LibraryConfig]:
    """Return the settings with the origin of each; a `.env` file sets none of them. Raise InvalidConfig."""
    return read_settings(LibraryConfig, section=SECTION)


def find_stated_address() -> str | None:
    """Return the address of the server if the settings state a host or a port, otherwise None. Raise InvalidConfig."""
    known = read_config()
    host, port = known.settings.host, known.settings.port
    if not port or all(known.find_origin(name).kind is OriginKind.DEFAULT for name in ("host", "port")):
        return None
    return f"http://{format_authority('127.0.0.1' if host in _ALL_INTERFACES else host)}:{port}"


def get_sample_shelf_path() -> Path:
    """Return the path of the sample shelf, which is built on first use."""
    return secure_own_folder("data", "library") / "sample-shelf"
