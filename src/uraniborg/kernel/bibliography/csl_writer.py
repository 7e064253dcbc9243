"""References as CSL-JSON, which citation processors (Zotero, Pandoc, citeproc) read."""

import json
from collections.abc import Iterable

from uraniborg.kernel.bibliography.names import split_name
from uraniborg.kernel.bibliography.references import Reference
from uraniborg.kernel.json_values import JsonObject

_TYPES = {
    "article": "article-journal",
    "conference": "paper-conference",
    "preprint": "article",
    "book": "book",
    "chapter": "chapter",
    "thesis": "thesis",
    "dataset": "dataset",
    "report": "report",
    "other": "document",
}


def write_csl_json(references: Iterable[Reference]) -> str:
    """Return a JSON array with one CSL item per reference, its id the reference's key. Does not raise."""
    return json.dumps([_make_item(reference) for reference in references], ensure_ascii=False, indent=2)


def _make_item(reference: Reference) -> JsonObject:
    fields: JsonObject = {
        "id": reference.key,
        "citation-key": reference.key,
        "type": _TYPES[reference.kind],
        "title": reference.title,
        "author": [_make_name(name) for name in reference.authors],
        "editor": [_make_name(name) for name in reference.editors],
        "issued": {"date-parts": [[reference.year]]} if reference.year is not None else None,
        "container-title": reference.venue,
        "volume": reference.volume,
        "issue": reference.issue,
        "page": "-".join(reference.pages),
        "publisher": reference.publisher,
        "DOI": reference.doi,
        "URL": reference.url,
        "PMID": reference.pmid,
        "PMCID": reference.pmcid,
        "number": reference.arxiv and f"arXiv:{reference.arxiv}",
        "language": reference.language,
        "abstract": reference.abstract,
        "status": reference.retraction.replace("_", " "),
        "note": reference.note,
    }
    return {field: value for field, value in fields.items() if value}


def _make_name(text: str) -> JsonObject:
    name = split_name(text)
    if not name.given:
        return {"literal": text}
    parts = {
        "family": name.family,
        "given": name.given,
        "non-dropping-particle": name.particle,
        "suffix": name.suffix,
    }
    return {part: value for part, value in parts.items() if value}
