"""The files below the inputs of a build: regular files inside the given folders, and reasons for everything else.

A path that a person names is read even if it is a link. Inside a folder a link to a file is followed only if the file
lies in one of the inputs; links to folders are not followed. What is not a regular file is never opened.
"""

import os
import stat
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from paper_library.build.entry import Problem
from paper_library.build.id_register import is_register
from paper_library.errors import InputNotFound
from paper_library.regular_files import resolve_links
from paper_library.store.layout import DATABASE, MANIFEST
from uraniborg.kernel.errors import is_out_of_room
from uraniborg.kernel.files import shown
from uraniborg.kernel.text import replace_surrogates

_KERNEL: Final = (Path("/proc"), Path("/sys"))
"""Folders of views of the machine: their files look regular, and can hold secrets or never end."""


@dataclass(frozen=True, slots=True)
class FoundFile:
    path: Path
    """Absolute, under the name that it has among the inputs."""
    real: Path
    """The same without links: the path to open."""
    origin: str
    """How the file is called in the shelf and in reports: below the folder that was given."""
    is_in_folder: bool
    """False if the file itself was given."""


@dataclass(slots=True)
class Found:
    files: list[FoundFile] = field(default_factory=list[FoundFile])
    problems: list[Problem] = field(default_factory=list[Problem])


def find_files(given: Sequence[Path], *, leave_out: Collection[Path] = ()) -> Found:
    """Return the files of the inputs, each once. Raises InputNotFound for an input that does not exist.

    Folders in `leave_out` are passed over.
    """
    search = _Search(given, {path.absolute() for path in leave_out})
    for path in given:
        search.add(path)
    return Found(list(search.files.values()), search.problems)


class _Search:
    def __init__(self, given: Sequence[Path], apart: Collection[Path]) -> None:
        self._apart = apart
        self._roots = [real for path in given if (real := _resolve(path))]
        self.files: dict[Path, FoundFile] = {}
        self.problems: list[Problem] = []

    def add(self, given: Path) -> None:
        """Add the files of one input. Raises InputNotFound."""
        try:
            mode = given.stat().st_mode
        except (FileNotFoundError, NotADirectoryError, ValueError):
            raise InputNotFound(
                f"There is no {shown(given)}.", hint="Name files or folders that exist.", input=shown(given)
            ) from None
        except OSError as exc:
            self._report_error(replace_surrogates(given.name), exc)
            return
        if stat.S_ISDIR(mode):
            self._add_folder(given)
        else:
            self._add_file(given, replace_surrogates(given.name), is_in_folder=False)

    def _add_folder(self, top: Path) -> None:
        """Add the files below a folder, without hidden ones."""
        folders, real = [top], _resolve(top) or top
        while folders:
            folder = folders.pop()
            if _is_of_kernel(real / folder.relative_to(top)):
                self._skip(replace_surrogates(shown(folder)), "It is a folder of the operating system, not of papers.")
                continue
            for path, mode in self._entries(folder, top):
                if not stat.S_ISDIR(mode):
                    self._add_file(path, replace_surrogates(path.relative_to(top).as_posix()), is_in_folder=True)
                elif path.absolute() not in self._apart:
                    folders.append(path)

    def _entries(self, folder: Path, top: Path) -> Iterator[tuple[Path, int]]:
        """Yield what lies in a folder, with its kind; nothing for a shelf, which is reported."""
        origin = replace_surrogates(folder.name if folder == top else folder.relative_to(top).as_posix())
        try:
            with os.scandir(folder) as entries:
                listed = sorted((entry for entry in entries if not entry.name.startswith(".")), key=lambda e: e.name)
        except OSError as exc:
            self._report_error(origin, exc, "The folder")
            return
        if {MANIFEST, DATABASE} <= {entry.name for entry in listed}:
            reason = "It is a shelf. Name it with --update to have its papers on the new one."
            self.problems.append(Problem(origin, "skipped", reason))
            return
        for entry in listed:
            path = folder / entry.name
            try:
                yield path, entry.stat(follow_symlinks=False).st_mode
            except OSError as exc:  # gone since, or not to be reached
                self._report_error(replace_surrogates(path.relative_to(top).as_posix()), exc)

    def _add_file(self, path: Path, origin: str, *, is_in_folder: bool) -> None:
        """Add a file, or report why it is not read."""
        try:
            real = resolve_links(path)
            mode = real.stat().st_mode
        except FileNotFoundError:
            self._skip(origin, "It is a link that leads nowhere." if path.is_symlink() else "It is gone.")
        except OSError as exc:
            self._report_error(origin, exc)
        else:
            if is_in_folder and not any(real == root or root in real.parents for root in self._roots):
                self._skip(
                    origin, "It is a link that leads out of the inputs. Name what it leads to as an input as well."
                )
            elif stat.S_ISDIR(mode):
                return  # a link to a folder of the inputs, which is read under its own name
            elif not stat.S_ISREG(mode):
                self._skip(origin, "It is not a regular file, but a pipe, socket or device.")
            elif _is_of_kernel(real):
                self._skip(origin, "It is a file of the operating system, not a paper.")
            elif not (is_in_folder and is_register(real)):
                self._put(path.absolute(), real, origin, is_in_folder=is_in_folder)

    def _put(self, path: Path, real: Path, origin: str, *, is_in_folder: bool) -> None:
        if known := self.files.get(path):
            # By the longest name that any argument gives it, whichever comes first.
            origin = max(known.origin, origin, key=lambda name: (len(name), name))
            is_in_folder = is_in_folder or known.is_in_folder
        self.files[path] = FoundFile(path, real, origin, is_in_folder)

    def _skip(self, origin: str, reason: str) -> None:
        self.problems.append(Problem(origin, "skipped", reason))

    def _report_error(self, origin: str, exc: OSError, subject: str = "It") -> None:
        if is_out_of_room(exc):
            raise exc
        self.problems.append(Problem(origin, "broken", f"{subject} cannot be read: {exc.strerror}."))


def _is_of_kernel(real: Path) -> bool:
    return any(real.is_relative_to(folder) for folder in _KERNEL)


def _resolve(path: Path) -> Path | None:
    """Return the path without links, or None if it leads nowhere."""
    try:
        return resolve_links(path)
    except (OSError, ValueError):
        return None
