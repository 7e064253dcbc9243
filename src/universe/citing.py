"""The bibliography of a universe: the papers its bodies cite, and BibTeX of them.

Bodies come from anywhere, so nothing about `sources` is taken for granted: what is not a source is left out and noted.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, cast

from uraniborg.kernel.text import replace_surrogates

_TEXTS: Final = ("title", "venue", "doi", "arxiv", "url")
_MOST_NAMES: Final = 20
_SPECIAL: Final = {
    **{ord(char): f"\\{char}" for char in "&%$#_"},
    # A backslash does not hide a brace from BibTeX's counting, so braces are spelled out.
    ord("{"): r"{\textbraceleft}",
    ord("}"): r"{\textbraceright}",
    ord("\\"): r"{\textbackslash}",
    ord("~"): r"{\textasciitilde}",
    ord("^"): r"{\textasciicircum}",
    # Readers take a bare @word{ for the next entry, wherever it stands.
    ord("@"): "{@}",
}
_UNSAFE_IN_ADDRESS: Final = re.compile(r"[\\{}\s]")
_NOT_IN_KEY: Final = re.compile(r"[^a-z0-9_.:+-]+")


@dataclass(slots=True)
class CitedSource:
    """A paper, and what was taken from it: for every body that cites it, the names of the fields."""

    id: str
    title: str = ""
    authors: list[str] = field(default_factory=list[str])
    year: int | None = None
    venue: str = ""
    doi: str = ""
    arxiv: str = ""
    url: str = ""
    uses: list[tuple[str, tuple[str, ...]]] = field(default_factory=list[tuple[str, tuple[str, ...]]])


def sources_of(stars: Mapping[str, Mapping[str, Any]], *, notes: list[str] | None = None) -> list[CitedSource]:
    """The sources that bodies cite, each once, in the order of their first use. Does not raise.

    Of two sources with one id the first counts. What had to be left out is told in `notes`, where a list is given.
    """
    told: list[str] = [] if notes is None else notes
    found: dict[str, CitedSource] = {}
    for body_id, body in stars.items():
        for place, entry in _entries(body.get("sources"), body_id, told):
            source = _source(entry, place, told)
            if source is None or entry.get("fields") == []:  # it supports nothing any more
                continue
            known = found.setdefault(source.id, source)
            if known is not source and _told(known) != _told(source):
                told.append(f"{place} says something else of '{source.id[:80]}' than its first use: the first counts.")
            name = body.get("name")
            fields = tuple(_listed_texts(entry, "fields", place, told))
            known.uses.append((name if isinstance(name, str) and name else body_id, fields))
    return list(found.values())


def bibtex(sources: Iterable[CitedSource]) -> str:
    """One entry per source, a blank line between; nothing for no sources. Whatever the texts hold, entries stay whole.

    A source with a venue is an `@article`, any other a `@misc`. Keys are the ids in letters that every reader takes,
    no two the same; `note` tells what was taken from the source.
    """
    keys: set[str] = set()
    return "".join(f"{entry}\n" for entry in _joined(_entry(source, _key(source.id, keys)) for source in sources))


def _entries(listed: Any, body_id: str, told: list[str]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    if listed is None:
        return
    if not isinstance(listed, list):
        told.append(f"{body_id[:80]}.sources is no list and was left out.")
        return
    for index, entry in enumerate(cast("list[Any]", listed)):
        place = f"{body_id[:80]}.sources.{index}"
        if isinstance(entry, Mapping):
            yield place, cast("Mapping[str, Any]", entry)
        else:
            told.append(f"{place} is no object and was left out.")


def _source(entry: Mapping[str, Any], place: str, told: list[str]) -> CitedSource | None:
    source_id = entry.get("id")
    if not isinstance(source_id, str) or not source_id.strip():
        told.append(f"{place} has no id and was left out.")
        return None
    source = CitedSource(source_id, authors=_listed_texts(entry, "authors", place, told))
    for name in _TEXTS:
        value = entry.get(name)
        if isinstance(value, str):
            setattr(source, name, value)
        elif value is not None:
            told.append(f"{place}.{name} is no text and was left out.")
    year = entry.get("year")
    if isinstance(year, int) and not isinstance(year, bool):
        source.year = year
    elif year is not None:
        told.append(f"{place}.year is no whole number and was left out.")
    return source


def _listed_texts(entry: Mapping[str, Any], name: str, place: str, told: list[str]) -> list[str]:
    value = entry.get(name)
    if value is None:
        return []
    items = cast("list[Any]", value) if isinstance(value, list) else [value]
    texts = [item for item in items if isinstance(item, str)]
    if not isinstance(value, list) or len(texts) < len(items):
        told.append(f"{place}.{name} is no list of texts; what is no text in it was left out.")
    return texts


def _told(source: CitedSource) -> tuple[object, ...]:
    return (source.title, source.authors, source.year, source.venue, source.doi, source.arxiv, source.url)


def _joined(entries: Iterable[str]) -> Iterator[str]:
    for number, entry in enumerate(entries):
        yield f"\n{entry}" if number else entry


def _entry(source: CitedSource, key: str) -> str:
    kind = "article" if _plain(source.venue) else "misc"
    lines = [f"  {name} = {{{value}}}" for name, value in _fields(source) if value]
    return f"@{kind}{{{key},\n" + ",\n".join(lines) + "\n}"


def _fields(source: CitedSource) -> Iterator[tuple[str, str]]:
    yield "author", " and ".join(_authors(source.authors))
    # The second pair of braces keeps styles from changing capitals; a paper without a title goes by its id.
    yield "title", f"{{{_escaped(source.title) or _escaped(source.id)}}}"
    yield "year", "" if source.year is None else str(source.year)
    yield "journal", _escaped(source.venue)
    yield "doi", _address(source.doi)
    yield "url", _address(source.url) if source.url.startswith(("https://", "http://")) else ""
    if eprint := _address(source.arxiv):
        yield "eprint", eprint
        yield "archiveprefix", "arXiv"
    yield "note", _note(source.uses)


def _authors(authors: list[str]) -> Iterator[str]:
    names = [name for author in authors if (name := _escaped(author))]
    for number, name in enumerate(names, start=1):
        if name.lower() == "others":  # BibTeX's et al., but only at the end
            yield name if 1 < number == len(names) else f"{{{name}}}"
        else:
            yield name if _is_family_and_given(name) else f"{{{name}}}"


def _is_family_and_given(name: str) -> bool:
    """Whether BibTeX reads the name as it is meant. What it would take apart, such as an institute, needs braces."""
    parts = name.split(",")
    return len(parts) in (2, 3) and all(part.strip() for part in parts) and " and " not in f" {name.lower()} "


def _note(uses: Iterable[tuple[str, tuple[str, ...]]]) -> str:
    names_by_fields: dict[tuple[str, ...], dict[str, None]] = {}
    for name, fields in uses:
        names_by_fields.setdefault(fields, {})[name] = None
    said: list[str] = []
    for fields, named in names_by_fields.items():
        names = [_escaped(name) for name in named]
        more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
        taken = ", ".join(_escaped(one) for one in fields)
        said.append((f"{taken} of " if taken else "") + ", ".join(names[:_MOST_NAMES]) + more)
    return f"Used for {'; '.join(said)}" if said else ""


def _key(source_id: str, taken: set[str]) -> str:
    folded = unicodedata.normalize("NFKD", replace_surrogates(source_id)).casefold()
    plain = _NOT_IN_KEY.sub("-", "".join(char for char in folded if not unicodedata.combining(char))).strip("-")[:60]
    key = plain = plain or "source"
    number = 1
    while key in taken:
        number += 1
        key = f"{plain}-{number}"
    taken.add(key)
    return key


def _plain(text: str) -> str:
    """The text on one line, without what no reader shows."""
    spaced = " ".join(replace_surrogates(text).split())
    return "".join(char for char in spaced if unicodedata.category(char) not in ("Cc", "Cs")).strip()


def _escaped(text: str) -> str:
    return _plain(text).translate(_SPECIAL)


def _address(text: str) -> str:
    """An identifier as it is, save what would break the entry, which is percent-encoded."""
    return _UNSAFE_IN_ADDRESS.sub(lambda char: f"%{ord(char[0]):02X}", _plain(text))
