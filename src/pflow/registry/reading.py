"""Reads the files that declare nodes. Keeps a stamp of each, and a note of each that cannot be read."""

import os
from pathlib import Path
from typing import Any, Final

import orjson

from pflow.registry.problems import Problem
from pflow.registry.stamps import Stamp, stamp_of

_LARGEST: Final = 64 * 1024 * 1024
_SHAPE: Final = 'A file of nodes is {"nodes": [{"type": …, "description": …, "run": …}, …]}.'


class Reading:
    def __init__(self) -> None:
        self.stamps: dict[str, Stamp] = {}
        self.problems: list[Problem] = []

    def tell(self, where: str, problem: str, hint: str = _SHAPE) -> None:
        self.problems.append(Problem(where, problem, hint))

    def listed(self, folder: Path) -> list[Path]:
        """The JSON files of a folder in the order of their names; none if it is not there."""
        self.stamps[str(folder)] = stamp_of(folder)
        try:
            return [folder / name for name in sorted(os.listdir(folder)) if name.endswith(".json")]
        except FileNotFoundError:
            return []
        except OSError as wrong:
            self.tell(folder.name, f"It cannot be listed: {why(wrong)}.", "Look at its permissions.")
            return []

    def json(self, path: Path, where: str) -> Any:
        """What a file holds; None where there is no file, or none that can be read."""
        try:
            data = self.bytes(path)
            return None if data is None else orjson.loads(data)
        except OSError as wrong:
            self.tell(where, f"It cannot be read: {why(wrong)}.", "Look at the file and its permissions.")
        except ValueError as wrong:
            self.tell(where, f"It is not JSON: {wrong}.")
        return None

    def bytes(self, path: Path) -> bytes | None:
        """What is in a file; None where there is none. Raises OSError for what is no file, or cannot be read."""
        # The stamp is older than what is read, never younger.
        stamp = self.stamps[str(path)] = stamp_of(path)
        if stamp is None:
            return None
        if not path.is_file() or stamp[2] > _LARGEST:
            raise OSError(0, "it is no file, or larger than such a file may be")
        return path.read_bytes()


def why(wrong: Exception) -> str:
    """What an error says, without a path of this machine."""
    said = wrong.strerror if isinstance(wrong, OSError) else str(wrong)
    return (said or type(wrong).__name__).rstrip(".")
