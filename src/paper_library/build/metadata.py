"""What a shelf says of a paper in one reply, and the assets that go with it."""

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final, cast

import orjson

from paper_library.build.merging import Paper
from paper_library.limits import OUTLINE_SHOWN
from paper_library.store.layout import DEFAULT_TEMPLATE, SOURCE, SUMMARY, TRANSLATION
from paper_library.summary import default_summary
from paper_library.text.markdown import outline, plain_text

_PREFERRED: Final = ("simple",)
_NOT_IN_A_NAME: Final = re.compile(r"[^a-z0-9_-]+")


@dataclass(frozen=True, slots=True)
class Asset:
    kind: str
    name: str
    content: bytes
    chars: int
    sha256: str


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
            # The default summary follows from the rest, and is not always there.
            if (asset.kind, asset.name) != (SUMMARY, DEFAULT_TEMPLATE):
                said.update(f"{asset.kind}/{asset.name}/{asset.sha256}".encode())
        self.digest = said.hexdigest()


def described(paper: Paper, *, sparing: bool) -> Described:
    """The reply, assets and searchable texts of `paper`.

    If `sparing`, a paper that has nothing else to read gets no file for its default summary, which can be made of the
    reply at any time: a hundred thousand small files take longer to create and to delete than all the rest of a shelf.
    """
    entry = paper.entry
    given = {template_name(name): value for name, value in sorted(entry.summaries.items())}
    templates = [DEFAULT_TEMPLATE, *(name for name in given if name != DEFAULT_TEMPLATE)]
    translations = {name.lower(): text for name, text in sorted(entry.translations.items())}
    metadata: dict[str, Any] = {
        "paper_id": paper.paper_id,
        "title": entry.title,
        "authors": entry.authors,
        "year": entry.year,
        "month": entry.month,
        "venue": entry.venue,
        "abstract": entry.abstract,
        "identifiers": entry.identifiers,
        "keywords": entry.keywords,
        "tags": entry.tags,
        "institutions": entry.institutions,
        "kind": entry.kind,
        "language": entry.language,
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
        summaries = {DEFAULT_TEMPLATE: default_summary(metadata, entry.source), **given}
        assets += [_asset(SUMMARY, name, orjson.dumps(value).decode()) for name, value in summaries.items()]
        assets += [_asset(SOURCE, "", entry.source)] if entry.source else []
        assets += [_asset(TRANSLATION, name, text) for name, text in translations.items()]
    texts = [" ".join(_strings(value)) for value in given.values()]
    texts += [plain_text(text) for text in (entry.source, *translations.values()) if text]
    return Described(paper, orjson.dumps(metadata), assets, texts)


def _outline(source: str) -> list[dict[str, Any]]:
    headings = outline(source)[:OUTLINE_SHOWN] if source else []
    return [{"level": one.level, "title": one.title, "offset": one.offset} for one in headings]


def template_name(name: str) -> str:
    """A template's name in the form all have: lower case, digits, `_` and `-`."""
    return _NOT_IN_A_NAME.sub("_", name.strip().lower()).strip("_")[:64]


def _preferred(wanted: str, available: list[str]) -> str:
    for name in (wanted, *_PREFERRED, *(name for name in available if name != DEFAULT_TEMPLATE)):
        if name in available:
            return name
    return DEFAULT_TEMPLATE


def _asset(kind: str, name: str, text: str) -> Asset:
    content = text.encode()
    return Asset(kind, name, content, len(text), hashlib.sha256(content).hexdigest())


def _strings(value: Any) -> Iterator[str]:
    """Every text in a JSON value."""
    if isinstance(value, str):
        yield plain_text(value)
    elif isinstance(value, list):
        for item in cast("list[Any]", value):
            yield from _strings(item)
    elif isinstance(value, dict):
        for item in cast("dict[str, Any]", value).values():
            yield from _strings(item)
