"""Read JATS XML, the format of articles at publishers and PubMed Central."""

import re
from collections.abc import Iterator
from html.entities import html5
from pathlib import Path
from xml.etree.ElementTree import Element, ParseError

from paper_library.domain.entries import BuildProblem, Entry
from paper_library.service.build.readers.jats_markdown import MarkdownArticle
from paper_library.service.build.readers.texts_and_dates import (
    parse_month,
    parse_year,
    read_bytes,
    yield_file_errors_as_problems,
)
from uraniborg.kernel.bibliography.plain_text import (
    clean_line,
    clean_unique_values,
    extract_text,
    find_child,
    find_children,
    find_self_and_descendants,
    get_local_name,
)

MAX_BYTES = 64 << 20
"""A larger file is not one article."""
_NAMED_ENTITY = re.compile(rb"&([A-Za-z][A-Za-z0-9]{1,31});")
_XML_ENTITIES = frozenset((b"amp", b"lt", b"gt", b"quot", b"apos"))
_PUBLISHED = ("epub", "ppub", "pub", "epub-ppub", "epreprint")
_LANG = "{http://www.w3.org/XML/1998/namespace}lang"


@yield_file_errors_as_problems
def read_entries(path: Path, origin: str) -> Iterator[Entry | BuildProblem]:
    """Yield the articles of a JATS file, or a problem if the XML is not JATS."""
    try:
        root = _parse_xml(read_bytes(path, MAX_BYTES))
        articles = [
            element
            for element in find_self_and_descendants(root, "article")
            if find_child(element, "front") is not None
        ]
        if not articles:
            yield BuildProblem(
                origin,
                "skipped",
                f"The file is XML, but not a JATS article: it starts with <{get_local_name(root)[:40]}>.",
            )
        for number, article in enumerate(articles, 1):
            where = origin if len(articles) == 1 else f"{origin}:{number}"
            entry = _make_entry(article, where)
            has_words = entry.title or entry.abstract
            yield entry if has_words else BuildProblem(where, "broken", "The article has no title. Add a title.")
    except ParseError as error:
        line, column = error.position
        yield BuildProblem(
            origin, "broken", f"The file is not well-formed XML at line {line}, column {column}. Correct it there."
        )
    except RecursionError:
        yield BuildProblem(origin, "broken", "The elements are nested too deeply for an article.")
    except (ValueError, LookupError) as error:
        yield BuildProblem(origin, "broken", f"The XML cannot be read: {error}.")


def _parse_xml(data: bytes) -> Element:
    """Return the root of the document. Refuse entity declarations; fetch nothing outside the file."""
    from defusedxml import DefusedXmlException
    from defusedxml.ElementTree import fromstring

    try:
        return fromstring(_NAMED_ENTITY.sub(_replace_entity, data), forbid_dtd=False)
    except DefusedXmlException:
        raise ValueError("it declares entities, which can fill the memory") from None


def _replace_entity(match: re.Match[bytes]) -> bytes:
    """Return a named character as a numeric one, because the DTD that defines the names is not fetched."""
    if match[1] in _XML_ENTITIES:
        return match[0]
    text = html5.get(f"{match[1].decode()};")
    return b"".join(b"&#%d;" % ord(char) for char in text) if text else b"&amp;" + match[0][1:]


def _make_entry(article: Element, where: str) -> Entry:
    front = find_child(article, "front")
    assert front is not None
    meta = find_child(front, "article-meta")
    meta = front if meta is None else meta
    journal = find_child(front, "journal-meta")
    title = _read_title(meta)
    abstract = next((found for found in find_children(meta, "abstract") if not found.get("abstract-type")), None)
    year, month = _read_date(meta)
    return Entry(
        title=title,
        authors=_read_authors(meta),
        year=year,
        month=month,
        venue=_read_descendant_text(journal, "journal-title") or _read_descendant_text(journal, "abbrev-journal-title"),
        volume=_read_child_text(meta, "volume"),
        issue=_read_child_text(meta, "issue"),
        pages=_read_pages(meta),
        publisher=_read_descendant_text(journal, "publisher-name"),
        abstract=_read_abstract(abstract),
        identifiers=_read_identifiers(meta),
        keywords=_read_keywords(meta),
        institutions=_read_institutions(meta),
        kind="article",
        language=article.get(_LANG, ""),
        source=MarkdownArticle().format_article(title, abstract, article),
        origin=where,
    )


