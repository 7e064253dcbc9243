"""Which files there are to read, in an order that does not depend on how they were named."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from paper_library.build.entry import Entry, Problem, Reader
from paper_library.build.readers import reader_for
from paper_library.build.register import is_register
from paper_library.errors import InputNotFound
from paper_library.identity import is_paper_id
from paper_library.store.layout import DATABASE, MANIFEST
from uraniborg.kernel.files import shown
from uraniborg.kernel.logging import get_logger
from uraniborg.kernel.text import whole_text

_log = get_logger(__name__)

_OF_ONE_PAPER: Final = (".md", ".markdown", ".pdf", ".xml", ".nxml", ".jats")
_MARKDOWN: Final = (".md", ".markdown")


@dataclass(slots=True)
class Input:
    path: Path
    origin: str
    """How the file is called in the shelf and in reports: below the folder that was given."""
    reader: Reader
    translations: dict[str, Path] = field(default_factory=dict[str, Path])
    original: str | None = None
    """The name of the paper that this file is only a translation of."""

    @property
    def stem(self) -> str | None:
        """The name of a file that holds one paper, which may be that paper's BibTeX key."""
        if self.original:
            return self.original
        return stem_of(self.path.name)

    def read(self) -> Iterator[Entry | Problem]:
        """What is in the file, with its origin and translations."""
        try:
            yield from self._read()
        except Exception as exc:
            # A reader should have told of it; one file must not stop a build.
            _log.exception("a reader failed", exc=exc, origin=self.origin)
            yield Problem(self.origin, "broken", f"It cannot be read ({type(exc).__name__}).")

    def _read(self) -> Iterator[Entry | Problem]:
        for found in self.reader(self.path, self.origin):
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
        from paper_library.build.readers.markdown import read_translation

        for lang, path in self.translations.items():
            try:
                if text := read_translation(path):
                    entry.translations[lang] = text
            except OSError as exc:
                yield Problem(path.name, "broken", f"The translation cannot be read: {exc.strerror}.")


def stem_of(name: str) -> str | None:
    """Return the name without suffix of a file that holds one paper, None for other files."""
    path = Path(name)
    return path.stem if path.suffix.lower() in _OF_ONE_PAPER else None


def find_inputs(given: Sequence[Path], *, leave_out: Collection[Path] = ()) -> tuple[list[Input], list[Problem]]:
    """Every file to read, and why others are not. Raises InputNotFound for a path that does not exist.

    What lies in the folders `leave_out` is for somebody else.
    """
    apart = {path.absolute() for path in leave_out}
    files: dict[Path, str] = {}
    problems: list[Problem] = []
    cited: set[Path] = set()
    for path in given:
        if not path.exists():
            raise InputNotFound(
                f"There is no {shown(path)}.", hint="Name files or folders that exist.", input=shown(path)
            )
        found = list(_below(path, apart, problems)) if path.is_dir() else [path]
        if path.is_dir():
            cited.update(_bibliographies(found))
        for file in found:
            origin = _origin(file, path)
            # By the longest name that any argument gives it, whichever comes first.
            files[file.absolute()] = max(files.get(file.absolute(), ""), origin, key=lambda name: (len(name), name))
    named = {path.absolute() for path in given}
    inputs: list[Input] = []
    for path, origin in sorted(files.items(), key=lambda item: (item[1], item[0])):
        reader = reader_for(path)
        if reader is None:
            reason = f"Files of this kind ({path.suffix or 'no suffix'}) are not read."
            problems.append(Problem(origin, "skipped", reason))
        elif path in cited and path not in named:
            reason = "It lists what a paper beside it cites. Name the file itself to shelve those too."
            problems.append(Problem(origin, "skipped", reason))
        else:
            inputs.append(Input(path, origin, reader))
    return list(_with_translations(inputs)), problems


def _origin(file: Path, given: Path) -> str:
    return whole_text(file.relative_to(given).as_posix() if given.is_dir() else file.name)


def _below(folder: Path, apart: Collection[Path], problems: list[Problem]) -> Iterator[Path]:
    """The files in a folder and its folders, without hidden ones; links to folders are not followed."""
    try:
        entries = sorted(folder.iterdir())
    except OSError as exc:
        problems.append(Problem(whole_text(folder.name), "broken", f"The folder cannot be read: {exc.strerror}."))
        return
    if (folder / MANIFEST).is_file() and (folder / DATABASE).is_file():
        reason = "It is a shelf. Name it with --update to have its papers on the new one."
        problems.append(Problem(whole_text(folder.name), "skipped", reason))
        return
    for path in entries:
        if path.name.startswith("."):
            continue
        if path.is_dir():
            if not path.is_symlink() and path.absolute() not in apart:
                yield from _below(path, apart, problems)
        elif path.is_file():
            if not is_register(path):
                yield path
        elif path.is_symlink():
            problems.append(Problem(whole_text(path.name), "skipped", "It is a link that leads nowhere."))


def _bibliographies(files: Iterable[Path]) -> Iterator[Path]:
    """The files that markdown papers name as their lists of references."""
    from paper_library.build.readers.markdown import bibliography_of

    for path in files:
        if path.suffix.lower() in _MARKDOWN and (names := bibliography_of(path)):
            named = [found for name in names if (found := (path.parent / name).absolute()).exists()]
            # Where it has another name than the paper says, it still lies beside it.
            yield from named or (beside.absolute() for beside in path.parent.glob("*.bib"))


def _with_translations(inputs: list[Input]) -> Iterator[Input]:
    """The inputs, where `NAME.LANG.md` is no paper of its own but belongs to NAME."""
    from paper_library.build.readers.markdown import translation_of

    by_name = {(one.path.parent, one.stem): one for one in inputs if one.stem}
    for one in inputs:
        pair = translation_of(one.path.name) if one.path.suffix.lower() in _MARKDOWN else None
        if pair is None:
            yield one
            continue
        stem, lang = pair
        if original := by_name.get((one.path.parent, stem)):
            original.translations[lang] = one.path
        else:
            yield Input(one.path, one.origin, _translation_reader(lang), original=stem)


def _translation_reader(lang: str) -> Reader:
    """For a translation whose original is no file beside it, but may be an entry of a bibliography."""

    def entries(path: Path, origin: str) -> Iterator[Entry | Problem]:
        from paper_library.build.readers.markdown import read_translation

        try:
            text = read_translation(path)
        except OSError as exc:
            yield Problem(origin, "broken", f"The translation cannot be read: {exc.strerror}.")
            return
        if text:
            yield Entry(translations={lang: text}, origin=origin)
        else:
            yield Problem(origin, "skipped", "It is empty.")

    return entries
