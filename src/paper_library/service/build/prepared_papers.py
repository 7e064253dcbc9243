"""Prepare a paper as a shelf stores it: summaries of a folder, its PDF, metadata, assets and searchable texts.

In a folder of summaries, `DIR/TEMPLATE/NAME.json` is a summary of the paper NAME: the stem of its file, its BibTeX key,
its paper_id, or its DOI or arXiv id with `_` for all characters except letters, digits, `.` and `-`.
`DIR/NAME/TEMPLATE.json` works too.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, Final, cast

import orjson

from paper_library.domain.entries import BuildProblem, Entry, strip_line_number
from paper_library.domain.excerpts import DEFAULT_TEMPLATE, make_default_summary
from paper_library.domain.limits import ASSET_BYTES, OUTLINE_SHOWN
from paper_library.domain.markdown import extract_json_text, extract_plain_text, find_headings
from paper_library.domain.merging import MergedPaper
from paper_library.errors import InputNotFound
from paper_library.service.build.input_files import InputFile
from paper_library.service.build.readers.texts_and_dates import UnreadableInput, describe_read_error, read_bytes
from paper_library.service.build.stored_entries import OldShelf
from paper_library.store.layout import ORIGINAL, SOURCE, SUMMARY, TRANSLATION, open_regular_file, resolve_links
from uraniborg.kernel.bibliography.editorial_notices import find_retraction
from uraniborg.kernel.boundary import make_encodable, parse_json
from uraniborg.kernel.errors import is_out_of_room
from uraniborg.kernel.store.files import display_path

if TYPE_CHECKING:
    from paper_library.domain.replies import OutlineHeading, RecordedFields, StoredMetadata
    from uraniborg.kernel.bibliography.editorial_notices import EditorialNotice
    from uraniborg.kernel.json_values import Json


_MAX_BYTES: Final = 64 << 20
_NOT_IN_A_FILE_NAME: Final = re.compile(r"[^\w.-]+")


class SummaryFolder:
    """The summaries of one folder, by paper name."""

    def __init__(self, folder: Path | None) -> None:
        self._by_name: dict[str, list[tuple[str, Path]]] = {}
        self._unused: dict[Path, str] = {}
        self._root = Path()
        if folder is None:
            return
        if not folder.is_dir():
            raise InputNotFound(
                f"The folder {display_path(folder)} does not exist.",
                hint="Name a folder with TEMPLATE/NAME.json files.",
            )
        self._root = folder.resolve()
        for path in sorted(folder.glob("*/*.json")):
            folder_name, stem = make_encodable(path.parent.name), make_encodable(path.stem)
            self._unused[path] = f"{folder_name}/{stem}{path.suffix}"
            self._by_name.setdefault(_normalise_name(stem), []).append((folder_name, path))
            self._by_name.setdefault(_normalise_name(folder_name), []).append((stem, path))

    def add_summaries_to(self, paper: MergedPaper) -> Iterator[BuildProblem]:
        """Add the summaries of the paper to its entry; yield their problems."""
        if not self._by_name:
            return
        for name in dict.fromkeys(_list_possible_names(paper)):
            for template, path in self._by_name.get(name, ()):
                if path in self._unused:
                    origin = self._unused.pop(path)
                    try:
                        paper.entry.summaries[template] = self._read_summary(path)
                        paper.added_summaries.add(template)
                    except OSError as exc:
                        if is_out_of_room(exc):
                            raise
                        yield BuildProblem(origin, "broken", f"The summary is left out. {describe_read_error(exc)}")
                    except ValueError:
                        yield BuildProblem(origin, "broken", "The summary is not JSON. Write one JSON value in UTF-8.")

    def _read_summary(self, path: Path) -> Any:
        """Return the JSON of a file. Raise OSError, also for links out of the folder, or ValueError."""
        real = resolve_links(path)
        if not real.is_relative_to(self._root):
            raise UnreadableInput("The link leads out of the summary folder. Copy the file into the folder.")
        return parse_json(read_bytes(real, _MAX_BYTES))

    def list_unused_as_problems(self) -> list[BuildProblem]:
        """Return a problem for each summary without a paper."""
        reason = "No paper has this name. In TEMPLATE/NAME.json, NAME is a file name, BibTeX key, DOI or paper_id."
        return [BuildProblem(origin, "skipped", reason) for origin in self._unused.values()]


def _list_possible_names(paper: MergedPaper) -> Iterable[str]:
    yield paper.paper_id
    for key in paper.keys:
        yield _normalise_name(key.partition(":")[2])
    for origin in paper.origins:
        if origin == strip_line_number(origin):  # a file of one paper
            yield _normalise_name(Path(origin).stem)


def _normalise_name(name: Any) -> str:
    return _NOT_IN_A_FILE_NAME.sub("_", name).lower()


_SUFFIX: Final = ".pdf"
_SIGN: Final = b"%PDF-"
_SIGN_WITHIN: Final = 1_024
"""Readers accept bytes before the sign, as Acrobat does."""


class OriginalFiles:
    """The PDFs of a build: those of its inputs, and those of the shelf that it updates."""

    def __init__(self, files: Sequence[InputFile], old: OldShelf | None) -> None:
        counts = Counter(file.origin for file in files)
        # Of two files with one origin it is not known which one a paper comes from.
        self._files = {file.origin: file for file in files if _is_pdf(file.origin) and counts[file.origin] == 1}
        self._old = old

    def read_original(self, paper: MergedPaper) -> bytes | None:
        """Return the PDF of a paper, or None if it has none, it cannot be read, or it is larger than ASSET_BYTES.

        A PDF that is not among the inputs any more is that of the old shelf.
        """
        origins = [origin for origin in paper.origins if _is_pdf(origin)]
        for origin in origins:
            if file := self._files.get(origin):
                return _read_pdf(file)
        if origins and self._old and (no := self._old.numbers.get(paper.paper_id)) is not None:
            return self._old.read_original(no)
        return None


def _is_pdf(origin: str) -> bool:
    return PurePath(origin).suffix.lower() == _SUFFIX


def _read_pdf(file: InputFile) -> bytes | None:
    try:
        with open_regular_file(file.real) as stream:
            content = stream.read(ASSET_BYTES + 1)
    except OSError:
        return None  # the reader of the text has reported it
    return content if _SIGN in content[:_SIGN_WITHIN] and len(content) <= ASSET_BYTES else None


_PREFERRED: Final = ("simple",)
_NOT_IN_A_NAME: Final = re.compile(r"[^\w-]+")


@dataclass(frozen=True, slots=True)
class Asset:
    """A file that a shelf stores for a paper: its text, a translation, a summary or its PDF."""

    kind: str
    name: str
    content: bytes
    chars: int
    sha256: str
    is_derived: bool = False
    is_added: bool = False
    """True for a summary from a summary folder."""


@dataclass(slots=True)
class PreparedPaper:
    """A paper ready to be written."""

    paper: MergedPaper
    metadata: bytes
    assets: list[Asset]
    texts: list[str]
    """The full texts to index, as plain text."""
    digest: str = field(init=False)

    def __post_init__(self) -> None:
        digest = hashlib.sha256(self.metadata)
        digest.update(self.paper.entry.bibtex.encode())
        for asset in self.assets:
            # The default summary depends on the rest, and is not always stored.
            if not asset.is_derived:
                digest.update(f"{asset.kind}/{asset.name}/{asset.sha256}".encode())
        self.digest = digest.hexdigest()


def prepare_paper(paper: MergedPaper, *, omit_default_summary: bool, original: bytes | None = None) -> PreparedPaper:
    """Return the metadata, assets and searchable texts of `paper`. `original` is its PDF.

    With `omit_default_summary`, the default summary of a paper without other assets is not stored; replies derive it
    from the metadata. A hundred thousand small files take longer to create and delete than the rest of a shelf.
    """
    entry = paper.entry
    given = _index_summaries_by_normalised_name(entry.summaries)
    added = {name for name, (raw, _) in given.items() if raw in paper.added_summaries}
    templates = [DEFAULT_TEMPLATE, *(name for name in given if name != DEFAULT_TEMPLATE)]
    translations = {name.lower(): text for name, text in sorted(entry.translations.items())}
    metadata: StoredMetadata = {
        "paper_id": paper.paper_id,
        "citation_key": paper.citation_key,
        "title": entry.title,
        "authors": entry.authors,
        "year": entry.year,
        "month": entry.month,
        "venue": entry.venue,
        "volume": entry.volume,
        "issue": entry.issue,
        "pages": entry.pages,
        "publisher": entry.publisher,
        "abstract": entry.abstract,
        "identifiers": entry.identifiers,
        "keywords": entry.keywords,
        "tags": entry.tags,
        "institutions": entry.institutions,
        "kind": entry.kind,
        "language": entry.language,
        "retraction": _find_retraction(entry),
        **_collect_optional_fields(entry),
        "preferred_summary_template": _choose_preferred_template(
            normalise_template_name(entry.preferred_summary), templates
        ),
        "available_summary_templates": templates,
        "translations": list(translations),
        "translation_chars": {name: len(text) for name, text in translations.items()},
        "has_source": bool(entry.source),
        "source_chars": len(entry.source),
        "outline": _list_headings(entry.source),
        "has_bibtex": bool(entry.bibtex),
    }
    assets: list[Asset] = []
    if not omit_default_summary or given or entry.source or translations:
        if DEFAULT_TEMPLATE not in given:
            derived = orjson.dumps(make_default_summary(metadata, entry.source)).decode()
            assets.append(_make_asset(SUMMARY, DEFAULT_TEMPLATE, derived, is_derived=True))
        assets += [
            _make_asset(SUMMARY, name, orjson.dumps(value).decode(), is_added=name in added)
            for name, (_, value) in given.items()
        ]
        assets += [_make_asset(SOURCE, "", entry.source)] if entry.source else []
        assets += [_make_asset(TRANSLATION, name, text) for name, text in translations.items()]
    if original is not None:
        assets.append(Asset(ORIGINAL, "", original, 0, hashlib.sha256(original).hexdigest()))
    texts = [extract_json_text(value) for _, value in given.values()]
    texts += [extract_plain_text(text) for text in (entry.source, *translations.values()) if text]
    return PreparedPaper(paper, orjson.dumps(metadata), assets, texts)


def _find_retraction(entry: Entry) -> "EditorialNotice | None":
    """Return the most severe retraction, without its label."""
    found = find_retraction(entry.notices)
    return found and cast("EditorialNotice", {name: value for name, value in found.items() if name != "label"})


def _collect_optional_fields(entry: Entry) -> "RecordedFields":
    given = {"title_is_derived": entry.title_is_derived, "work_type": entry.work_type, "notices": entry.notices}
    return cast("RecordedFields", {**{name: value for name, value in given.items() if value}, **entry.search})


def _index_summaries_by_normalised_name(summaries: "dict[str, Json]") -> "dict[str, tuple[str, Json]]":
    """Return summaries and their given names by unique, normalised template names."""
    named: dict[str, tuple[str, Json]] = {}
    for given, value in sorted(summaries.items()):
        name = base = normalise_template_name(given) or "summary"
        while name in named:
            name = f"{base}_{len(named) + 1}"
        named[name] = (given, value)
    return named


def _list_headings(source: str) -> "list[OutlineHeading]":
    headings = find_headings(source)[:OUTLINE_SHOWN] if source else []
    return [{"level": one.level, "title": one.title, "offset": one.offset} for one in headings]


def normalise_template_name(name: str) -> str:
    """Return a template name in lower-case letters, digits, `_` and `-`."""
    return _NOT_IN_A_NAME.sub("_", name.strip().lower()).strip("_")[:64]


def _choose_preferred_template(wanted: str, available: list[str]) -> str:
    for name in (wanted, *_PREFERRED, *(name for name in available if name != DEFAULT_TEMPLATE)):
        if name in available:
            return name
    return DEFAULT_TEMPLATE


def _make_asset(kind: str, name: str, text: str, *, is_derived: bool = False, is_added: bool = False) -> Asset:
    content = text.encode()
    return Asset(kind, name, content, len(text), hashlib.sha256(content).hexdigest(), is_derived, is_added)
