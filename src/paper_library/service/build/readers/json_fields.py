"""Find the fields of a paper in JSON, under all the names in use for them."""

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from paper_library.domain.entries import SEARCH_FIELDS, Entry
from paper_library.domain.paper_ids import is_paper_id
from paper_library.service.build.readers.texts_and_dates import parse_month, parse_year, parse_year_and_month
from uraniborg.kernel.bibliography.editorial_notices import merge_notices, parse_notices_of_note, read_notices
from uraniborg.kernel.bibliography.identifiers import ARXIV_ID
from uraniborg.kernel.bibliography.names import read_names
from uraniborg.kernel.bibliography.plain_text import (
    clean_line,
    clean_markdown_block,
    clean_scalar,
    clean_unique_values,
    normalise_pages,
    split_list,
)

if TYPE_CHECKING:
    from uraniborg.kernel.json_values import Json, JsonObject

_ARXIV = re.compile(rf"(?:arxiv:\s*|https?://arxiv\.org/(?:abs|pdf)/){ARXIV_ID}", re.IGNORECASE)
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
"""The limits of the values that are stored from a search's own records."""
_TEMPLATE_FREE = frozenset(("template_tag", "prompt_template", "source_path", "source_hash", "source_file"))


def is_paper_like(item: "Json") -> bool:
    """Return True for an object with a title or an abstract, or with a full text and authors."""
    if not isinstance(item, dict):
        return False
    if any(isinstance(item.get(name), str) for name in ("title", "paper_title", "abstract", "paper_abstract")):
        return not any(key in item for key in ("dependencies", "$schema", "properties", "compilerOptions", "openapi"))
    return any(isinstance(item.get(name), str) for name in ("source", "markdown", "full_text")) and "authors" in item


def make_entry(fields: "JsonObject", where: str, template: str = "") -> Entry:
    """Return an entry with the fields of one object; unknown fields become the summary if a template is named."""
    entry = Entry(origin=where)
    unknown: JsonObject = {}
    for name, value in fields.items():
        if value is None or value == "":
            continue
        if name in _FIELDS and not (template and name in SEARCH_FIELDS):
            _FIELDS[name](entry, value)
        elif name in _IDENTIFIERS:
            if text := clean_scalar(value):
                entry.identifiers.setdefault(_IDENTIFIERS[name], text)
        else:
            unknown[name] = value
    if template:
        _store_unknown_fields_as_summary(entry, template, unknown)
    return entry


def _store_unknown_fields_as_summary(entry: Entry, template: str, unknown: "JsonObject") -> None:
    content = {name: value for name, value in unknown.items() if name not in _TEMPLATE_FREE}
    if content:
        entry.summaries.setdefault(template, content)
        entry.preferred_summary = entry.preferred_summary or template


def _set_title_if_missing(entry: Entry, value: "Json") -> None:
    # Crossref puts titles into lists.
    entry.title = entry.title or _read_text_or_first_item(value)


def _set_title_is_derived(entry: Entry, value: "Json") -> None:
    entry.title_is_derived = value is True


def _set_authors_if_missing(entry: Entry, value: "Json") -> None:
    entry.authors = entry.authors or read_names(value)
    if isinstance(value, list) and value and isinstance(value[0], dict):
        named = [name for item in value if isinstance(item, dict) for name in _list_affiliations(item)]
        entry.institutions = list(dict.fromkeys((*entry.institutions, *named)))


def _list_affiliations(author: "JsonObject") -> list[str]:
    given = author.get("affiliations") or author.get("affiliation") or author.get("institutions")
    return [name for name in split_list(_replace_objects_by_names(given), ";") if not name.isdigit()]


def _set_year_if_missing(entry: Entry, value: "Json") -> None:
    entry.year = entry.year or parse_year(value)


def _set_month_if_missing(entry: Entry, value: "Json") -> None:
    entry.month = entry.month or parse_month(value)


def _set_date(entry: Entry, value: "Json") -> None:
    if isinstance(value, dict):
        value = _format_csl_date(value)
    year, month = (
        parse_year_and_month(str(value))
        if isinstance(value, str | int) and not isinstance(value, bool)
        else (None, None)
    )
    entry.year = entry.year or year
    if year == entry.year:
        entry.month = entry.month or month


