"""References as RIS, the format that reference managers and screening tools share."""

# rispy ships no types.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false

from collections.abc import Iterable

import rispy

from uraniborg.kernel.bibliography.names import split_name
from uraniborg.kernel.bibliography.references import Reference

_TYPES = {
    "article": "JOUR",
    "conference": "CPAPER",
    "preprint": "UNPB",
    "book": "BOOK",
    "chapter": "CHAP",
    "thesis": "THES",
    "dataset": "DATA",
    "report": "RPRT",
    "other": "GEN",
}


_RETRACTED = "Retracted Publication"
"""PubMed's name for this type of work, in the field where reference managers have the type."""


class _WriterWithoutHeader(rispy.RisWriter):
    def set_header(self, count: int) -> str:
        return ""


def write_ris(references: Iterable[Reference]) -> str:
    """Return one RIS record per reference, abstracts included; none give an empty string. Does not raise."""
    return rispy.dumps([_make_record(reference) for reference in references], implementation=_WriterWithoutHeader)


def _make_record(reference: Reference) -> dict[str, str | list[str]]:
    first_page, last_page = (*reference.pages, "", "")[:2]
    fields: dict[str, str | list[str]] = {
        "type_of_reference": _TYPES[reference.kind],
        "id": reference.key,
        "title": reference.title,
        "authors": [split_name(name).inverted for name in reference.authors],
        "secondary_authors": [split_name(name).inverted for name in reference.editors],
        "year": "" if reference.year is None else str(reference.year),
        "secondary_title": reference.venue,
        "volume": reference.volume,
        "number": reference.issue,
        "start_page": first_page,
        "end_page": last_page,
        "publisher": reference.publisher,
        "doi": reference.doi,
        "urls": [reference.url] if reference.url else [],
        "language": reference.language,
        "abstract": reference.abstract,
        "type_of_work": reference.retraction and _RETRACTED,
        "notes": [reference.note] if reference.note else [],
    }
    return {field: value for field, value in fields.items() if value}
