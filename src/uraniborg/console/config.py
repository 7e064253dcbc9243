"""Settings of `uraniborg serve`."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Final

from pydantic import Field

from uraniborg.kernel.settings import LoadedSettings, read_settings

SECTION: Final = "console"


@dataclass(frozen=True)
class ConsoleConfig:
    """Set by `URANIBORG_CONSOLE__NAME` or under `[console]` in the settings file."""

    port: Annotated[int, Field(ge=0, le=65_535)] = 8420
    """The port of the API; 0 is any free port."""
    search_port: Annotated[int, Field(ge=0, le=65_535)] = 8422
    """The port of the search's MCP server."""


def read_config(env: Mapping[str, str] | None = None) -> LoadedSettings[ConsoleConfig]:
    """Return the settings with the origin of each; a `.env` file sets none of them. Raise InvalidConfig."""
    return read_settings(ConsoleConfig, section=SECTION, env=env)
