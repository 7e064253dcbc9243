"""The fields of a paper in JSON, under the many names that people and programs give them."""

import re
from collections.abc import Callable
from typing import Any, cast

from paper_library.build.entry import SEARCH_FIELDS, Entry
from paper_library.build.readers import tidy
from paper_library.build.readers.dates import month_number, year_and_month, year_number
from paper_library.build.readers.names import people
from paper_library.identity import is_paper_id
from paper_library.retraction import merge_notices, parse_note, read_notices

_ARXIV = re.compile(
    r"(?:arxiv:\s*|https?://arxiv\.org/(?:abs|pdf)/)(?:\d{4}\.\d{4,5}|[a-z-]+(?:\.[a-z]{2})?/\d{7})(?:v\d+)?",
    re.IGNORECASE,
)
_RECOGNISED = re.compile(
    rf"(?P<doi>(?:doi:\s*|https?://(?:dx\.)?doi\.org/)?10\.\d{{4,9}}/\S+)|(?P<arxiv>{_ARXIV.pattern}|\d{{4}}\.\d{{5}}(?:v\d+)?)",
    re.IGNORECASE,
)
_IDENTIFIERS = {
    "doi": "doi",
    "DOI": "doi",
    "paper_doi": "doi",
    "arxiv": "arxiv",
    "arxiv_id": "arxiv",
    "arxivId": "arxiv",
    "pmid": "pmid",
    "PMID": "pmid",
    "pmcid": "pmcid",
    "PMCID": "pmcid",
    "isbn": "isbn",
    "ISBN": "isbn",
    "url": "url",
    "URL": "url",
    "link": "url",
    "full_text_url": "url",
    "bibkey": "bibkey",
    "citation_key": "bibkey",
    "citation-key": "bibkey",
    "citationKey": "bibkey",
    "bibtex_key": "bibkey",
    "key": "bibkey",
}
_KINDS = {
    "article-journal": "article",
    "article-magazine": "article",
    "article-newspaper": "article",
    "paper-conference": "inproceedings",
    "conference": "inproceedings",
    "chapter": "incollection",
    "thesis": "phdthesis",
    "report": "techreport",
    "dataset": "misc",
    "preprint": "misc",
    "document": "misc",
    "other": "misc",
    "webpage": "misc",
}
_REVIEWED = ("include", "exclude", "maybe", "undecided")
_MOST_ITEMS, _MOST_CHARS, _DEPTH = 200, 2_000, 4
"""The bounds of what is kept of a search's own records."""
_TEMPLATE_FREE = frozenset(("template_tag", "prompt_template", "source_path", "source_hash", "source_file"))


def looks_like_a_paper(item: Any) -> bool:
    """Whether a JSON value is an object with a title or an abstract, or with a text or a summary to read."""
    if not isinstance(item, dict):
        return False
    fields = cast("dict[str, Any]", item)
    if any(isinstance(fields.get(name), str) for name in ("title", "paper_title", "abstract", "paper_abstract")):
        return not any(key in fields for key in ("dependencies", "$schema", "properties", "compilerOptions", "openapi"))
    return (
        any(isinstance(fields.get(name), str) for name in ("source", "markdown", "full_text")) and "authors" in fields
    )


def entry_of(fields: dict[str, Any], where: str, template: str = "") -> Entry:
    """What the fields of one object say; those nobody knows become the summary when a template is named."""
    entry = Entry(origin=where)
    unknown: dict[str, Any] = {}
    for name, value in fields.items():
        if value is None or value == "":
            continue
        if name in _FIELDS and not (template and name in SEARCH_FIELDS):
            _FIELDS[name](entry, value)
        elif name in _IDENTIFIERS:
            if text := tidy.scalar(value):
                entry.identifiers.setdefault(_IDENTIFIERS[name], text)
        else:
            unknown[name] = value
    if template:
        _keep_summary(entry, template, unknown)
    return entry


def _keep_summary(entry: Entry, template: str, unknown: dict[str, Any]) -> None:
    content = {name: value for name, value in unknown.items() if name not in _TEMPLATE_FREE}
    if content:
        entry.summaries.setdefault(template, content)
        entry.preferred_summary = entry.preferred_summary or template


def _title(entry: Entry, value: Any) -> None:
    # Crossref puts titles into lists.
    entry.title = entry.title or _text_or_first(value)


def _title_is_derived(entry: Entry, value: Any) -> None:
    entry.title_is_derived = value is True


