"""Takes what sources send as it comes: wrong types, markup, broken bodies, and makes papers or clear errors of it."""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from html import unescape
from typing import Any, TypeVar, cast
from urllib.parse import urlsplit
from xml.etree.ElementTree import Element, ParseError, fromstring
from xml.parsers import expat

from paper_search.errors import NonRetryableError, RetryableError, SearchSourceError
from paper_search.models import Author, RawPaper, SourceRecord, WorkType
from paper_search.notices import EditorialNotice
from paper_search.sources.interfaces import Request, Response
from uraniborg.kernel.bibliography.identifiers import normalise_identifiers

Record = TypeVar("Record")

_UNPRINTABLE = re.compile(r"[\x00-\x08\x0e-\x1b\x7f\ud800-\udfff\ufeff\ufffe\uffff]")
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


def json_body(source: str, response: Response) -> Any:
    """The JSON of an answer. Raises NonRetryableError when it is empty, a web page, or broken."""
    body = response.body.decode("utf-8-sig", "replace").strip()
    if not body:
        raise unreadable(source, "an empty body")
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        what = "a web page or XML" if body.startswith("<") else "a body that is not whole JSON"
        raise unreadable(source, what) from None


def json_object(source: str, response: Response) -> dict[str, Any]:
    """The JSON object of an answer. Raises NonRetryableError as `json_body` does, and for any other JSON value."""
    body = json_body(source, response)
    if not isinstance(body, dict):
        raise unreadable(source, f"a JSON {type(body).__name__} where an object was due")
    return cast("dict[str, Any]", body)


def xml_root(source: str, response: Response) -> Element:
    """The root of an XML answer. Raises NonRetryableError when it is no XML or declares entities."""
    if not response.body.strip():
        raise unreadable(source, "an empty body")
    try:
        _refuse_entities(response.body)
        return fromstring(response.body)  # noqa: S314 - bodies that declare entities do not come this far
    except _DeclaresEntitiesError:
        raise unreadable(source, "XML that declares entities, which is not read") from None
    except (ParseError, expat.ExpatError, ValueError, LookupError):
        raise unreadable(source, "a body that is not whole XML") from None


class _DeclaresEntitiesError(Exception):
    pass


class _PrologOverError(Exception):
    pass


def _refuse_entities(body: bytes) -> None:
    def refuse(*_: object) -> None:
        raise _DeclaresEntitiesError

    def stop(*_: object) -> None:
        raise _PrologOverError

    parser = expat.ParserCreate()
    parser.EntityDeclHandler = refuse
    parser.StartElementHandler = stop
    try:
        parser.Parse(body, True)
    except _PrologOverError:
        return


def is_xml(response: Response) -> bool:
    return response.body.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<")


def unreadable(source: str, what: str) -> NonRetryableError:
    return NonRetryableError(
        f"{source} answered with {what}.", hint=f"Try again later, or search without {source}.", source=source
    )


def refused(source: str, response: Response, message: object) -> NonRetryableError | None:
    """The error for a request that the source will never accept, in its own words; None when it may accept it later."""
    said = text(message)[:300]
    if not said or response.status in {408, 425, 429} or not 400 <= response.status < 500:
        return None
    return NonRetryableError(f"{source} refused the request ({response.status}): {said}", source=source)


def complaint(source: str, said: str, *, passing: bool = False, rate_limited: bool = False) -> SearchSourceError:
    """The error that a source reports inside a 200 answer, in its own words; a `passing` one may be gone next time."""
    message = f"{source} answered with an error: {said[:300]}"
    if passing:
        return RetryableError(message, rate_limited=rate_limited, source=source)
    return NonRetryableError(message, source=source)


def json_or_none(response: Response) -> Any:
    """The JSON of an answer that may be anything, such as an error page."""
    try:
        return json_body("", response)
    except NonRetryableError:
        return None


