"""Find the files of a build, each with its reader and its translations, in a stable order.

A named path is read even if it is a link. Inside a folder, a link to a file is followed only if the file is in one of
the inputs; links to folders are not followed. Only regular files are opened.
"""

import os
import stat
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from paper_library.domain.entries import BuildProblem, Entry, Reader
from paper_library.domain.paper_ids import is_paper_id
from paper_library.errors import InputNotFound
from paper_library.service.build.readers import find_reader
from paper_library.store.id_register import is_register
from paper_library.store.layout import DATABASE, MANIFEST, resolve_existing, resolve_links
from uraniborg.kernel.boundary import make_encodable
from uraniborg.kernel.errors import is_out_of_room
from uraniborg.kernel.logging import get_logger
from uraniborg.kernel.store.files import display_path

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
    problems: list[BuildProblem] = field(default_factory=list[BuildProblem])


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
        self.problems: list[BuildProblem] = []

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
            self.problems.append(BuildProblem(origin, "skipped", reason))
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
        self.problems.append(BuildProblem(origin, "skipped", reason))

    def _report_or_reraise_error(self, origin: str, exc: OSError, subject: str = "The file") -> None:
        if is_out_of_room(exc):
            raise exc
        self.problems.append(BuildProblem(origin, "broken", f"{subject} cannot be read: {exc.strerror}."))


def _is_kernel_path(real: Path) -> bool:
    return any(real.is_relative_to(folder) for folder in _KERNEL)


_log = get_logger(__name__)

_OF_ONE_PAPER: Final = (".md", ".markdown", ".pdf", ".xml", ".nxml", ".jats")
_MARKDOWN: Final = (".md", ".markdown")


@dataclass(slots=True)
class InputFile:
    """A file that a build reads."""

    path: Path
    """The path among the inputs, which may be a link."""
    real: Path
    """The path without links, which is opened."""
    origin: str
    """The path relative to the given folder, as shelves and reports show it."""
    reader: Reader
    translations: dict[str, "InputFile"] = field(default_factory=dict[str, "InputFile"])
    original: str | None = None
    """For a translation without its paper beside it: the file stem of that paper."""

    @property
    def stem(self) -> str | None:
        """The file stem of the paper, which may be its BibTeX key; None for files of several papers."""
        if self.original:
            return self.original
        return get_stem_if_single_paper(self.origin)

    def read_entries(self) -> Iterator[Entry | BuildProblem]:
        """Yield the entries of the file, with origin and translations. Raise OSError if the disk is full."""
        try:
            yield from self._read_entries_with_translations()
        except Exception as exc:
            if is_out_of_room(exc):
                raise
            # Readers report their own problems. An unexpected exception in one file must not stop the build.
            _log.exception("a reader failed", exc=exc, origin=self.origin)
            yield BuildProblem(self.origin, "broken", f"The file cannot be read ({type(exc).__name__}).")

    def _read_entries_with_translations(self) -> Iterator[Entry | BuildProblem]:
        for found in self.reader(self.real, self.origin):
            if isinstance(found, Entry):
                found.identifiers.pop("stem", None)
                if not is_paper_id(found.identifiers.get("paper_id", "")):
                    found.identifiers.pop("paper_id", None)
                found.origin = found.origin or self.origin
                if self.stem:
                    found.identifiers["stem"] = self.stem
                    yield from self._add_translations(found)
            yield found

    def _add_translations(self, entry: Entry) -> Iterator[BuildProblem]:
        for lang, file in self.translations.items():
            text, problem = _try_read_translation(file.real, file.origin)
            if problem:
                yield problem
            elif text:
                entry.translations[lang] = text


def get_stem_if_single_paper(name: str) -> str | None:
    """Return the stem of the name of a file that holds one paper, or None for other file types."""
    path = Path(name)
    return path.stem if path.suffix.lower() in _OF_ONE_PAPER else None


def find_input_files(
    paths: Sequence[Path], *, excluded: Collection[Path] = ()
) -> tuple[list[InputFile], list[BuildProblem]]:
    """Return the files to read, and a problem for each other file. Raise InputNotFound for a missing path.

    Folders in `excluded` are skipped.
    """
    found = find_files(paths, excluded=excluded)
    cited = set(_find_cited_bibliographies(found.files))
    named = {path.absolute() for path in paths}
    inputs: list[InputFile] = []
    for file in sorted(found.files, key=lambda one: (one.origin, one.path)):
        reader = find_reader(file.path)
        if reader is None:
            reason = f"Files of this type ({Path(file.origin).suffix or 'no suffix'}) are not supported."
            found.problems.append(BuildProblem(file.origin, "skipped", reason))
        elif file.real in cited and file.path not in named:
            reason = "This file is the reference list of a paper in the same folder. Name the file to add its entries."
            found.problems.append(BuildProblem(file.origin, "skipped", reason))
        else:
            inputs.append(InputFile(file.path, file.real, file.origin, reader))
    return list(_attach_translations(inputs)), found.problems


def _find_cited_bibliographies(files: Iterable[FoundFile]) -> Iterator[Path]:
    """Yield the resolved paths of the bibliographies that markdown papers in folders name."""
    from paper_library.service.build.readers.markdown_files import read_bibliography_names

    for file in files:
        if (
            file.is_in_folder
            and file.path.suffix.lower() in _MARKDOWN
            and (names := read_bibliography_names(file.real))
        ):
            named = [real for name in names if (real := resolve_existing(file.path.parent / name))]
            # A bibliography with a different name is still in the folder of the paper.
            yield from named or filter(None, map(resolve_existing, file.path.parent.glob("*.bib")))


def _attach_translations(inputs: list[InputFile]) -> Iterator[InputFile]:
    """Yield the inputs, with each `NAME.LANG.md` attached to the paper NAME as a translation."""
    from paper_library.service.build.readers.markdown_files import split_translation_name

    by_name = {(one.path.parent, one.stem): one for one in inputs if one.stem}
    for one in inputs:
        pair = split_translation_name(Path(one.origin).name) if one.path.suffix.lower() in _MARKDOWN else None
        if pair is None:
            yield one
            continue
        stem, lang = pair
        if original := by_name.get((one.path.parent, stem)):
            original.translations[lang] = one
        else:
            yield InputFile(one.path, one.real, one.origin, _make_translation_reader(lang), original=stem)


def _make_translation_reader(lang: str) -> Reader:
    """Return a reader for a translation whose paper may be an entry of a bibliography."""

    def read_entries(path: Path, origin: str) -> Iterator[Entry | BuildProblem]:
        text, problem = _try_read_translation(path, origin)
        if text:
            yield Entry(translations={lang: text}, origin=origin)
        else:
            yield problem or BuildProblem(origin, "skipped", "The file is empty.")

    return read_entries


def _try_read_translation(path: Path, origin: str) -> tuple[str, BuildProblem | None]:
    from paper_library.service.build.readers.markdown_files import read_translation
    from paper_library.service.build.readers.texts_and_dates import describe_read_error

    try:
        return read_translation(path), None
    except OSError as exc:
        if is_out_of_room(exc):
            raise
        return "", BuildProblem(origin, "broken", f"The translation is left out. {describe_read_error(exc)}")