def _authors(entry: Entry, value: Any) -> None:
    entry.authors = entry.authors or people(value)
    if isinstance(value, list) and value and isinstance(value[0], dict):
        named = [name for item in cast("list[Any]", value) if isinstance(item, dict) for name in _affiliations(item)]
        entry.institutions = list(dict.fromkeys((*entry.institutions, *named)))


def _affiliations(author: Any) -> list[str]:
    given = author.get("affiliations") or author.get("affiliation") or author.get("institutions")
    return [name for name in tidy.split_list(_names_of(given), ";") if not name.isdigit()]


def _year(entry: Entry, value: Any) -> None:
    entry.year = entry.year or year_number(value)


def _month(entry: Entry, value: Any) -> None:
    entry.month = entry.month or month_number(value)


def _date(entry: Entry, value: Any) -> None:
    if isinstance(value, dict):
        value = _csl_date(cast("dict[str, Any]", value))
    year, month = (
        year_and_month(str(value)) if isinstance(value, str | int) and not isinstance(value, bool) else (None, None)
    )
    entry.year = entry.year or year
    if year == entry.year:
        entry.month = entry.month or month


def _csl_date(date: dict[str, Any]) -> str:
    parts = date.get("date-parts")
    if isinstance(parts, list) and parts and isinstance(parts[0], list):
        return "-".join(tidy.scalar(part) for part in cast("list[Any]", parts[0]) if part is not None)
    return tidy.scalar(date.get("raw") or date.get("literal") or date.get("value"))


def _venue(entry: Entry, value: Any) -> None:
    entry.venue = entry.venue or _text_or_first(value)


def _abstract(entry: Entry, value: Any) -> None:
    entry.abstract = entry.abstract or _text_or_first(value)


def _keywords(entry: Entry, value: Any) -> None:
    entry.keywords = entry.keywords or tidy.split_list(_names_of(value))


def _tags(entry: Entry, value: Any) -> None:
    entry.tags = entry.tags or tidy.split_list(_names_of(value))


def _institutions(entry: Entry, value: Any) -> None:
    entry.institutions = list(dict.fromkeys((*entry.institutions, *tidy.split_list(_names_of(value), ";"))))


def _language(entry: Entry, value: Any) -> None:
    entry.language = entry.language or tidy.scalar(value)


def _kind(entry: Entry, value: Any) -> None:
    kind = tidy.scalar(value).lower()
    entry.kind = entry.kind or _KINDS.get(kind, kind)


def _work_type(entry: Entry, value: Any) -> None:
    entry.work_type = entry.work_type or tidy.scalar(value).lower()
    _kind(entry, value)


def _volume(entry: Entry, value: Any) -> None:
    entry.volume = entry.volume or tidy.scalar(value)


def _issue(entry: Entry, value: Any) -> None:
    entry.issue = entry.issue or tidy.scalar(value)


def _pages(entry: Entry, value: Any) -> None:
    entry.pages = entry.pages or tidy.pages(tidy.scalar(value))


def _publisher(entry: Entry, value: Any) -> None:
    entry.publisher = entry.publisher or _text_or_first(value)


def _notices(entry: Entry, value: Any) -> None:
    entry.notices = merge_notices([*entry.notices, *read_notices(value)])


def _note(entry: Entry, value: Any) -> None:
    """CSL has no field of its own for retractions: a note tells of them."""
    entry.notices = merge_notices([*entry.notices, *parse_note(tidy.scalar(value))])


def _bibtex(entry: Entry, value: Any) -> None:
    entry.bibtex = entry.bibtex or (tidy.block(value) if isinstance(value, str) else "")


def _text(entry: Entry, value: Any) -> None:
    # A search export says in `source` which database it asked, in one word; a paper has lines.
    if isinstance(value, str) and not entry.source:
        entry.source = tidy.block(value)


def _source(entry: Entry, value: Any) -> None:
    if isinstance(value, str) and ("\n" in value.strip() or len(value) > 200):
        _text(entry, value)
    elif name := tidy.scalar(value):
        entry.search.setdefault("sources", [name])


def _searched(name: str) -> Callable[[Entry, Any], None]:
    def put(entry: Entry, value: Any) -> None:
        plain = _bounded(people(value) if name == "editors" else value)
        if (plain or plain == 0) and (name != "status" or plain in _REVIEWED):
            entry.search[name] = plain

    return put


