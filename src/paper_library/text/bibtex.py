"""BibTeX entries: one for a paper whose owner had none, and what is added to and left out of theirs."""

import re
from collections.abc import Mapping
from typing import Any, Final

from paper_library.retraction import describe_notices

_SPECIAL: Final = str.maketrans({mark: f"\\{mark}" for mark in "&%$#_"} | {"{": "", "}": "", "\\": ""})
_PLACE: Final = re.compile(r"\s*\b(?:file|local-url|bdsk-file-\d+|bdsk-url-\d+)\s*=\s*(?=[{\"\w])", re.IGNORECASE)
_HEAD: Final = re.compile(r"(?P<begin>\s*@\s*\w+\s*[{(])(?P<key>[^,={}\"()]*),")
_NOTE: Final = re.compile(r"[\s,{]note\s*=", re.IGNORECASE)
_PAPER_ID: Final = re.compile(r"\n  paperid = \{[0-9a-f]{32}\},")
_KINDS: Final = {"article", "inproceedings", "book", "incollection", "phdthesis", "mastersthesis", "techreport"}
_VENUES: Final = {
    **dict.fromkeys(("inproceedings", "incollection"), "booktitle"),
    **dict.fromkeys(("phdthesis", "mastersthesis"), "school"),
    "book": "series",
    "techreport": "institution",
}


def bibtex_entry(metadata: dict[str, Any], own: str) -> str:
    """Return the entry of a paper: `own`, as its owner wrote it, else one made of the metadata.

    Its key is the one that the shelf gave to the paper, and a note says that the paper is retracted.
    """
    if not own:
        return bibtex_of(metadata)
    entry = _with_key(own, citation_key(metadata))
    notice = describe_notices(metadata.get("notices", [])).translate(_SPECIAL)
    if notice and notice not in entry:
        entry = with_fields(entry, {"addendum" if _NOTE.search(entry) else "note": notice})
    return entry


def bibtex_of(metadata: dict[str, Any]) -> str:
    """Return an entry made of the metadata."""
    kind = metadata["kind"] if metadata["kind"] in _KINDS else "article" if metadata["venue"] else "misc"
    ids = metadata["identifiers"]
    fields = {
        "title": f"{{{metadata['title'].translate(_SPECIAL)}}}" if metadata["title"] else "",
        "author": " and ".join(map(_author, metadata["authors"])),
        "year": str(metadata["year"] or ""),
        _VENUES.get(kind, "journal"): metadata["venue"].translate(_SPECIAL),
        **{name: metadata.get(field, "").translate(_SPECIAL) for name, field in _NUMBERS.items()},
        "doi": ids.get("doi", ""),
        "eprint": ids.get("arxiv", ""),
        "archiveprefix": "arXiv" if ids.get("arxiv") else "",
        "pmid": ids.get("pmid", ""),
        "keywords": ", ".join(word.translate(_SPECIAL) for word in metadata["keywords"]),
        "note": describe_notices(metadata.get("notices", [])).translate(_SPECIAL),
    }
    lines = [f"  {name} = {{{value}}}," for name, value in fields.items() if value]
    return "\n".join([f"@{kind}{{{citation_key(metadata)},", *lines, "}"]) + "\n"


_NUMBERS: Final = {"volume": "volume", "number": "issue", "pages": "pages", "publisher": "publisher"}


def citation_key(metadata: dict[str, Any]) -> str:
    """Return the BibTeX key that the shelf gave to the paper; a shelf of schema 1 gave none, so it is made here."""
    if own := metadata.get("citation_key") or metadata["identifiers"].get("bibkey"):
        return own
    from uraniborg.kernel.bibliography.citation_keys import make_citation_key  # few papers need it, and it is slow

    return make_citation_key(metadata["authors"], metadata["year"], metadata["title"])


def with_fields(entry: str, fields: Mapping[str, str]) -> str:
    """Return `entry` with fields put behind its key; an entry that has none to put them behind stays as it is."""
    head = _HEAD.match(entry)
    if head is None:
        return entry
    added = "".join(f"\n  {name} = {{{value}}}," for name, value in fields.items())
    return entry[: head.end()] + added + entry[head.end() :]


def without_paper_id(entry: str) -> str:
    """Return `entry` without the id that an export put into it."""
    return _PAPER_ID.sub("", entry, count=1) if "paperid" in entry else entry


def without_places(entry: str) -> str:
    """`entry` as it was written, but for fields that name places on its owner's machine."""
    while found := _PLACE.search(entry):
        end, depth = found.end(), 0
        while end < len(entry) and (depth > 0 or entry[end] not in ",\n}"):
            depth += {"{": 1, "}": -1}.get(entry[end], 0)
            end += 1
        entry = entry[: found.start()] + entry[end:].removeprefix(",")
    return entry


def _with_key(entry: str, key: str) -> str:
    head = _HEAD.match(entry)
    if head is None or head["key"].strip() == key:
        return entry
    return f"{head['begin']}{key},{entry[head.end() :]}"


def _author(name: str) -> str:
    """Return the name, in braces where BibTeX would split it at the wrong place."""
    from uraniborg.kernel.bibliography.names import split_name

    written = name.translate(_SPECIAL)
    is_one_name = " " in name and not split_name(name).given
    return f"{{{written}}}" if is_one_name or " and " in f" {name} ".lower() else written
