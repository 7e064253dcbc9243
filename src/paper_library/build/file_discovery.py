"""Find input files: the regular files in the given folders, and a problem for each other path.

A named path is read even if it is a link. Inside a folder, a link to a file is followed only if the file is in one of
the inputs; links to folders are not followed. Only regular files are opened.
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
from paper_library.regular_files import resolve_existing, resolve_links
from paper_library.store.layout import DATABASE, MANIFEST
from uraniborg.kernel.boundary import make_encodable
from uraniborg.kernel.errors import is_out_of_room
from uraniborg.kernel.files import display_path

_KERNEL: Final = (Path("/proc"), Path("/sys"))
"""Kernel file systems: their files look regular, and can hold secrets or be endless."""


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A regular file of the inputs."""

    path: Path
    """The absolute path among the inputs, which may be a link."""
    real: Path
    """The path without links, which is opened."""
    origin: str
    """The path relative to the given folder, as shelves and reports show it."""
    is_in_folder: bool
    """False if the file itself was named."""


@dataclass(slots=True)
class FoundFiles:
    """The files of the inputs, and the problems of the paths that are not read."""

    files: list[FoundFile] = field(default_factory=list[FoundFile])
    problems: list[Problem] = field(default_factory=list[Problem])


def find_files(paths: Sequence[Path], *, excluded: Collection[Path] = ()) -> FoundFiles:
    """Return the files of the inputs, each once. Raise InputNotFound for an input that does not exist.

    Folders in `excluded` are skipped.
    """
    search = _FileSearch(paths, {path.absolute() for path in excluded})
    for path in paths:
        search.add_input(path)
    return FoundFiles(list(search.files.values()), search.problems)


class _FileSearch:
    """A search of the inputs for files."""

    def __init__(self, paths: Sequence[Path], excluded: Collection[Path]) -> None:
        self._excluded = excluded
        self._roots = [real for path in paths if (real := resolve_existing(path))]
        self.files: dict[Path, FoundFile] = {}
        self.problems: list[Problem] = []

    def add_input(self, path: Path) -> None:
        """Add the files of one input. Raise InputNotFound."""
        try:
            mode = path.stat().st_mode
        except (FileNotFoundError, NotADirectoryError, ValueError):
            raise InputNotFound(
                f"The input {display_path(path)} does not exist.",
                hint="Name existing files or folders.",
                input=display_path(path),
            ) from None
        except OSError as exc:
            self._report_or_reraise_error(make_encodable(path.name), exc)
            return
        if stat.S_ISDIR(mode):
            self._add_folder(path)
        else:
            self._add_file_or_report(path, make_encodable(path.name), is_in_folder=False)

    def _add_folder(self, top: Path) -> None:
        """Add the files below a folder, except hidden files."""
        folders, real = [top], resolve_existing(top) or top
        while folders:
            folder = folders.pop()
            if _is_kernel_path(real / folder.relative_to(top)):
                self._report_skipped(display_path(folder), "The folder belongs to the operating system.")
                continue
            for path, mode in self._list_folder_or_report(folder, top):
                if not stat.S_ISDIR(mode):
                    self._add_file_or_report(path, make_encodable(path.relative_to(top).as_posix()), is_in_folder=True)
                elif path.absolute() not in self._excluded:
                    folders.append(path)

    def _list_folder_or_report(self, folder: Path, top: Path) -> Iterator[tuple[Path, int]]:
        """Yield the paths in a folder with their modes; report a shelf and yield nothing."""
        origin = make_encodable(folder.name if folder == top else folder.relative_to(top).as_posix())
        try:
            with os.scandir(folder) as entries:
                listed = sorted((entry for entry in entries if not entry.name.startswith(".")), key=lambda e: e.name)
        except OSError as exc:
            self._report_or_reraise_error(origin, exc, "The folder")
            return
        if {MANIFEST, DATABASE} <= {entry.name for entry in listed}:
            reason = "The folder is a shelf. Use --update SHELF to add its papers."
            self.problems.append(Problem(origin, "skipped", reason))
            return
        for entry in listed:
            path = folder / entry.name
            try:
                yield path, entry.stat(follow_symlinks=False).st_mode
            except OSError as exc:  # removed meanwhile, or not accessible
                self._report_or_reraise_error(make_encodable(path.relative_to(top).as_posix()), exc)

    def _add_file_or_report(self, path: Path, origin: str, *, is_in_folder: bool) -> None:
        """Add a file, or report why it is not read."""
        try:
            real = resolve_links(path)
            mode = real.stat().st_mode
        except FileNotFoundError:
            self._report_skipped(origin, "The link has no target." if path.is_symlink() else "The file was removed.")
        except OSError as exc:
            self._report_or_reraise_error(origin, exc)
        else:
            if is_in_folder and not any(real == root or root in real.parents for root in self._roots):
                self._report_skipped(origin, "The link leads out of the inputs. Name its target as an input too.")
            elif stat.S_ISDIR(mode):
                return  # a link to a folder of the inputs, which is read under its real path
            elif not stat.S_ISREG(mode):
                self._report_skipped(origin, "The path is not a regular file but a pipe, socket or device.")
            elif _is_kernel_path(real):
                self._report_skipped(origin, "The file belongs to the operating system.")
            elif not (is_in_folder and is_register(real)):
                self._record_file(path.absolute(), real, origin, is_in_folder=is_in_folder)

    def _record_file(self, path: Path, real: Path, origin: str, *, is_in_folder: bool) -> None:
        if known := self.files.get(path):
            # The longest origin wins, whatever the order of the inputs.
            origin = max(known.origin, origin, key=lambda name: (len(name), name))
            is_in_folder = is_in_folder or known.is_in_folder
        self.files[path] = FoundFile(path, real, origin, is_in_folder)

    def _report_skipped(self, origin: str, reason: str) -> None:
        self.problems.append(Problem(origin, "skipped", reason))

    def _report_or_reraise_error(self, origin: str, exc: OSError, subject: str = "The file") -> None:
        if is_out_of_room(exc):
            raise exc
        self.problems.append(Problem(origin, "broken", f"{subject} cannot be read: {exc.strerror}."))


def _is_kernel_path(real: Path) -> bool:
    return any(real.is_relative_to(folder) for folder in _KERNEL)
