"""Clean values of records, and build papers of them."""

import re
from collections.abc import Callable, Iterable, Mapping
from html import unescape
from typing import TypeVar, cast
from urllib.parse import urlsplit
from xml.etree.ElementTree import Element

from paper_search.editorial_notices import EditorialNotice
from paper_search.models import Author, RawPaper, SourceRecord, WorkType
from uraniborg.kernel.bibliography.identifiers import normalise_identifiers
from uraniborg.kernel.json_values import Json, JsonObject

Record = TypeVar("Record")
_UNPRINTABLE = re.compile(r"[\x00-\x08\x0e-\x1b\x7f\ufeff\ufffe\uffff]")
_INLINE = (
    "a abbr b bold big em emph font i inf italic math mi mn mo mrow msub msubsup msup mtext mstyle monospace overline "
    "roman s sans-serif sc scp small span strike strong sub sup tex tex-math tt u underline xref inline-formula "
    "inline-graphic named-content ext-link alternatives"
)
_BLOCK = (
    "blockquote br break caption div dd dl dt fig h1 h2 h3 h4 h5 h6 label li list list-item ol p para sec section "
    "simplesect table td title tr ul abstract disp-formula"
)
_ATTRIBUTES = r"""(?:\s+[\w:.-]+\s*=\s*(?:"[^"<]*"|'[^'<]*'))*\s*/?"""
_NAMES = {kind: "|".join(re.escape(name) for name in names.split()) for kind, names in (("i", _INLINE), ("b", _BLOCK))}
_INLINE_TAG = re.compile(rf"</?(?:[a-z]\w*:)?(?:{_NAMES['i']}){_ATTRIBUTES}>", re.IGNORECASE)
_BLOCK_TAG = re.compile(rf"</?(?:[a-z]\w*:)?(?:{_NAMES['b']}){_ATTRIBUTES}>", re.IGNORECASE)
_ANY_TAG = re.compile(r"<[^<>]*>")
_FOREIGN_TAG = re.compile(rf"</?(?:jats|mml|m|xhtml|html):[\w.-]+{_ATTRIBUTES}>|<!--[^<]*?-->|<!\[CDATA\[|\]\]>")
_CLOSING_TAG = re.compile(r"</(?P<name>[a-z][\w:.-]{0,30})\s*>", re.IGNORECASE)
_MOST_TAG_NAMES = 40
# Registrants lose the spaces around italics and formulas: "of<i>E. coli</i>strains".
_ITALICS_AFTER_WORD = re.compile(r"(?<=[^\W\d_])(?=<(?:jats:)?(?:i|em|italic)>[^<>]{0,80}?[^\W\d_]{3})", re.IGNORECASE)
_WORD_AFTER_ITALICS = re.compile(r"([^\W\d_]{3}</(?:jats:)?(?:i|em|italic)>)(?=[^\W\d_])", re.IGNORECASE)
_FORMULA = re.compile(
    r"<(?:\w+:)?math\b[^<>]*>(?P<inside>[^<]*(?:<(?!/?(?:\w+:)?math\b)[^<]*)*)</(?:\w+:)?math>", re.IGNORECASE
)
_TEX_OF_FORMULA = re.compile(r"<(?P<tag>(?:\w+:)?annotation)\b[^<>]*>[^<]*</(?P=tag)>", re.IGNORECASE)
_ABSTRACT_HEADING = re.compile(r"\s*<(?P<tag>(?:jats:)?title|h\d)>\s*abstract\s*[.:]?\s*</(?P=tag)>", re.IGNORECASE)
_YEAR = re.compile(r"(?<![0-9])(1[0-9]{3}|20[0-9]{2})(?![0-9])")