def _format_csl_date(date: "JsonObject") -> str:
    parts = date.get("date-parts")
    if isinstance(parts, list) and parts and isinstance(parts[0], list):
        return "-".join(clean_scalar(part) for part in parts[0] if part is not None)
    return clean_scalar(date.get("raw") or date.get("literal") or date.get("value"))


def _set_venue_if_missing(entry: Entry, value: "Json") -> None:
    entry.venue = entry.venue or _read_text_or_first_item(value)


def _set_abstract_if_missing(entry: Entry, value: "Json") -> None:
    entry.abstract = entry.abstract or _read_text_or_first_item(value)


def _set_keywords(entry: Entry, value: "Json") -> None:
    entry.keywords = entry.keywords or split_list(_replace_objects_by_names(value))


def _set_tags(entry: Entry, value: "Json") -> None:
    entry.tags = entry.tags or split_list(_replace_objects_by_names(value))


def _add_institutions(entry: Entry, value: "Json") -> None:
    entry.institutions = list(dict.fromkeys((*entry.institutions, *split_list(_replace_objects_by_names(value), ";"))))


def _set_language_if_missing(entry: Entry, value: "Json") -> None:
    entry.language = entry.language or clean_scalar(value)


def _set_kind(entry: Entry, value: "Json") -> None:
    kind = clean_scalar(value).lower()
    entry.kind = entry.kind or _KINDS.get(kind, kind)


def _set_work_type(entry: Entry, value: "Json") -> None:
    entry.work_type = entry.work_type or clean_scalar(value).lower()
    _set_kind(entry, value)


def _set_volume_if_missing(entry: Entry, value: "Json") -> None:
    entry.volume = entry.volume or clean_scalar(value)


def _set_issue_if_missing(entry: Entry, value: "Json") -> None:
    entry.issue = entry.issue or clean_scalar(value)


def _set_pages_if_missing(entry: Entry, value: "Json") -> None:
    entry.pages = entry.pages or normalise_pages(clean_scalar(value))


def _set_publisher_if_missing(entry: Entry, value: "Json") -> None:
    entry.publisher = entry.publisher or _read_text_or_first_item(value)


def _add_notices(entry: Entry, value: "Json") -> None:
    entry.notices = merge_notices([*entry.notices, *read_notices(value)])


def _add_notices_from_note(entry: Entry, value: "Json") -> None:
    """Add the retractions that a note describes, because CSL has no field for them."""
    entry.notices = merge_notices([*entry.notices, *parse_notices_of_note(clean_scalar(value))])


def _set_bibtex(entry: Entry, value: "Json") -> None:
    entry.bibtex = entry.bibtex or (clean_markdown_block(value) if isinstance(value, str) else "")


def _set_full_text(entry: Entry, value: "Json") -> None:
    # In a search export `source` is the name of a database, one word; a full text has lines.
    if isinstance(value, str) and not entry.source:
        entry.source = clean_markdown_block(value)


def _set_full_text_or_source_name(entry: Entry, value: "Json") -> None:
    if isinstance(value, str) and ("\n" in value.strip() or len(value) > 200):
        _set_full_text(entry, value)
    elif name := clean_scalar(value):
        entry.search.setdefault("sources", [name])


def _make_search_field_setter(name: str) -> "Callable[[Entry, Json], None]":
    def set_search_field(entry: Entry, value: "Json") -> None:
        given: Json = [*read_names(value)] if name == "editors" else value
        plain = _limit_value_size(given)
        if (plain or plain == 0) and (name != "status" or plain in _REVIEWED):
            entry.search[name] = plain

    return set_search_field


def _limit_value_size(value: "Json", depth: int = 0) -> "Json":
    """Return a JSON value with its texts on one line, and nothing beyond the size that a search writes."""
    if isinstance(value, list):
        return [_limit_value_size(item, depth + 1) for item in value[:_MOST_ITEMS]] if depth < _DEPTH else []
    if isinstance(value, dict):
        items = list(value.items())[:_MOST_ITEMS] if depth < _DEPTH else []
        return {clean_line(name)[:_MOST_CHARS]: _limit_value_size(item, depth + 1) for name, item in items}
    return clean_line(value)[:_MOST_CHARS] if isinstance(value, str) else value


