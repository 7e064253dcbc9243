"""Prepare metadata, assets and searchable texts of a paper as a shelf stores them."""

import hashlib
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, cast

import orjson

from paper_library.build.entry import Entry
from paper_library.build.merge import Paper
from paper_library.limits import OUTLINE_SHOWN
from paper_library.store.layout import ORIGINAL, SOURCE, SUMMARY, TRANSLATION
from paper_library.text.default_summary import DEFAULT_TEMPLATE, make_default_summary
from paper_library.text.markdown import extract_json_text, extract_plain_text, find_headings
from uraniborg.kernel.bibliography.editorial_notices import find_retraction

if TYPE_CHECKING:
    from paper_library.replies import OutlineHeading, RecordedFields, StoredMetadata
    from uraniborg.kernel.bibliography.editorial_notices import EditorialNotice
    from uraniborg.kernel.json_values import Json

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

    paper: Paper
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


def prepare_paper(paper: Paper, *, omit_default_summary: bool, original: bytes | None = None) -> PreparedPaper:
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