def clean_text(value: object) -> str:
    """Return a string or number as one clean line; "" for other values."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    try:
        line = str(value)
    except ValueError:  # an integer of more than 4,300 digits
        return ""
    return " ".join(_UNPRINTABLE.sub("", line).split())


def strip_markup(value: object) -> str:
    """Return a clean line without HTML, JATS or MathML tags and with entities decoded; a lone `<` stays."""
    line = clean_text(value)
    if "&" in line:
        # Registrants escape twice as often as not: &amp;lt;i&amp;gt;
        line = unescape(unescape(line))
    if "<" in line:
        line = _ITALICS_AFTER_WORD.sub(" ", _WORD_AFTER_ITALICS.sub(r"\1 ", _FORMULA.sub(_format_formula_match, line)))
        line = _BLOCK_TAG.sub(" ", _ABSTRACT_HEADING.sub("", line, count=1))
        line = _remove_paired_tags(_INLINE_TAG.sub("", _FOREIGN_TAG.sub("", line)))
    return clean_text(line)


def _format_formula_match(found: re.Match[str]) -> str:
    """Return the text of a formula, with spaces around it unless it is an index as in "H2O"."""
    inside = _ANY_TAG.sub("", re.sub(r">\s+<", "><", _TEX_OF_FORMULA.sub("", found["inside"]))).strip()
    before, after = found.string[: found.start()][-1:], found.string[found.end() :][:1]
    is_index = before.isalpha() and inside[:1].isdigit()
    left = " " if before.isalpha() and not is_index else ""
    right = " " if after.isalpha() and not is_index else ""
    return f"{left}{inside}{right}"


def _remove_paired_tags(line: str) -> str:
    """Return the line without the tags of elements that are closed; other "<" stay."""
    names = dict.fromkeys(found["name"].lower() for found in _CLOSING_TAG.finditer(line))
    if not names:
        return line
    alternatives = "|".join(re.escape(name) for name in list(names)[:_MOST_TAG_NAMES])
    return re.sub(rf"</?(?:{alternatives})(?:\s[^<>]*)?/?>", "", line, flags=re.IGNORECASE)


def get_element_text(element: Element | None) -> str:
    """Return all text in an element without markup; "" for None."""
    return clean_text("".join(element.itertext())) if element is not None else ""


def get_object_or_empty(value: object) -> JsonObject:
    """Return the value if it is a JSON object, else {}."""
    return cast("JsonObject", value) if isinstance(value, dict) else {}


def ensure_list(value: object) -> list[Json]:
    """Return a list unchanged, None as [], and other values as a list of one."""
    if isinstance(value, list):
        return cast("list[Json]", value)
    return [] if value is None else [cast("Json", value)]


def list_json_objects(value: object) -> list[JsonObject]:
    """Return the JSON objects in a list, without other values."""
    return [item for item in ensure_list(value) if isinstance(item, dict)]


def get_first_text(*values: object) -> str:
    """Return the first value with text, or ""."""
    return next((found for value in values if (found := clean_text(value))), "")


def parse_count(value: object) -> int | None:
    """Return a non-negative integer given as a number or as digits; None for other values."""
    if isinstance(value, str) and len(value) < 20:
        return int(value) if value.strip().isascii() and value.strip().isdigit() else None
    if isinstance(value, float):
        return int(value) if value.is_integer() and value >= 0 else None
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def find_year(*values: object) -> int | None:
    """Return the first plausible year in numbers and dates of any notation, or None."""
    for value in values:
        if match := _YEAR.search(clean_text(value)):
            return int(match[1])
    return None


def get_first_link(*values: object) -> str | None:
    """Return the first value that is a web address, or None."""
    for value in values:
        address = clean_text(value)
        try:
            parts = urlsplit(address)
        except ValueError:
            continue
        if parts.scheme in {"http", "https"} and parts.netloc and " " not in address:
            return address
    return None


def get_date_parts(value: object) -> list[Json]:
    """Return the year, month and day, as far as given, of a date in the notation of Crossref and CSL."""
    parts = ensure_list(get_object_or_empty(value).get("date-parts"))
    return ensure_list(parts[0]) if parts else []


def format_page_range(first: object, last: object = None) -> str | None:
    """Return pages as `12-34`, from one text or from the first and the last page; None without pages."""
    start, end = clean_text(first), clean_text(last)
    joined = f"{start}-{end}" if start and end and start != end else start or end
    return re.sub(r"\s*[-‐‑‒–—]+\s*", "-", joined) or None


def clean_title(value: object) -> str:
    """Return a title without markup and without the final full stop that some sources add.

    Ellipses stay, and so do the dots of abbreviations such as "U.S." and of initials.
    """
    title = strip_markup(value)
    last_word = title.rpartition(" ")[2]
    is_initial = len(last_word) == 2 and last_word[0].isalpha()
    return title.removesuffix(".") if last_word.count(".") == 1 and not is_initial else title


def join_title_and_subtitle(title: object, subtitle: object) -> str:
    """Return "Title: Subtitle" without markup, or the title alone if there is no subtitle or it is in the title."""
    main, rest = clean_title(title), clean_title(subtitle)
    if not main or not rest or _fold_letters_and_digits(rest) in _fold_letters_and_digits(main):
        return main
    return f"{main} {rest}" if main[-1] in ":?!.…–—" else f"{main}: {rest}"


def _fold_letters_and_digits(title: str) -> str:
    return "".join(filter(str.isalnum, title.casefold()))


def read_papers(records: Iterable[Record], read_record: Callable[[Record], RawPaper | None]) -> list[RawPaper]:
    """Return the papers that `read_record` makes of the records, in order, without records that are not papers."""
    return [found for record in records if (found := read_record(record))]


def make_authors(names_and_ids: Iterable[tuple[object, object]]) -> list[Author]:
    """Return authors in order from pairs of a name and the source's id for that person.

    Texts without a letter, and pieces of addresses, which begin with a comma, are dropped.
    """
    return [
        Author(name=name, author_id=clean_text(author_id) or None)
        for raw, author_id in names_and_ids
        if (name := strip_markup(raw)) and name[0] != "," and any(map(str.isalpha, name))
    ]


def build_paper(
    source: str,
    record_id: object,
    title: object,
    *,
    authors: Iterable[tuple[object, object]],
    identifiers: Mapping[str, object],
    links: Iterable[object],
    year: int | None = None,
    venue: object = None,
    abstract: object = None,
    snippet: object = None,
    citation_count: object = None,
    language: str | None = None,
    work_type: WorkType | None = None,
    volume: object = None,
    issue: object = None,
    pages: str | None = None,
    publisher: object = None,
    editors: Iterable[tuple[object, object]] = (),
    notices: Iterable[EditorialNotice] = (),
    provenance: Mapping[str, str] | None = None,
    raw_data: Mapping[str, object] | None = None,
) -> RawPaper | None:
    """Return the paper of one record with cleaned fields; None without a title.

    `links` are in order of preference; `editors` are used only without authors; `provenance` names the source of a
    field that comes from an unusual part of the record.
    """
    name = clean_title(title)
    if not name:
        return None
    known = normalise_identifiers({scheme: clean_text(value) for scheme, value in identifiers.items()})
    writers = make_authors(authors)
    return RawPaper(
        title=name,
        authors=writers,
        editors=[] if writers else make_authors(editors),
        year=year,
        venue=strip_markup(venue) or None,
        doi=known.get("doi"),
        abstract=strip_markup(abstract) or None,
        snippet=strip_markup(snippet) or None,
        full_text_url=get_first_link(*links),
        citation_count=parse_count(citation_count) or 0,
        source=source,
        identifiers=known,
        work_type=work_type,
        language=language,
        volume=clean_text(volume) or None,
        issue=clean_text(issue) or None,
        pages=pages,
        publisher=strip_markup(publisher) or None,
        records=[SourceRecord(source=source, record_id=clean_text(record_id) or next(iter(known.values()), name[:80]))],
        provenance=dict(provenance or {}),
        notices=list(notices),
        raw_data={key: value for key, value in (raw_data or {}).items() if value},
    )
