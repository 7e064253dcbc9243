"""What a shelf says of a paper in one reply, and the assets that go with it."""

import hashlib
import re
from dataclasses import dataclass, field
from typing import Any, Final

import orjson

from paper_library.build.entry import Entry
from paper_library.build.merge import Paper
from paper_library.limits import OUTLINE_SHOWN
from paper_library.retraction import find_retraction
from paper_library.store.layout import SOURCE, SUMMARY, TRANSLATION
from paper_library.text.default_summary import DEFAULT_TEMPLATE, make_default_summary
from paper_library.text.markdown import extract_json_text, extract_plain_text, find_headings

_PREFERRED: Final = ("simple",)
_NOT_IN_A_NAME: Final = re.compile(r"[^\w-]+")


@dataclass(frozen=True, slots=True)
class Asset:
    kind: str
    name: str
    content: bytes
    chars: int
    sha256: str
    is_derived: bool = False
    is_added: bool = False
    """It came from a folder of summaries, and not with an entry."""


@dataclass(slots=True)
class Described:
    """A paper ready to be shelved."""

    paper: Paper
    metadata: bytes
    assets: list[Asset]
    texts: list[str]
    """What is searched beside title and abstract, as plain text."""
    digest: str = field(init=False)

    def __post_init__(self) -> None:
        said = hashlib.sha256(self.metadata)
        said.update(self.paper.entry.bibtex.encode())
        for asset in self.assets:
            # The derived summary follows from the rest, and is not always there.
            if not asset.is_derived:
                said.update(f"{asset.kind}/{asset.name}/{asset.sha256}".encode())
        self.digest = said.hexdigest()


def described(paper: Paper, *, sparing: bool) -> Described:
    """The reply, assets and searchable texts of `paper`.

    If `sparing`, a paper that has nothing else to read gets no file for its default summary, which can be made of the
    reply at any time: a hundred thousand small files take longer to create and to delete than all the rest of a shelf.
    """
    entry = paper.entry
    given = _named(entry.summaries)
    added = {name for name, (raw, _) in given.items() if raw in paper.added_summaries}
    templates = [DEFAULT_TEMPLATE, *(name for name in given if name != DEFAULT_TEMPLATE)]
    translations = {name.lower(): text for name, text in sorted(entry.translations.items())}
    metadata: dict[str, Any] = {
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
        "retraction": find_retraction(entry.notices),
        **_where_present(entry),
        "preferred_summary_template": _preferred(template_name(entry.preferred_summary), templates),
        "available_summary_templates": templates,
        "translations": list(translations),
        "translation_chars": {name: len(text) for name, text in translations.items()},
        "has_source": bool(entry.source),
        "source_chars": len(entry.source),
        "outline": _outline(entry.source),
        "has_bibtex": bool(entry.bibtex),
    }
    assets: list[Asset] = []
    if not sparing or given or entry.source or translations:
        if DEFAULT_TEMPLATE not in given:
            derived = orjson.dumps(make_default_summary(metadata, entry.source)).decode()
            assets.append(_asset(SUMMARY, DEFAULT_TEMPLATE, derived, is_derived=True))
        assets += [
            _asset(SUMMARY, name, orjson.dumps(value).decode(), is_added=name in added)
            for name, (_, value) in given.items()
        ]
        assets += [_asset(SOURCE, "", entry.source)] if entry.source else []
        assets += [_asset(TRANSLATION, name, text) for name, text in translations.items()]
    texts = [extract_json_text(value) for _, value in given.values()]
    texts += [extract_plain_text(text) for text in (entry.source, *translations.values()) if text]
    return Described(paper, orjson.dumps(metadata), assets, texts)


def _where_present(entry: Entry) -> dict[str, Any]:
    given = {"title_is_derived": entry.title_is_derived, "work_type": entry.work_type, "notices": entry.notices}
    return {**{name: value for name, value in given.items() if value}, **entry.search}


def _named(summaries: dict[str, Any]) -> dict[str, tuple[str, Any]]:
    """Return summaries, with the names they were given, by the names of their templates, each of which is its own."""
    named: dict[str, tuple[str, Any]] = {}
    for given, value in sorted(summaries.items()):
        name = base = template_name(given) or "summary"
        while name in named:
            name = f"{base}_{len(named) + 1}"
        named[name] = (given, value)
    return named


def _outline(source: str) -> list[dict[str, Any]]:
    headings = find_headings(source)[:OUTLINE_SHOWN] if source else []
    return [{"level": one.level, "title": one.title, "offset": one.offset} for one in headings]


def template_name(name: str) -> str:
    """A template's name in the form all have: lower-case letters, digits, `_` and `-`."""
    return _NOT_IN_A_NAME.sub("_", name.strip().lower()).strip("_")[:64]


def _preferred(wanted: str, available: list[str]) -> str:
    for name in (wanted, *_PREFERRED, *(name for name in available if name != DEFAULT_TEMPLATE)):
        if name in available:
            return name
    return DEFAULT_TEMPLATE


def _asset(kind: str, name: str, text: str, *, is_derived: bool = False, is_added: bool = False) -> Asset:
    content = text.encode()
    return Asset(kind, name, content, len(text), hashlib.sha256(content).hexdigest(), is_derived, is_added)