def _bounded(value: Any, depth: int = 0) -> Any:
    """Return a JSON value with its texts on one line, and nothing beyond the size that a search writes."""
    if isinstance(value, list):
        return [_bounded(item, depth + 1) for item in cast("list[Any]", value)[:_MOST_ITEMS]] if depth < _DEPTH else []
    if isinstance(value, dict):
        items = list(cast("dict[str, Any]", value).items())[:_MOST_ITEMS] if depth < _DEPTH else []
        return {tidy.line(name)[:_MOST_CHARS]: _bounded(item, depth + 1) for name, item in items}
    return tidy.line(value)[:_MOST_CHARS] if isinstance(value, str) else value


def _translations(entry: Entry, value: Any) -> None:
    if isinstance(value, dict):
        texts = cast("dict[str, Any]", value).items()
        entry.translations |= {
            tidy.line(lang).lower(): tidy.block(text)
            for lang, text in texts
            if isinstance(text, str) and text.strip() and lang.strip()
        }


def _summaries(entry: Entry, value: Any) -> None:
    if isinstance(value, dict):
        entry.summaries |= {tag: summary for tag, summary in cast("dict[str, Any]", value).items() if tag and summary}


def _preferred(entry: Entry, value: Any) -> None:
    entry.preferred_summary = entry.preferred_summary or tidy.scalar(value)


def _identifier_map(entry: Entry, value: Any) -> None:
    if isinstance(value, dict):
        for scheme, identifier in cast("dict[str, Any]", value).items():
            if text := tidy.scalar(identifier):
                entry.identifiers[tidy.line(scheme).lower()] = text


def _id(entry: Entry, value: Any) -> None:
    if text := tidy.scalar(value):
        scheme = _RECOGNISED.fullmatch(text)
        entry.identifiers.setdefault((scheme and scheme.lastgroup) or "id", text)


def _paper_id(entry: Entry, value: Any) -> None:
    """The id that a shelf gave to the paper before it exported it; any other number is the record's own."""
    text = tidy.scalar(value)
    if is_paper_id(text):
        entry.identifiers["paper_id"] = text
    else:
        _id(entry, value)


def _number(entry: Entry, value: Any) -> None:
    """CSL has no field of its own for arXiv ids: they are the number of the work."""
    text = tidy.scalar(value)
    if _ARXIV.fullmatch(text):
        entry.identifiers.setdefault("arxiv", text)


def _text_or_first(value: Any) -> str:
    if isinstance(value, str):
        return tidy.line(value)
    if isinstance(value, list):
        return next(iter(tidy.lines(cast("list[Any]", value))), "")
    if isinstance(value, dict):
        fields = cast("dict[str, Any]", value)
        return tidy.scalar(fields.get("name") or fields.get("title") or fields.get("display_name"))
    return tidy.scalar(value)


def _names_of(value: Any) -> Any:
    """A list in which what is an object is replaced by the name it has."""
    if isinstance(value, dict):
        value = [value]
    if not isinstance(value, list):
        return value
    return [_text_or_first(item) if isinstance(item, dict) else item for item in cast("list[Any]", value)]


_ALIASES: dict[Callable[[Entry, Any], None], str] = {
    _title: "title paper_title",
    _title_is_derived: "title_is_derived",
    _authors: "authors author paper_authors",
    _year: "year publication_year pub_year",
    _month: "month publication_month",
    _date: "publication_date date issued published published_date pub_date",
    _venue: "venue journal booktitle publication_venue container_title container-title publication journal_name",
    _abstract: "abstract paper_abstract",
    _keywords: "keywords keyword paper_keywords",
    _tags: "tags ai_generated_tags",
    _institutions: "institutions paper_institutions affiliations",
    _language: "language lang output_language",
    _kind: "type kind entry_type",
    _work_type: "work_type",
    _volume: "volume",
    _issue: "issue",
    _pages: "pages page",
    _publisher: "publisher",
    _notices: "retraction notices is_retracted",
    _note: "note",
    _bibtex: "bibtex bibtex_raw",
    _text: "markdown text full_text fulltext source_markdown",
    _source: "source",
    _translations: "translations",
    _summaries: "summaries",
    _preferred: "preferred_summary preferred_summary_template",
    _identifier_map: "identifiers",
    _id: "id _id",
    _paper_id: "paper_id",
    _number: "number",
}
_FIELDS = {name: put for put, names in _ALIASES.items() for name in names.split()} | {
    name: _searched(name) for name in SEARCH_FIELDS
}