def batches(values: Sequence[str], size: int) -> list[Sequence[str]]:
    """Return the values in runs of at most `size`."""
    return [values[start : start + size] for start in range(0, len(values), size)]


def next_page(request: Request, **params: object) -> Request:
    """The same request with these parameters in place of its own. Underscores stand for hyphens."""
    new = {name.replace("_", "-"): str(value) for name, value in params.items()}
    kept = tuple((name, value) for name, value in request.params if name not in new)
    return replace(request, params=(*kept, *new.items()))


def text(value: object) -> str:
    """A string or number as one clean line; "" for anything else."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    try:
        line = str(value)
    except ValueError:  # an integer of more than 4,300 digits
        return ""
    return " ".join(_UNPRINTABLE.sub("", line).split())


def strip_markup(value: object) -> str:
    """A clean line without HTML, JATS or MathML tags and with entities decoded; a lone `<` stays."""
    line = text(value)
    if "&" in line:
        # Registrants escape twice as often as not: &amp;lt;i&amp;gt;
        line = unescape(unescape(line))
    if "<" in line:
        line = _ITALICS_AFTER_WORD.sub(" ", _WORD_AFTER_ITALICS.sub(r"\1 ", _FORMULA.sub(_spaced_formula, line)))
        line = _BLOCK_TAG.sub(" ", _ABSTRACT_HEADING.sub("", line, count=1))
        line = _without_paired_tags(_INLINE_TAG.sub("", _FOREIGN_TAG.sub("", line)))
    return text(line)


def _spaced_formula(found: re.Match[str]) -> str:
    """Return the text of a formula, set off from the words beside it unless it is an index as in "H2O"."""
    inside = _ANY_TAG.sub("", re.sub(r">\s+<", "><", _TEX_OF_FORMULA.sub("", found["inside"]))).strip()
    before, after = found.string[: found.start()][-1:], found.string[found.end() :][:1]
    is_index = before.isalpha() and inside[:1].isdigit()
    left = " " if before.isalpha() and not is_index else ""
    right = " " if after.isalpha() and not is_index else ""
    return f"{left}{inside}{right}"


def _without_paired_tags(line: str) -> str:
    """Return the line without elements' tags of whatever name; a "<" that no closing tag answers stays."""
    names = dict.fromkeys(found["name"].lower() for found in _CLOSING_TAG.finditer(line))
    if not names:
        return line
    alternatives = "|".join(re.escape(name) for name in list(names)[:_MOST_TAG_NAMES])
    return re.sub(rf"</?(?:{alternatives})(?:\s[^<>]*)?/?>", "", line, flags=re.IGNORECASE)


def element_text(element: Element | None) -> str:
    """All text inside an element, its markup left out."""
    return text("".join(element.itertext())) if element is not None else ""