def _read_title(meta: Element) -> str:
    group = find_child(meta, "title-group")
    group = meta if group is None else group
    title, subtitle = _read_descendant_text(group, "article-title"), _read_descendant_text(group, "subtitle")
    return f"{title}: {subtitle}" if title and subtitle else title


def _read_authors(meta: Element) -> list[str]:
    contributors = (
        found for group in find_children(meta, "contrib-group") for found in find_children(group, "contrib")
    )
    names = (_read_author(found) for found in contributors if found.get("contrib-type", "author") == "author")
    return [name for name in names if name]


def _read_author(contributor: Element) -> str:
    for element in find_self_and_descendants(contributor, "name", "string-name", "collab"):
        if get_local_name(element) == "collab":
            return clean_line(extract_text(element, without=("contrib-group", "xref", "fn")))
        parts = (_read_descendant_text(element, part) for part in ("given-names", "surname", "suffix"))
        if name := " ".join(part for part in parts if part) or clean_line(extract_text(element)):
            return name
    return ""


def _read_date(meta: Element) -> tuple[int | None, int | None]:
    dates: list[tuple[bool, int, int]] = []
    for date in find_children(meta, "pub-date"):
        if year := parse_year(_read_descendant_text(date, "year")):
            kind = date.get("pub-type") or date.get("date-type") or ""
            month = parse_month(_read_descendant_text(date, "month")) or _read_month_of_season(date)
            # A date without a month sorts after the dates of the same year that have one.
            dates.append((kind not in _PUBLISHED, year, month or 13))
    if not dates:
        return None, None
    _, year, month = min(dates)
    return year, (month if month <= 12 else None)


def _read_pages(meta: Element) -> str:
    return "-".join(filter(None, (_read_child_text(meta, "fpage"), _read_child_text(meta, "lpage"))))


def _read_child_text(meta: Element, name: str) -> str:
    """Return the text of a direct child; deeper elements belong to a related article."""
    found = find_child(meta, name)
    return "" if found is None else clean_line(extract_text(found))


def _read_month_of_season(date: Element) -> int | None:
    return parse_month(_read_descendant_text(date, "season"))


def _read_abstract(abstract: Element | None) -> str:
    if abstract is None:
        return ""
    parts: list[str] = []
    for element in abstract:
        title = _read_descendant_text(element, "title") if get_local_name(element) == "sec" else ""
        text = clean_line(extract_text(element, without=("title", "label")))
        if get_local_name(element) != "title" and text:
            parts.append(f"{title.rstrip(':. ')}: {text}" if title else text)
    return " ".join(parts) or clean_line(extract_text(abstract))


def _read_identifiers(meta: Element) -> dict[str, str]:
    schemes = {"doi": "doi", "pmid": "pmid", "pmc": "pmcid", "pmcid": "pmcid", "arxiv": "arxiv"}
    found: dict[str, str] = {}
    for element in find_children(meta, "article-id"):
        scheme = schemes.get(element.get("pub-id-type", "").lower())
        if scheme and (value := clean_line(extract_text(element))):
            found.setdefault(scheme, value)
    return found


def _read_keywords(meta: Element) -> list[str]:
    groups = (group for group in find_children(meta, "kwd-group") if "abbrev" not in group.get("kwd-group-type", ""))
    return clean_unique_values(
        extract_text(keyword) for group in groups for keyword in find_self_and_descendants(group, "kwd")
    )


def _read_institutions(meta: Element) -> list[str]:
    affiliations = find_self_and_descendants(meta, "aff")
    texts = (
        extract_text(affiliation, without=("label", "sup", "institution-id", "email", "xref"))
        for affiliation in affiliations
    )
    return clean_unique_values(clean_line(text).strip(" ,;") for text in texts)


def _read_descendant_text(element: Element | None, name: str) -> str:
    if element is None:
        return ""
    found = next(find_self_and_descendants(element, name), None)
    return "" if found is None else clean_line(extract_text(found, without=("xref", "fn")))
