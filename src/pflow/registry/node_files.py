"""Reads the files that declare nodes. Keeps a stamp of each, and a note of each that cannot be read."""

import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import orjson

_LARGEST: Final = 64 * 1024 * 1024
_READING: Final = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
"""Opening a pipe must not wait for somebody who writes to it."""
_SHAPE: Final = 'A file of nodes is {"nodes": [{"type": …, "description": …, "run": …}, …]}.'
Stamp = list[int] | None
"""None for what is not there."""


class Reading:
    def __init__(self) -> None:
        self.stamps: dict[str, Stamp] = {}
        self.problems: list[Problem] = []

    def tell(self, where: str, problem: str, hint: str = _SHAPE) -> None:
        self.problems.append(Problem(where, problem, hint))

    def listed(self, folder: Path) -> list[str]:
        """The names of the JSON files of a folder in their order; none if it is not there."""
        self.stamps[str(folder)] = stamp_of(str(folder))
        try:
            names = sorted(name for name in os.listdir(folder) if name.endswith(".json"))
        except FileNotFoundError:
            return []
        except OSError as wrong:
            self.tell(folder.name, f"It cannot be listed: {why(wrong)}.", "Look at its permissions.")
            return []
        readable = [name for name in names if _is_text(name)]
        if len(readable) < len(names):
            self.tell(folder.name, "It has files whose names are no text.", "Rename them.")
        return readable

    def json(self, path: str, where: str) -> Any:
        """What a file holds; None where there is no file, or none that can be read."""
        try:
            data = self.bytes(path)
            return None if data is None else orjson.loads(data)
        except OSError as wrong:
            self.tell(where, f"It cannot be read: {why(wrong)}.", "Look at the file and its permissions.")
        except ValueError as wrong:
            self.tell(where, f"It is not JSON: {wrong}.")
        return None

    def bytes(self, path: str) -> bytes | None:
        """What is in a file; None where there is none. Raises OSError for what is no file, or cannot be read."""
        self.stamps[path] = None
        try:
            opened = os.open(path, _READING)
        except FileNotFoundError:
            return None
        except OSError:
            self.stamps[path] = stamp_of(path)
            raise
        try:
            # The stamp is older than what is read, never younger.
            seen = os.fstat(opened)
            self.stamps[path] = stamp_from(seen)
            if not stat.S_ISREG(seen.st_mode) or seen.st_size > _LARGEST:
                raise OSError(0, "it is no file, or larger than such a file may be")
            return os.read(opened, seen.st_size + 1)
        finally:
            os.close(opened)


def _is_text(name: str) -> bool:
    """Whether a file name can be told to others: the system allows bytes that are no characters."""
    return not any("\ud800" <= char <= "\udfff" for char in name)


def why(wrong: Exception) -> str:
    """What an error says, without a path of this machine."""
    said = wrong.strerror if isinstance(wrong, OSError) else str(wrong)
    return (said or type(wrong).__name__).rstrip(".")


def stamp_of(path: str) -> Stamp:
    try:
        return stamp_from(os.stat(path))
    except (OSError, ValueError):
        return None


def stamp_from(seen: os.stat_result) -> list[int]:
    return [seen.st_mtime_ns, seen.st_ctime_ns, seen.st_size]


def unchanged(stamps: Mapping[str, Stamp]) -> bool:
    """Whether all of them are as they were."""
    return all(stamp_of(path) == stamp for path, stamp in stamps.items())


@dataclass(frozen=True, slots=True)
class Problem:
    """`where` is a file as seen from the pflow home, or what else declares nodes."""

    where: str
    problem: str
    hint: str = ""

    def __str__(self) -> str:
        return f"{self.where}: {self.problem} {self.hint}".rstrip()

    def plain(self) -> dict[str, str]:
        return {"where": self.where, "problem": self.problem, "hint": self.hint}
