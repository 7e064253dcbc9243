"""The folders of data, cache, configuration and workflows, and their contents."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from uraniborg.kernel.settings import cache_dir, config_dir, data_dir


@dataclass(frozen=True)
class Location:
    """A file or folder of this installation."""

    name: str
    path: Path
    purpose: str

    @property
    def size(self) -> int:
        """Return the size of all files in it, in bytes; 0 if it does not exist."""
        return sum(list_file_sizes(self.path))


def list_locations() -> list[Location]:
    """Return all locations, whether they exist or not. Raise InvalidConfig."""
    from pflow.config import load_settings

    data = data_dir()
    return [
        Location("config", config_dir() / "uraniborg.toml", "your settings"),
        Location("sessions", data / "paper_search" / "sessions", "searches and their decisions"),
        Location("inbox", data / "inbox.db", "questions to you, and your answers"),
        Location("universes", data / "universe", "universes and their logs"),
        Location("library", data / "library", "the sample shelf"),
        Location("workflows", load_settings().home.expanduser(), "workflows, runs and what resumes them"),
        Location("cache", cache_dir(), "answers of sources; can be deleted"),
    ]


def list_file_sizes(path: Path) -> Iterator[int]:
    """Yield the size of each file at or below `path`. Links are not followed."""
    if path.is_symlink():
        return
    if path.is_file():
        yield path.stat().st_size
    elif path.is_dir():
        for inner in path.rglob("*"):
            if inner.is_file() and not inner.is_symlink():
                yield inner.stat().st_size
