"""BibTeX entries: one for a paper whose owner had none, and what is better left out of theirs."""

import re
from typing import Any, Final

from uraniborg.kernel.text import fold, words

_SPECIAL: Final = str.maketrans({mark: f"\\{mark}" for mark in "&%$#_"} | {"{": "", "}": "", "\\": ""})
_PLACE: Final = re.compile(r"\s*\b(?:file|local-url|bdsk-file-\d+|bdsk-url-\d+)\s*=\s*(?=[{\"\w])", re.IGNORECASE)
_NOT_IN_A_KEY: Final = re.compile(r"[^a-z0-9]+")
_KINDS: Final = {"article", "inproceedings", "book", "incollection", "phdthesis", "mastersthesis", "techreport"}


def bibtex_of(metadata: dict[str, Any]) -> str:
    """The entry; its key is the paper's own, or made of the first author's name, the year and a word of the title."""
    kind = metadata["kind"] if metadata["kind"] in _KINDS else "article" if metadata["venue"] else "misc"
    venue = {"inproceedings": "booktitle", "incollection": "booktitle", "book": "publisher"}.get(kind, "journal")
    ids = metadata["identifiers"]
    fields = {
        "title": f"{{{metadata['title'].translate(_SPECIAL)}}}" if metadata["title"] else "",
        "author": " and ".join(name.translate(_SPECIAL) for name in metadata["authors"]),
        "year": str(metadata["year"] or ""),
        venue: metadata["venue"].translate(_SPECIAL),
        "doi": ids.get("doi", ""),
        "eprint": ids.get("arxiv", ""),
        "archiveprefix": "arXiv" if ids.get("arxiv") else "",
        "keywords": ", ".join(word.translate(_SPECIAL) for word in metadata["keywords"]),
    }
    lines = [f"  {name} = {{{value}}}," for name, value in fields.items() if value]
    return "\n".join([f"@{kind}{{{citation_key(metadata)},", *lines, "}"]) + "\n"


def without_places(entry: str) -> str:
    """`entry` as it was written, but for fields that name places on its owner's machine."""
    while found := _PLACE.search(entry):
        end, depth = found.end(), 0
        while end < len(entry) and (depth > 0 or entry[end] not in ",\n}"):
            depth += {"{": 1, "}": -1}.get(entry[end], 0)
            end += 1
        entry = entry[: found.start()] + entry[end:].removeprefix(",")
    return entry


def citation_key(metadata: dict[str, Any]) -> str:
    """Return the paper's BibTeX key, or one made of the first author's name, the year and a word of the title."""
    if own := metadata["identifiers"].get("bibkey"):
        return own
    name = fold(metadata["authors"][0]).split()[-1] if metadata["authors"] else "anon"
    word = next((word for word in words(metadata["title"]) if len(word) > 3), "")
    return _NOT_IN_A_KEY.sub("", f"{name}{metadata['year'] or ''}{word}") or metadata["paper_id"]
