"""Reads JATS XML, the form in which publishers and PubMed Central keep articles."""

import re
from collections.abc import Iterator
from html.entities import html5
from pathlib import Path
from xml.etree.ElementTree import Element, ParseError

from paper_library.build.entry import Entry, Problem
from paper_library.build.readers import tidy
from paper_library.build.readers.dates import month_number, year_number
from paper_library.build.readers.files import read_bytes, tells_disk_errors
from paper_library.build.readers.jats_text import Writer
from paper_library.build.readers.jats_tree import child, children, descendants, name_of, plain

MAX_BYTES = 64 << 20
"""A larger file is not one article."""
_NAMED_ENTITY = re.compile(rb"&([A-Za-z][A-Za-z0-9]{1,31});")
_XML_ENTITIES = frozenset((b"amp", b"lt", b"gt", b"quot", b"apos"))
_PUBLISHED = ("epub", "ppub", "pub", "epub-ppub", "epreprint")
_LANG = "{http://www.w3.org/XML/1998/namespace}lang"


@tells_disk_errors
def read(path: Path, origin: str) -> Iterator[Entry | Problem]:
    """The article of a JATS file, or each of several. XML that is something else is passed over."""
    try:
        root = _parse(read_bytes(path, MAX_BYTES))
        articles = [element for element in descendants(root, "article") if child(element, "front") is not None]
        if not articles:
            yield Problem(origin, "skipped", f"It is XML, but no JATS article: it begins with <{name_of(root)[:40]}>.")
        for number, article in enumerate(articles, 1):
            where = origin if len(articles) == 1 else f"{origin}:{number}"
            entry = _entry(article, where)
            has_words = entry.title or entry.abstract
            yield entry if has_words else Problem(where, "broken", "The article has no title. Give it one.")
    except ParseError as error:
        line, column = error.position
        yield Problem(origin, "broken", f"It is not well-formed XML at line {line}, column {column}. Correct it there.")
    except RecursionError:
        yield Problem(origin, "broken", "Its elements are nested too deeply to be an article.")
    except (ValueError, LookupError) as error:
        yield Problem(origin, "broken", f"It is XML that is not read: {error}.")


def _parse(data: bytes) -> Element:
    """The root of the document. Entity declarations are refused, and nothing outside the file is ever fetched."""
    from defusedxml import DefusedXmlException
    from defusedxml.ElementTree import fromstring

    try:
        return fromstring(_NAMED_ENTITY.sub(_character, data), forbid_dtd=False)
    except DefusedXmlException:
        raise ValueError("it declares entities of its own, which can be made to fill the memory") from None


def _character(match: re.Match[bytes]) -> bytes:
    """A named character as a number: the DTD that defines the names is not fetched."""
    if match[1] in _XML_ENTITIES:
        return match[0]
    text = html5.get(f"{match[1].decode()};")
    return b"".join(b"&#%d;" % ord(char) for char in text) if text else b"&amp;" + match[0][1:]


def _entry(article: Element, where: str) -> Entry:
    front = child(article, "front")
    assert front is not None
    meta = child(front, "article-meta")
    meta = front if meta is None else meta
    journal = child(front, "journal-meta")
    title = _title(meta)
    abstract = next((found for found in children(meta, "abstract") if not found.get("abstract-type")), None)
    year, month = _date(meta)
    return Entry(
        title=title,
        authors=_authors(meta),
        year=year,
        month=month,
        venue=_first_text(journal, "journal-title") or _first_text(journal, "abbrev-journal-title"),
        volume=_own_text(meta, "volume"),
        issue=_own_text(meta, "issue"),
        pages=_pages(meta),
        publisher=_first_text(journal, "publisher-name"),
        abstract=_abstract(abstract),
        identifiers=_identifiers(meta),
        keywords=_keywords(meta),
        institutions=_institutions(meta),
        kind="article",
        language=article.get(_LANG, ""),
        source=Writer().article(title, abstract, article),
        origin=where,
    )


def _title(meta: Element) -> str:
    group = child(meta, "title-group")
    group = meta if group is None else group
    title, subtitle = _first_text(group, "article-title"), _first_text(group, "subtitle")
    return f"{title}: {subtitle}" if title and subtitle else title


def _authors(meta: Element) -> list[str]:
    contributors = (found for group in children(meta, "contrib-group") for found in children(group, "contrib"))
    names = (_author(found) for found in contributors if found.get("contrib-type", "author") == "author")
    return [name for name in names if name]


def _author(contributor: Element) -> str:
    for element in descendants(contributor, "name", "string-name", "collab"):
        if name_of(element) == "collab":
            return tidy.line(plain(element, without=("contrib-group", "xref", "fn")))
        parts = (_first_text(element, part) for part in ("given-names", "surname", "suffix"))
        if name := " ".join(part for part in parts if part) or tidy.line(plain(element)):
            return name
    return ""


def _date(meta: Element) -> tuple[int | None, int | None]:
    dates: list[tuple[bool, int, int]] = []
    for date in children(meta, "pub-date"):
        if year := year_number(_first_text(date, "year")):
            kind = date.get("pub-type") or date.get("date-type") or ""
            month = month_number(_first_text(date, "month")) or _season(date)
            # A date without a month is no earlier than one in the same year that has it.
            dates.append((kind not in _PUBLISHED, year, month or 13))
    if not dates:
        return None, None
    _, year, month = min(dates)
    return year, (month if month <= 12 else None)


def _pages(meta: Element) -> str:
    return "-".join(filter(None, (_own_text(meta, "fpage"), _own_text(meta, "lpage"))))


def _own_text(meta: Element, name: str) -> str:
    """Return the text of a direct child: what lies deeper belongs to a related article."""
    found = child(meta, name)
    return "" if found is None else tidy.line(plain(found))


def _season(date: Element) -> int | None:
    return month_number(_first_text(date, "season"))


def _abstract(abstract: Element | None) -> str:
    if abstract is None:
        return ""
    parts: list[str] = []
    for element in abstract:
        title = _first_text(element, "title") if name_of(element) == "sec" else ""
        text = tidy.line(plain(element, without=("title", "label")))
        if name_of(element) != "title" and text:
            parts.append(f"{title.rstrip(':. ')}: {text}" if title else text)
    return " ".join(parts) or tidy.line(plain(abstract))


def _identifiers(meta: Element) -> dict[str, str]:
    schemes = {"doi": "doi", "pmid": "pmid", "pmc": "pmcid", "pmcid": "pmcid", "arxiv": "arxiv"}
    found: dict[str, str] = {}
    for element in children(meta, "article-id"):
        scheme = schemes.get(element.get("pub-id-type", "").lower())
        if scheme and (value := tidy.line(plain(element))):
            found.setdefault(scheme, value)
    return found


def _keywords(meta: Element) -> list[str]:
    groups = (group for group in children(meta, "kwd-group") if "abbrev" not in group.get("kwd-group-type", ""))
    return tidy.lines(plain(keyword) for group in groups for keyword in descendants(group, "kwd"))


def _institutions(meta: Element) -> list[str]:
    places = descendants(meta, "aff")
    texts = (plain(place, without=("label", "sup", "institution-id", "email", "xref")) for place in places)
    return tidy.lines(tidy.line(text).strip(" ,;") for text in texts)


def _first_text(element: Element | None, name: str) -> str:
    if element is None:
        return ""
    found = next(descendants(element, name), None)
    return "" if found is None else tidy.line(plain(found, without=("xref", "fn")))
