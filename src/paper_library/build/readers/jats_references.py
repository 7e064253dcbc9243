"""One entry of the reference list of a JATS article as a line of text."""

import re
from xml.etree.ElementTree import Element

from paper_library.build.readers import tidy
from paper_library.build.readers.jats_tree import descendants, plain

_CITATIONS = ("mixed-citation", "element-citation", "nlm-citation", "citation")
_APART = ("surname", "given-names", "source", "volume", "year")
_BEFORE_POINT = re.compile(r" (?=[,.;:)])|(?<=\() ")
_SOURCES = ("article-title", "chapter-title", "source", "publisher-name", "volume", "fpage")


def reference(item: Element) -> str:
    """The citation as it is printed, or put together where the file holds only its parts."""
    citation = next(descendants(item, *_CITATIONS), None)
    if citation is None:
        return tidy.line(plain(item, without=("label",)))
    if any((part.tail or "").strip(" .,;:\n\t()") for part in citation) or not len(citation):
        return _BEFORE_POINT.sub("", tidy.line(plain(citation, without=("label", "pub-id"), apart=_APART)))
    year = _text(citation, "year")
    parts = [", ".join(_people(citation)), f"({year})" if year else "", *(_text(citation, name) for name in _SOURCES)]
    identifiers = (
        tidy.line(plain(part)) for part in descendants(citation, "pub-id") if part.get("pub-id-type") == "doi"
    )
    return ". ".join(part.rstrip(".") for part in (*parts, *identifiers) if part)


def _people(citation: Element) -> list[str]:
    names: list[str] = []
    for person in descendants(citation, "name", "string-name", "collab"):
        parts = [_text(person, "surname"), _text(person, "given-names")]
        names.append(" ".join(part for part in parts if part) or tidy.line(plain(person)))
    return [name for name in names if name]


def _text(element: Element, name: str) -> str:
    found = next(descendants(element, name), None)
    return "" if found is None else tidy.line(plain(found))
