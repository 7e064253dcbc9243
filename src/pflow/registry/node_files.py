"""Read the files that declare nodes, with a stamp of each file and the problems of unreadable ones."""

import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import orjson

from uraniborg.kernel.boundary import is_encodable

if TYPE_CHECKING:
    from uraniborg.kernel.json_values import Json

_LARGEST: Final = 64 * 1024 * 1024
_READING: Final = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
"""Opening a pipe must not wait for a writer."""
_SHAPE: Final = 'A file of nodes is {"nodes": [{"type": …, "description": …, "run": …}, …]}.'
Stamp = list[int] | None
"""None for a missing file."""


class NodeFileReader:
    def __init__(self) -> None:
        self.stamps: dict[str, Stamp] = {}
        self.problems: list[Problem] = []

    def add_problem(self, where: str, problem: str, hint: str = _SHAPE) -> None:
        self.problems.append(Problem(where, problem, hint))

    def list_json_files_and_stamp(self, folder: Path) -> list[str]:
        """Stamp a folder, and return the sorted names of its JSON files; empty if there is no folder."""
        self.stamps[str(folder)] = make_path_stamp(str(folder))
        try:
            names = sorted(name for name in os.listdir(folder) if name.endswith(".json"))
        except FileNotFoundError:
            return []
        except OSError as error:
            self.add_problem(
                folder.name, f"It cannot be listed: {describe_error_without_path(error)}.", "Check its permissions."
            )
            return []
        readable = [name for name in names if is_encodable(name)]
        if len(readable) < len(names):
            self.add_problem(folder.name, "It has files whose names are not valid text.", "Rename them.")
        return readable

    def read_json_and_stamp(self, path: str, where: str) -> "Json":
        """Stamp a JSON file, and return its value. Record a problem and return None if it is unreadable."""
        try:
            data = self.read_bytes_and_stamp(path)
            return None if data is None else orjson.loads(data)
        except OSError as error:
            self.add_problem(
                where,
                f"It cannot be read: {describe_error_without_path(error)}.",
                "Check the file and its permissions.",
            )
        except ValueError as error:
            self.add_problem(where, f"It is not JSON: {error}.")
        return None

    def read_bytes_and_stamp(self, path: str) -> bytes | None:
        """Stamp a file, and return its content; None if it is missing. Raise OSError for other problems."""
        self.stamps[path] = None
        try:
            opened = os.open(path, _READING)
        except FileNotFoundError:
            return None
        except OSError:
            self.stamps[path] = make_path_stamp(path)
            raise
        try:
            # Stamp before reading, so that a later change is detected.
            seen = os.fstat(opened)
            self.stamps[path] = make_status_stamp(seen)
            if not stat.S_ISREG(seen.st_mode) or seen.st_size > _LARGEST:
                raise OSError(0, "it is not a regular file, or it is too large")
            return os.read(opened, seen.st_size + 1)
        finally:
            os.close(opened)


def describe_error_without_path(error: Exception) -> str:
    """Return the message of an error, without a path of this machine."""
    message = error.strerror if isinstance(error, OSError) else str(error)
    return (message or type(error).__name__).rstrip(".")


def make_path_stamp(path: str) -> Stamp:
    try:
        return make_status_stamp(os.stat(path))
    except (OSError, ValueError):
        return None


def make_status_stamp(seen: os.stat_result) -> list[int]:
    return [seen.st_mtime_ns, seen.st_ctime_ns, seen.st_size]


def are_files_unchanged(stamps: Mapping[str, Stamp]) -> bool:
    """Return True if no file has changed since it was stamped."""
    return all(make_path_stamp(path) == stamp for path, stamp in stamps.items())


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem with a declaration. `where` is a file relative to the pflow home, or another source of nodes."""

    where: str
    problem: str
    hint: str = ""

    def __str__(self) -> str:
        return f"{self.where}: {self.problem} {self.hint}".rstrip()

    def to_dict(self) -> dict[str, str]:
        return {"where": self.where, "problem": self.problem, "hint": self.hint}
