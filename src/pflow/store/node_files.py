"""Find and read the files that declare nodes, also those of installed packages, and import no code of nodes.

`importlib.metadata` is not used: importing it takes longer than loading the whole registry.
"""

import importlib.util
import os
import stat
import sys
from collections.abc import Iterator, Mapping
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
        self.problems: list[NodeFileProblem] = []

    def add_problem(self, where: str, problem: str, hint: str = _SHAPE) -> None:
        self.problems.append(NodeFileProblem(where, problem, hint))

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
class NodeFileProblem:
    """A problem with a declaration. `where` is a file relative to the pflow home, or another source of nodes."""

    where: str
    problem: str
    hint: str = ""

    def __str__(self) -> str:
        return f"{self.where}: {self.problem} {self.hint}".rstrip()

    def to_dict(self) -> dict[str, str]:
        return {"where": self.where, "problem": self.problem, "hint": self.hint}


GROUP: Final = "pflow.nodes"

Offer = list[str]
"""The distribution, the name of the entry point, and the module that it names."""
Folders = dict[str, tuple[Stamp, list[Offer]]]
"""The stamp and the offers of each folder of the import path."""


def scan_import_path(known_folders: Mapping[str, tuple[Stamp, list[Offer]]]) -> Folders:
    """Return the offers of all folders of the import path. Read only those that changed since `known_folders`."""
    found: Folders = {}
    for entry in sys.path:
        folder = str(entry) or "."
        stamp = make_path_stamp(folder)
        before = known_folders.get(folder)
        if stamp is not None:
            found[folder] = (stamp, before[1] if before and before[0] == stamp else list(_scan_folder(folder)))
    return found


def list_offers(folders: Folders) -> list[Offer]:
    """Return the offers of all folders. If a distribution is installed twice, the first counts."""
    first: dict[str, str] = {}
    return [
        offer
        for folder, (_, found) in folders.items()
        for offer in found
        if first.setdefault(offer[0], folder) == folder
    ]


def find_interface_file(module: str) -> Path | None:
    """Return the JSON file beside a module, located without importing its package."""
    top, *inner = module.split(".")
    try:
        spec = importlib.util.find_spec(top)
    except (ImportError, ValueError, AttributeError):
        return None
    if spec is None:
        return None
    if not inner:
        return Path(spec.origin).with_name(f"{top}.json") if spec.origin else None
    files = [Path(place, *inner).with_suffix(".json") for place in spec.submodule_search_locations or ()]
    return next((file for file in files if file.is_file()), files[0] if files else None)


def _scan_folder(folder: str) -> Iterator[Offer]:
    try:
        names = sorted(name for name in os.listdir(folder) if name.endswith((".dist-info", ".egg-info")))
    except OSError:
        return
    for name in names:
        try:
            declared = Path(folder, name, "entry_points.txt").read_bytes()
        except OSError:
            continue
        if GROUP.encode() in declared:
            distribution = name.rpartition(".")[0].partition("-")[0].lower().replace("-", "_")
            yield from (
                [distribution, key, module] for key, module in _parse_entry_points(declared.decode("utf-8", "replace"))
            )


def _parse_entry_points(text: str) -> Iterator[tuple[str, str]]:
    section = ""
    for line in map(str.strip, text.splitlines()):
        if line.startswith("["):
            section = line.strip("[] ")
        elif section == GROUP and "=" in line and not line.startswith(("#", ";")):
            name, _, value = line.partition("=")
            yield name.strip(), value.partition(":")[0].partition("[")[0].strip()
