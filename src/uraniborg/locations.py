"""Know every folder of this installation: data, cache, configuration, workflows and logs, and why it is there."""

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from uraniborg.kernel.settings import CONFIG, HOME, Origin, OriginKind, cache_dir, config_dir, data_dir

SQLITE: Final = "sqlite:///"
PART_CONFIGS: Final = {
    "uraniborg": "uraniborg.kernel.person",
    "search": "paper_search.config",
    "library": "paper_library.config",
    "universe": "universe.config",
    "pflow": "pflow.config",
    "decisions": "uraniborg.kernel.deciders",
    "console": "uraniborg.console.config",
}
"""The module of each part whose `read_config` returns its settings; `uraniborg` has those of all parts."""


@dataclass(frozen=True)
class InstallationPath:
    """A file or folder of this installation."""

    name: str
    path: Path
    purpose: str
    origin: Origin
    """Where its path comes from."""
    is_folder: bool = True
    files: str = ""
    """The pattern of its files in the folder, if the folder has others too."""

    @property
    def size(self) -> int:
        """Return the size of all its files, in bytes; 0 if it does not exist."""
        return sum(list_file_sizes(self.path, self.files or "*"))

    @property
    def display_text(self) -> str:
        """Return the path, with the pattern of the files."""
        return str(self.path / self.files) if self.files else str(self.path)


def list_locations() -> list[InstallationPath]:
    """Return all locations, whether they exist or not. Raise InvalidConfig."""
    from paper_search.config import read_config as read_search_config
    from pflow.config import read_config as read_workflow_config

    data, own = data_dir(), _find_home_origin()
    search, workflow = read_search_config(), read_workflow_config()
    home, home_origin = workflow.settings.home.expanduser(), workflow.find_origin("home")
    named = os.environ.get(CONFIG)
    settings_file = Path(named).expanduser() if named else config_dir() / "uraniborg.toml"
    cache = search.settings.cache_dir
    return [
        InstallationPath(
            *("config", settings_file, "your settings"),
            Origin(OriginKind.ENVIRONMENT, CONFIG) if named else own,
            is_folder=False,
        ),
        InstallationPath("data", data, "all of the data below, unless another path is set", own),
        InstallationPath("sessions", data / "paper_search" / "sessions", "searches and their decisions", own),
        InstallationPath("inbox", data / "inbox.db", "questions to you, and your answers", own, is_folder=False),
        find_universe_location(),
        InstallationPath("library", data / "library", "the sample shelf", own),
        InstallationPath("workflows", home, "workflows, runs, and the results that resume them", home_origin),
        InstallationPath(
            *("logs", home, "the output of scheduled runs; servers log to stderr", home_origin), files="schedule-*.log"
        ),
        InstallationPath(
            *("cache", cache or cache_dir(), "answers of sources; can be deleted"),
            search.find_origin("cache_dir") if cache else own,
        ),
    ]


def find_universe_location() -> InstallationPath:
    """Return the folder of universes, or the file that the settings name. Raise InvalidConfig."""
    from universe.config import read_config

    loaded = read_config()
    address = loaded.settings.database_address
    if loaded.settings.db is None:
        return InstallationPath("universes", data_dir() / "universe", "universes and their logs", _find_home_origin())
    origin = loaded.find_origin("db")
    if address.startswith(SQLITE):
        path = Path(address.removeprefix(SQLITE)).expanduser()
        return InstallationPath("universes", path, "universes and their logs", origin, is_folder=False)
    kind = address.partition(":")[0]
    purpose = f"high-water marks; the universes are in another database ({kind})"
    return InstallationPath("universes", data_dir() / "universe", purpose, origin)


def _find_home_origin() -> Origin:
    return Origin(OriginKind.ENVIRONMENT, HOME) if os.environ.get(HOME) else Origin(OriginKind.DEFAULT)


def list_file_sizes(path: Path, pattern: str = "*") -> Iterator[int]:
    """Yield the size of each file at or below `path` whose name matches. Links are not followed."""
    if path.is_symlink():
        return
    if path.is_file():
        yield path.stat().st_size
    elif path.is_dir():
        for inner in path.rglob(pattern):
            with suppress(FileNotFoundError):  # deleted since it was listed
                if inner.is_file() and not inner.is_symlink():
                    yield inner.stat().st_size
