"""Cite papers: formats of reference managers, edits of BibTeX entries, the line below a title, and links."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from uraniborg.kernel.bibliography.editorial_notices import describe_notices
from uraniborg.kernel.bibliography.plain_text import to_one_line
from uraniborg.kernel.bibliography.references import Reference, clean_citation_key, make_citation_key, split_pages
from uraniborg.kernel.language.messages import format_first_authors

if TYPE_CHECKING:
    from paper_library.domain.replies import Hit, PublicationLink, StoredMetadata


_PLACE: Final = re.compile(r"\s*\b(?:file|local-url|bdsk-file-\d+|bdsk-url-\d+)\s*=\s*(?=[{\"\w])", re.IGNORECASE)
_HEAD: Final = re.compile(r"(?P<begin>\s*@\s*\w+\s*[{(])(?P<key>[^,={}\"()]*),")
_NOTE: Final = re.compile(r"[\s,{]note\s*=", re.IGNORECASE)
_PAPER_ID: Final = re.compile(r"\n  paperid = \{[0-9a-f]{32}\},")


def get_or_make_citation_key(metadata: "StoredMetadata") -> str:
    """Return the BibTeX key that the shelf gave to the paper; a shelf of schema 1 gave none, so it is made here."""
    own = clean_citation_key(metadata.get("citation_key") or metadata["identifiers"].get("bibkey") or "")
    return own or make_citation_key(metadata["authors"], metadata["year"], metadata["title"])


def add_fields(entry: str, fields: Mapping[str, str]) -> str:
    """Return `entry` with fields put behind its key; an entry that has none to put them behind stays as it is."""
    head = _HEAD.match(entry)
    if head is None:
        return entry
    added = "".join(f"\n  {name} = {{{value}}}," for name, value in fields.items())
    return entry[: head.end()] + added + entry[head.end() :]


def remove_paper_id(entry: str) -> str:
    """Return `entry` without the id that an export put into it."""
    return _PAPER_ID.sub("", entry, count=1) if "paperid" in entry else entry


def remove_file_fields(entry: str) -> str:
    """Return `entry` without the fields that name files on its owner's machine."""
    while found := _PLACE.search(entry):
        end, depth = found.end(), 0
        while end < len(entry) and (depth > 0 or entry[end] not in ",\n}"):
            depth += {"{": 1, "}": -1}.get(entry[end], 0)
            end += 1
        entry = entry[: found.start()] + entry[end:].removeprefix(",")
    return entry


def replace_key(entry: str, key: str) -> str:
    """Return `entry` under another key."""
    head = _HEAD.match(entry)
    if head is None or head["key"].strip() == key:
        return entry
    return f"{head['begin']}{key},{entry[head.end() :]}"


def has_note_field(entry: str) -> bool:
    return _NOTE.search(entry) is not None


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
        from uraniborg.kernel.bibliography.reference_writers import write_ris

        return write_ris(references)
    from uraniborg.kernel.bibliography.reference_writers import write_csl_json

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
    from uraniborg.kernel.bibliography.reference_writers import write_bibtex

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


def format_authors_venue_year(paper: "Hit") -> str:
    """Return the first authors, the venue and the year of a search result, and whether the paper was retracted."""
    retracted = "Retracted" if paper.get("retracted") else ""
    parts = (retracted, format_first_authors(paper["authors"]), paper["venue"], str(paper["year"] or ""))
    return " · ".join(part for part in parts if part)


_SITES: Final = {
    "doi": ("DOI", "https://doi.org/"),
    "arxiv": ("arXiv", "https://arxiv.org/abs/"),
    "pmid": ("PubMed", "https://pubmed.ncbi.nlm.nih.gov/"),
    "pmcid": ("PubMed Central", "https://pmc.ncbi.nlm.nih.gov/articles/"),
    "url": ("URL", ""),
}


def list_paper_links(identifiers: Mapping[str, str]) -> "list[PublicationLink]":
    """Return the addresses of a paper. A `url` is given as it is in the metadata: check its scheme before linking."""
    return [
        {"scheme": scheme, "label": label, "text": value, "url": make_identifier_url(scheme, value)}
        for scheme, (label, _) in _SITES.items()
        if (value := identifiers.get(scheme))
    ]


def make_identifier_url(scheme: str, identifier: str) -> str:
    """Return the address of an identifier of one of the known schemes."""
    site = _SITES[scheme][1]
    return site + quote(identifier, safe="/:;()") if site else identifier
