"""Settings of pflow."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from uraniborg.kernel.settings import HOME, LoadedSettings, Origin, OriginKind, read_settings

SECTION: Final = "pflow"
ALIASES: Final = {"PFLOW_HOME": "home", "PFLOW_TIMEOUT": "timeout", "PFLOW_CLUSTER": "cluster"}
SCHEDULE_VARIABLE: Final = "PFLOW_SCHEDULE"
"""The variable that a scheduler sets for the runs that it starts; its value is the time of the schedule."""


@dataclass(frozen=True)
class Settings:
    """The settings: where workflows are stored and how they run."""

    home: Path = Path("~/.pflow")
    """The folder of workflows, nodes, checkpoints and the log of runs; `pflow` in URANIBORG_HOME if that is set."""
    timeout: float | None = None
    """Seconds that a run may take; no limit by default."""
    checkpoint_hours: float = 24.0
    """How many hours a failed run can be resumed."""
    reply_within_s: float = 50.0
    """Seconds after which `execute` replies although the person has not answered the dialog in the client."""
    pass_env: tuple[str, ...] = ()
    """Names of environment variables that the programs which nodes start inherit, in addition to the basic ones."""
    cluster: str | None = None
    """The address of a Dask scheduler that runs nodes; by default they run in this process."""


def load_settings(env: Mapping[str, str] | None = None) -> Settings:
    """Return the settings. Raise InvalidConfig."""
    return read_config(env).settings


def read_config(env: Mapping[str, str] | None = None) -> LoadedSettings[Settings]:
    """Return the settings with the origin of each. Raise InvalidConfig."""
    env = os.environ if env is None else env
    loaded = read_settings(Settings, section=SECTION, aliases=ALIASES, env=env, from_dotenv=("timeout",))
    if not (root := env.get(HOME)) or "home" in loaded.origins:
        return loaded
    settings = replace(loaded.settings, home=Path(root) / "pflow")
    return replace(loaded, settings=settings, origins={**loaded.origins, "home": Origin(OriginKind.ENVIRONMENT, HOME)})
