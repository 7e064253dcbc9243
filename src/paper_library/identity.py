"""Which paper a paper is: one spelling for each identifier, keys by strength, and the id that follows from them.

The scheme is versioned and never changes: an id given out once names the same paper on every shelf built later.
"""

import hashlib
import json
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final
from urllib.parse import unquote

import orjson

from uraniborg.kernel.text import whole_text

_DOI_PREFIX: Final = re.compile(r"(?:https?://(?:www\.|dx\.)?doi\.org/|doi\s*[:/]?\s*(?=10\.))", re.IGNORECASE)
_DOI: Final = re.compile(r"10\.\d{4,9}(?:\.\d+)*/[^\s\x00-\x1f\"]+")
_ARXIV_PREFIX: Final = re.compile(r"(?:https?://(?:[a-z]+\.)?arxiv\.org/(?:abs|pdf|html)/|arxiv\s*:\s*)", re.IGNORECASE)
_ARXIV_DOI: Final = "10.48550/arxiv."
_ARXIV: Final = re.compile(r"(\d{4}\.\d{4,5}|[a-z][a-z-]*(?:\.[a-z]{2})?/\d{7})(?:v\d+)?", re.IGNORECASE)
_LONGEST: Final = 1_000
_PAPER_ID: Final = re.compile(r"[0-9a-f]{32}")


@dataclass(frozen=True, slots=True)
class Keys:
    """What identifies a paper, strongest first; a title is always there to make the last one of."""

    doi: str | None
    arxiv: str | None
    bibkey: str | None
    meta: str
    """The fingerprint of title, authors, year and venue."""
    title: str = ""
    """The normalised title, which is no key but often all there is to compare."""

    def all(self) -> list[str]:
        """Every key of this paper, strongest first."""
        # A closing bracket at the end of a DOI never counted for the id, be it the DOI's own or the sentence's.
        doi = self.doi.rstrip(".,;)") if self.doi else None
        named = (("doi", doi), ("arxiv", self.arxiv), ("bib", self.bibkey), ("meta", self.meta))
        return [f"{scheme}:{value}" for scheme, value in named if value]


def lookup_keys(text: str) -> list[str]:
    """The keys that a person may have meant by `text`: a DOI, an arXiv id, a BibTeX key."""
    bare = text.strip()
    return Keys(normalised_doi(bare), normalised_arxiv(bare), bare.removeprefix("bib:"), "").all()


def paper_id(paper_key: str) -> str:
    """The id of the paper whose strongest key this is."""
    return hashlib.sha256(f"v1|{paper_key}".encode("utf-8", "surrogatepass")).hexdigest()[:32]


def is_paper_id(text: str) -> bool:
    return _PAPER_ID.fullmatch(text) is not None


def normalised_doi(text: str | None) -> str | None:
    """`https://doi.org/10.1000%2FXYZ.` as `10.1000/xyz`; None for what is no DOI."""
    if not text or len(text) > _LONGEST:
        return None
    bare = _decoded(text.strip())
    if prefix := _DOI_PREFIX.match(bare):
        bare = bare[prefix.end() :]
    found = _DOI.match(bare)
    doi = _without_stray_end(found.group().lower()) if found else ""
    return doi if _DOI.fullmatch(doi) else None


def normalised_arxiv(text: str | None) -> str | None:
    """`https://arxiv.org/abs/2301.00001v3` as `2301.00001`; None for what is no arXiv id."""
    if not text or len(text) > _LONGEST:
        return None
    bare = text.strip()
    if (doi := normalised_doi(bare)) and doi.startswith(_ARXIV_DOI):
        bare = doi.removeprefix(_ARXIV_DOI)
    elif prefix := _ARXIV_PREFIX.match(bare):
        bare = bare[prefix.end() :].removesuffix(".pdf")
    found = _ARXIV.fullmatch(bare.rstrip("/"))
    return found[1].lower() if found else None


def meta_key(title: str, authors: Sequence[str], year: int | None, venue: str) -> str:
    """The fingerprint of a paper that has no identifier, from its normalised title, authors, year and venue."""
    facts = {
        "authors": sorted(map(_normalised_name, authors)),
        "title": title,
        "venue": _normalised(venue),
        "year": str(year) if year else "unknown",
    }
    try:
        written = orjson.dumps(facts, option=orjson.OPT_SORT_KEYS)
    except TypeError:  # half characters
        written = whole_text(json.dumps(facts, sort_keys=True, ensure_ascii=False, separators=(",", ":"))).encode()
    return hashlib.sha256(written).hexdigest()


def normalised_title(title: str) -> str:
    """A title without case, punctuation and symbols."""
    lowered = _normalised(title)
    if lowered.isascii():
        return " ".join(_ASCII_WORDS.findall(lowered))
    kept = (" " if unicodedata.category(char)[0] in "PS" else char for char in lowered)
    return " ".join("".join(kept).split())


_ASCII_WORDS: Final = re.compile(r"[a-z0-9]+")


def _normalised(text: str) -> str:
    return " ".join((text if text.isascii() else unicodedata.normalize("NFKC", text)).lower().split())


@lru_cache(maxsize=1 << 17)
def _normalised_name(name: str) -> str:
    """Remembered: people write more than one paper."""
    return _normalised(name)


def _decoded(text: str) -> str:
    """Without percent signs, however often it was encoded."""
    while "%" in text and (plain := unquote(text)) != text:
        text = plain
    return text


def _without_stray_end(doi: str) -> str:
    """Without the punctuation of the sentence it stood in; a bracket that the DOI itself opened is its own."""
    while doi and (doi[-1] in ".,;" or (doi[-1] == ")" and doi.count(")") > doi.count("("))):
        doi = doi[:-1]
    return doi