def _add_translations(entry: Entry, value: "Json") -> None:
    if isinstance(value, dict):
        texts = value.items()
        entry.translations |= {
            clean_line(lang).lower(): clean_markdown_block(text)
            for lang, text in texts
            if isinstance(text, str) and text.strip() and lang.strip()
        }


def _add_summaries(entry: Entry, value: "Json") -> None:
    if isinstance(value, dict):
        entry.summaries |= {tag: summary for tag, summary in value.items() if tag and summary}


def _set_preferred_summary(entry: Entry, value: "Json") -> None:
    entry.preferred_summary = entry.preferred_summary or clean_scalar(value)


def _add_identifiers(entry: Entry, value: "Json") -> None:
    if isinstance(value, dict):
        for scheme, identifier in value.items():
            if not (text := clean_scalar(identifier)) or scheme in ("shelf_url", "shelf_paper"):
                continue
            # A search names a paper of a shelf by the id that the shelf gave to it.
            name = "paper_id" if scheme == "shelf" and is_paper_id(text) else clean_line(scheme).lower()
            entry.identifiers[name] = text


def _set_record_id(entry: Entry, value: "Json") -> None:
    if text := clean_scalar(value):
        scheme = _RECOGNISED.fullmatch(text)
        entry.identifiers.setdefault((scheme and scheme.lastgroup) or "id", text)


def _set_paper_id(entry: Entry, value: "Json") -> None:
    """Set the paper id if a shelf exported the paper, else the id of the record."""
    text = clean_scalar(value)
    if is_paper_id(text):
        entry.identifiers["paper_id"] = text
    else:
        _set_record_id(entry, value)


def _set_arxiv_from_number(entry: Entry, value: "Json") -> None:
    """Set the arXiv id from the number of the work, where CSL has it."""
    text = clean_scalar(value)
    if _ARXIV.fullmatch(text):
        entry.identifiers.setdefault("arxiv", text)


def _read_text_or_first_item(value: "Json") -> str:
    if isinstance(value, str):
        return clean_line(value)
    if isinstance(value, list):
        return next(iter(clean_unique_values(value)), "")
    if isinstance(value, dict):
        return clean_scalar(value.get("name") or value.get("title") or value.get("display_name"))
    return clean_scalar(value)


def _replace_objects_by_names(value: "Json") -> "Json":
    if isinstance(value, dict):
        value = [value]
    if not isinstance(value, list):
        return value
    return [_read_text_or_first_item(item) if isinstance(item, dict) else item for item in value]


_ALIASES: "dict[Callable[[Entry, Json], None], str]" = {
    _set_title_if_missing: "title paper_title",
    _set_title_is_derived: "title_is_derived",
    _set_authors_if_missing: "authors author paper_authors",
    _set_year_if_missing: "year publication_year pub_year",
    _set_month_if_missing: "month publication_month",
    _set_date: "publication_date date issued published published_date pub_date",
    _set_venue_if_missing: "venue journal booktitle publication_venue container_title container-title publication "
    "journal_name",
    _set_abstract_if_missing: "abstract paper_abstract",
    _set_keywords: "keywords keyword paper_keywords",
    _set_tags: "tags ai_generated_tags",
    _add_institutions: "institutions paper_institutions affiliations",
    _set_language_if_missing: "language lang output_language",
    _set_kind: "type kind entry_type",
    _set_work_type: "work_type",
    _set_volume_if_missing: "volume",
    _set_issue_if_missing: "issue",
    _set_pages_if_missing: "pages page",
    _set_publisher_if_missing: "publisher",
    _add_notices: "retraction notices is_retracted",
    _add_notices_from_note: "note",
    _set_bibtex: "bibtex bibtex_raw",
    _set_full_text: "markdown text full_text fulltext source_markdown",
    _set_full_text_or_source_name: "source",
    _add_translations: "translations",
    _add_summaries: "summaries",
    _set_preferred_summary: "preferred_summary preferred_summary_template",
    _add_identifiers: "identifiers",
    _set_record_id: "id _id",
    _set_paper_id: "paper_id",
    _set_arxiv_from_number: "number",
}
_FIELDS = {name: set_search_field for set_search_field, names in _ALIASES.items() for name in names.split()} | {
    name: _make_search_field_setter(name) for name in SEARCH_FIELDS
}
