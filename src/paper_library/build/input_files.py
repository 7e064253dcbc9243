"""List the files of a build, each with its reader and its translations, in a stable order."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from paper_library.build.entry import Entry, Problem, Reader
from paper_library.build.file_discovery import FoundFile, find_files
from paper_library.build.readers import find_reader
from paper_library.paper_ids import is_paper_id
from paper_library.regular_files import resolve_existing
from uraniborg.kernel.errors import is_out_of_room
from uraniborg.kernel.logging import get_logger

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

    def read_entries(self) -> Iterator[Entry | Problem]:
        """Yield the entries of the file, with origin and translations. Raise OSError if the disk is full."""
        try:
            yield from self._read_entries_with_translations()
        except Exception as exc:
            if is_out_of_room(exc):
                raise
            # Readers report their own problems. An unexpected exception in one file must not stop the build.
            _log.exception("a reader failed", exc=exc, origin=self.origin)
            yield Problem(self.origin, "broken", f"The file cannot be read ({type(exc).__name__}).")

    def _read_entries_with_translations(self) -> Iterator[Entry | Problem]:
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

    def _add_translations(self, entry: Entry) -> Iterator[Problem]:
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
) -> tuple[list[InputFile], list[Problem]]:
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
            found.problems.append(Problem(file.origin, "skipped", reason))
        elif file.real in cited and file.path not in named:
            reason = "This file is the reference list of a paper in the same folder. Name the file to add its entries."
            found.problems.append(Problem(file.origin, "skipped", reason))
        else:
            inputs.append(InputFile(file.path, file.real, file.origin, reader))
    return list(_attach_translations(inputs)), found.problems


def _find_cited_bibliographies(files: Iterable[FoundFile]) -> Iterator[Path]:
    """Yield the resolved paths of the bibliographies that markdown papers in folders name."""
    from paper_library.build.readers.markdown import read_bibliography_names

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
    from paper_library.build.readers.markdown import split_translation_name

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

    def read_entries(path: Path, origin: str) -> Iterator[Entry | Problem]:
        text, problem = _try_read_translation(path, origin)
        if text:
            yield Entry(translations={lang: text}, origin=origin)
        else:
            yield problem or Problem(origin, "skipped", "The file is empty.")

    return read_entries


def _try_read_translation(path: Path, origin: str) -> tuple[str, Problem | None]:
    from paper_library.build.readers.markdown import read_translation
    from paper_library.build.readers.text_files import describe_read_error

    try:
        return read_translation(path), None
    except OSError as exc:
        if is_out_of_room(exc):
            raise
        return "", Problem(origin, "broken", f"The translation is left out. {describe_read_error(exc)}")
