"""The inputs of a build: each file with its reader and its translations, in an order that does not depend on names."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from paper_library.build.entry import Entry, Problem, Reader
from paper_library.build.input_files import FoundFile, find_files
from paper_library.build.readers import find_reader
from paper_library.identity import is_paper_id
from paper_library.regular_files import resolve_links
from uraniborg.kernel.errors import is_out_of_room
from uraniborg.kernel.logging import get_logger
from uraniborg.kernel.text import replace_surrogates

_log = get_logger(__name__)

_OF_ONE_PAPER: Final = (".md", ".markdown", ".pdf", ".xml", ".nxml", ".jats")
_MARKDOWN: Final = (".md", ".markdown")


@dataclass(slots=True)
class Input:
    path: Path
    """Under the name that it has among the inputs, which may be a link."""
    real: Path
    """Without links: the path that is opened."""
    origin: str
    """How the file is called in the shelf and in reports: below the folder that was given."""
    reader: Reader
    translations: dict[str, "Input"] = field(default_factory=dict[str, "Input"])
    original: str | None = None
    """The name of the paper that this file is only a translation of."""

    @property
    def stem(self) -> str | None:
        """The name of a file that holds one paper, which may be that paper's BibTeX key."""
        if self.original:
            return self.original
        return stem_of(self.path.name)

    def read(self) -> Iterator[Entry | Problem]:
        """Yield the contents of the file, with its origin and translations. Raises OSError for a full disk."""
        try:
            yield from self._read()
        except Exception as exc:
            if is_out_of_room(exc):
                raise
            # A reader should have reported it; one file must not stop a build.
            _log.exception("a reader failed", exc=exc, origin=self.origin)
            yield Problem(self.origin, "broken", f"It cannot be read ({type(exc).__name__}).")

    def _read(self) -> Iterator[Entry | Problem]:
        for found in self.reader(self.real, self.origin):
            if isinstance(found, Entry):
                found.identifiers.pop("stem", None)
                if not is_paper_id(found.identifiers.get("paper_id", "")):
                    found.identifiers.pop("paper_id", None)
                found.origin = found.origin or self.origin
                if self.stem:
                    found.identifiers["stem"] = self.stem
                    yield from self._translate(found)
            yield found

    def _translate(self, entry: Entry) -> Iterator[Problem]:
        for lang, file in self.translations.items():
            text, problem = _read_translation(file.real, file.origin)
            if problem:
                yield problem
            elif text:
                entry.translations[lang] = text


def stem_of(name: str) -> str | None:
    """Return the name without suffix of a file that holds one paper, None for other files."""
    path = Path(name)
    return path.stem if path.suffix.lower() in _OF_ONE_PAPER else None


def find_inputs(given: Sequence[Path], *, leave_out: Collection[Path] = ()) -> tuple[list[Input], list[Problem]]:
    """Return the files to read, and why others are not read. Raises InputNotFound for a path that does not exist.

    Folders in `leave_out` are passed over.
    """
    found = find_files(given, leave_out=leave_out)
    cited = set(_bibliographies(found.files))
    named = {path.absolute() for path in given}
    inputs: list[Input] = []
    for file in sorted(found.files, key=lambda one: (one.origin, one.path)):
        reader = find_reader(file.path)
        if reader is None:
            reason = f"Files of this kind ({replace_surrogates(file.path.suffix) or 'no suffix'}) are not read."
            found.problems.append(Problem(file.origin, "skipped", reason))
        elif file.real in cited and file.path not in named:
            reason = "It lists what a paper beside it cites. Name the file itself to shelve those too."
            found.problems.append(Problem(file.origin, "skipped", reason))
        else:
            inputs.append(Input(file.path, file.real, file.origin, reader))
    return list(_with_translations(inputs)), found.problems


def _bibliographies(files: Iterable[FoundFile]) -> Iterator[Path]:
    """Yield the files, without links, that markdown papers in folders name as their lists of references."""
    from paper_library.build.readers.markdown import list_bibliographies

    for file in files:
        if file.is_in_folder and file.path.suffix.lower() in _MARKDOWN and (names := list_bibliographies(file.real)):
            named = [real for name in names if (real := _resolve_existing(file.path.parent / name))]
            # Where it has another name than the paper says, it still lies beside it.
            yield from named or filter(None, map(_resolve_existing, file.path.parent.glob("*.bib")))


def _resolve_existing(path: Path) -> Path | None:
    """Return the path without links, or None where nothing is; a name that no file can have is nothing."""
    try:
        return resolve_links(path)
    except (OSError, ValueError):
        return None


def _with_translations(inputs: list[Input]) -> Iterator[Input]:
    """The inputs, where `NAME.LANG.md` is no paper of its own but belongs to NAME."""
    from paper_library.build.readers.markdown import split_translation_name

    by_name = {(one.path.parent, one.stem): one for one in inputs if one.stem}
    for one in inputs:
        pair = split_translation_name(one.path.name) if one.path.suffix.lower() in _MARKDOWN else None
        if pair is None:
            yield one
            continue
        stem, lang = pair
        if original := by_name.get((one.path.parent, stem)):
            original.translations[lang] = one
        else:
            yield Input(one.path, one.real, one.origin, _translation_reader(lang), original=stem)


def _translation_reader(lang: str) -> Reader:
    """Return a reader of translations whose original is not beside them, but may be an entry of a bibliography."""

    def entries(path: Path, origin: str) -> Iterator[Entry | Problem]:
        text, problem = _read_translation(path, origin)
        if text:
            yield Entry(translations={lang: text}, origin=origin)
        else:
            yield problem or Problem(origin, "skipped", "It is empty.")

    return entries


def _read_translation(path: Path, origin: str) -> tuple[str, Problem | None]:
    from paper_library.build.readers.files import describe_failure
    from paper_library.build.readers.markdown import read_translation

    try:
        return read_translation(path), None
    except OSError as exc:
        if is_out_of_room(exc):
            raise
        return "", Problem(origin, "broken", f"The translation is missing from its paper. {describe_failure(exc)}")