def mapping(value: object) -> dict[str, Any]:
    """The object itself, or an empty one when it is something else."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def items(value: object) -> list[Any]:
    """A list as it is, nothing as an empty one, and anything else as a list of one."""
    if isinstance(value, list):
        return cast("list[Any]", value)
    return [] if value is None else [value]


def objects(value: object) -> list[dict[str, Any]]:
    """The objects in a list; whatever else it holds is passed over."""
    return [cast("dict[str, Any]", item) for item in items(value) if isinstance(item, dict)]


def listed(source: str, body: Mapping[str, Any], key: str) -> list[Any]:
    """The list under a key, empty when there is none. Raises NonRetryableError when it is something else."""
    found = body.get(key)
    if found is not None and not isinstance(found, list):
        raise unreadable(source, f"JSON whose {key} are no list")
    return items(cast("object", found))


def first_text(*values: object) -> str:
    """The first value that holds text."""
    return next((found for value in values if (found := text(value))), "")


def number(value: object) -> int | None:
    """A whole number that is not negative, written as a number or as digits; else None."""
    if isinstance(value, str) and len(value) < 20:
        return int(value) if value.strip().isascii() and value.strip().isdigit() else None
    if isinstance(value, float):
        return int(value) if value.is_integer() and value >= 0 else None
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def year_of(*values: object) -> int | None:
    """The first plausible year among numbers and dates in any notation."""
    for value in values:
        if match := _YEAR.search(text(value)):
            return int(match[1])
    return None


def first_link(*values: object) -> str | None:
    """The first value that is a web address."""
    for value in values:
        address = text(value)
        try:
            parts = urlsplit(address)
        except ValueError:
            continue
        if parts.scheme in {"http", "https"} and parts.netloc and " " not in address:
            return address
    return None


def date_parts(value: object) -> list[Any]:
    """Return year, month and day, as many as there are, of a date in Crossref's and CSL's notation."""
    parts = items(mapping(value).get("date-parts"))
    return items(parts[0]) if parts else []


def page_range(first: object, last: object = None) -> str | None:
    """Pages as `12-34`, from one text or from the first and the last."""
    start, end = text(first), text(last)
    joined = f"{start}-{end}" if start and end and start != end else start or end
    return re.sub(r"\s*[-‐‑‒–—]+\s*", "-", joined) or None


def headline(value: object) -> str:
    """Return a title without markup and without the full stop that some sources close it with.

    Dots that stand for something left out stay, and so do those of abbreviations such as "U.S." and of initials.
    """
    title = strip_markup(value)
    last_word = title.rpartition(" ")[2]
    is_initial = len(last_word) == 2 and last_word[0].isalpha()
    return title.removesuffix(".") if last_word.count(".") == 1 and not is_initial else title


def join_subtitle(title: object, subtitle: object) -> str:
    """Return "Title: Subtitle" without markup, or the title alone if there is no subtitle or it is in the title."""
    main, rest = headline(title), headline(subtitle)
    if not main or not rest or _letters(rest) in _letters(main):
        return main
    return f"{main} {rest}" if main[-1] in ":?!.…–—" else f"{main}: {rest}"


def _letters(title: str) -> str:
    return "".join(filter(str.isalnum, title.casefold()))


def papers_of(records: Iterable[Record], read: Callable[[Record], RawPaper | None]) -> list[RawPaper]:
    """What `read` makes of each record, in order, those that are no papers left out."""
    return [found for record in records if (found := read(record))]


def people(names: Iterable[tuple[object, object]]) -> list[Author]:
    """Return authors in order from pairs of a name and the source's id for that person.

    What is not a name is left out: text without a letter, and pieces of addresses, which begin with a comma.
    """
    return [
        Author(name=name, author_id=text(author_id) or None)
        for raw, author_id in names
        if (name := strip_markup(raw)) and name[0] != "," and any(map(str.isalpha, name))
    ]


def paper(
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
    raw_data: dict[str, Any] | None = None,
) -> RawPaper | None:
    """Return one record as a paper, every field cleaned; None if it has no title.

    `links` come best first; `editors` count only where there are no authors; `provenance` says of a field that it
    comes from an unusual place in the record.
    """
    name = headline(title)
    if not name:
        return None
    known = normalise_identifiers({scheme: text(value) for scheme, value in identifiers.items()})
    writers = people(authors)
    return RawPaper(
        title=name,
        authors=writers,
        editors=[] if writers else people(editors),
        year=year,
        venue=strip_markup(venue) or None,
        doi=known.get("doi"),
        abstract=strip_markup(abstract) or None,
        snippet=strip_markup(snippet) or None,
        full_text_url=first_link(*links),
        citation_count=number(citation_count) or 0,
        source=source,
        identifiers=known,
        work_type=work_type,
        language=language,
        volume=text(volume) or None,
        issue=text(issue) or None,
        pages=pages,
        publisher=strip_markup(publisher) or None,
        records=[SourceRecord(source=source, record_id=text(record_id) or next(iter(known.values()), name[:80]))],
        provenance=dict(provenance or {}),
        notices=list(notices),
        raw_data={key: value for key, value in (raw_data or {}).items() if value},
    )
