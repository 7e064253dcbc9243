"""Cite papers of a shelf in the formats of reference managers."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from paper_library.text.bibtex_edits import add_fields, get_or_make_citation_key, has_note_field, replace_key
from uraniborg.kernel.bibliography.editorial_notices import describe_notices
from uraniborg.kernel.bibliography.one_line_text import to_one_line
from uraniborg.kernel.bibliography.references import Reference, split_pages

if TYPE_CHECKING:
    from paper_library.replies import StoredMetadata


@dataclass(frozen=True, slots=True)
class Format:
    label: str
    suffix: str
    media_type: str


FORMATS: Final = {
    "bibtex": Format("BibTeX", "bib", "application/x-bibtex"),
    "ris": Format("RIS", "ris", "application/x-research-info-systems"),
    "csl-json": Format("CSL-JSON", "json", "application/vnd.citationstyles.csl+json"),
}
_KINDS: Final = {
    "article": "article",
    "inproceedings": "conference",
    "conference": "conference",
    "proceedings": "conference",
    "preprint": "preprint",
    "book": "book",
    "inbook": "chapter",
    "incollection": "chapter",
    "phdthesis": "thesis",
    "mastersthesis": "thesis",
    "thesis": "thesis",
    "dataset": "dataset",
    "techreport": "report",
    "report": "report",
}


def format_citations(papers: "Iterable[tuple[StoredMetadata, str]]", format_name: str) -> str:
    """Return the citations of `papers` in one of `FORMATS`.

    Each paper is its metadata and the BibTeX entry of its owner, which is copied; an empty entry is replaced by one
    made of the metadata.
    """
    if format_name == "bibtex":
        return "\n\n".join(make_bibtex_entry(metadata, entry).strip() for metadata, entry in papers) + "\n"
    references = [make_reference(metadata) for metadata, _ in papers]
    if format_name == "ris":
        from uraniborg.kernel.bibliography.ris_writer import write_ris

        return write_ris(references)
    from uraniborg.kernel.bibliography.csl_writer import write_csl_json

    return write_csl_json(references) + "\n"


def make_bibtex_entry(metadata: "StoredMetadata", owner_entry: str) -> str:
    """Return the BibTeX entry of a paper: `owner_entry`, as its owner wrote it, else one made of the metadata.

    Its key is the one that the shelf gave to the paper, and a note mentions that the paper is retracted.
    """
    if not owner_entry:
        return make_bibtex_entry_of_metadata(metadata)
    entry = replace_key(owner_entry, get_or_make_citation_key(metadata))
    notice = describe_notices(metadata.get("notices", []))
    if not notice:
        return entry
    from uraniborg.kernel.bibliography.latex import encode_latex

    note = encode_latex(to_one_line(notice))
    return entry if note in entry else add_fields(entry, {"addendum" if has_note_field(entry) else "note": note})


def make_bibtex_entry_of_metadata(metadata: "StoredMetadata") -> str:
    """Return a BibTeX entry made of the metadata."""
    from uraniborg.kernel.bibliography.bibtex_writer import write_bibtex

    return write_bibtex([make_reference(metadata)]) + "\n"


def make_reference(metadata: "StoredMetadata") -> Reference:
    ids = metadata["identifiers"]
    retraction = metadata.get("retraction")
    return Reference(
        key=get_or_make_citation_key(metadata),
        kind=_choose_reference_kind(metadata),
        title=to_one_line(metadata["title"]),
        authors=tuple(name for author in metadata["authors"] if (name := to_one_line(author))),
        year=metadata["year"],
        venue=to_one_line(metadata["venue"]),
        volume=to_one_line(metadata.get("volume")),
        issue=to_one_line(metadata.get("issue")),
        pages=split_pages(to_one_line(metadata.get("pages"))),
        publisher=to_one_line(metadata.get("publisher")),
        doi=to_one_line(ids.get("doi")),
        url=to_one_line(ids.get("url")).replace(" ", "%20"),
        arxiv=to_one_line(ids.get("arxiv")),
        pmid=to_one_line(ids.get("pmid")),
        pmcid=to_one_line(ids.get("pmcid")),
        language=to_one_line(metadata["language"]),
        abstract=to_one_line(metadata["abstract"]),
        keywords=tuple(map(to_one_line, metadata["keywords"])),
        editors=() if metadata["authors"] else tuple(map(to_one_line, metadata.get("editors", ()))),
        retraction=retraction["status"] if retraction else "",
        note=describe_notices(metadata.get("notices", [])),
    )


def _choose_reference_kind(metadata: "StoredMetadata") -> str:
    kind = _KINDS.get(metadata["kind"].lower())
    if kind is None:
        kind = "preprint" if "arxiv" in metadata["identifiers"] else "other"
        return "article" if metadata["venue"] else kind
    return kind
