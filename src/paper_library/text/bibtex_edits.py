"""Edit BibTeX entries that users wrote: add fields, remove fields, replace keys."""

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from uraniborg.kernel.bibliography.citation_keys import clean_citation_key, make_citation_key

if TYPE_CHECKING:
    from paper_library.replies import StoredMetadata

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
