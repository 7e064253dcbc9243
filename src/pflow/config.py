"""Settings of this part. Where nothing is set, nothing is loaded to read them."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from uraniborg.kernel.settings import LoadedSettings, read_settings

SECTION: Final = "pflow"
ALIASES: Final = {"PFLOW_HOME": "home", "PFLOW_TIMEOUT": "timeout", "PFLOW_CLUSTER": "cluster"}


@dataclass(frozen=True)
class Settings:
    """Where workflows are kept, and how they are run."""

    home: Path = Path("~/.pflow")
    """The folder of workflows, nodes, checkpoints and the log of runs."""
    timeout: float | None = None
    """Seconds that a run may take; none unless the workflow says so."""
    checkpoint_hours: float = 24.0
    """For how long a failed run can be resumed."""
    pass_env: tuple[str, ...] = ()
    """Names of variables that the programs which nodes start inherit, beside those that every child does."""
    cluster: str | None = None
    """The address of a Dask scheduler on which nodes run; none for this process."""


def load(env: Mapping[str, str] | None = None) -> Settings:
    """Return the settings. Raises InvalidConfig."""
    return read_config(env).settings


def read_config(env: Mapping[str, str] | None = None) -> LoadedSettings[Settings]:
    """Return the settings with the origin of each. Raises InvalidConfig."""
    env = os.environ if env is None else env
    return read_settings(Settings, section=SECTION, aliases=ALIASES, env=env, from_dotenv=("timeout",))
