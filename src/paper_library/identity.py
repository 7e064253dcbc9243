"""Which paper a paper is: one spelling for each identifier, keys by strength, and the id that follows from them.

The scheme is versioned and never changes: an id given out once names the same paper on every shelf built later.
"""

import hashlib
import json
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final
from urllib.parse import unquote

import orjson

from uraniborg.kernel.text import replace_surrogates

_DOI_LINK: Final = re.compile(r"(?:https?://)?(?:www\.|dx\.)?doi\.org/+(?:doi:\s*)?", re.IGNORECASE)
_DOI_PREFIX: Final = re.compile(rf"{_DOI_LINK.pattern}|(?:urn:|info:)?doi\s*[:/]?\s*(?=10\.)", re.IGNORECASE)
_DOI: Final = re.compile(r"10\.\d{4,9}(?:\.\d+)*/[^\s\x00-\x1f\"]+")
_LINK: Final = re.compile(r"https?://", re.IGNORECASE)
_PAGE_OF_ARTICLE: Final = re.compile(
    r"(?:\.(?:pdf|html?|xml|full)|/(?:full|pdf|epdf|abstract|html|fulltext|meta|summary|pdfdirect))+$"
)
"""What publishers' sites put behind the DOI in the address of an article."""
_ARXIV_PREFIX: Final = re.compile(
    r"(?:(?:https?://)?(?:[a-z]+\.)?arxiv\.org/(?:abs|pdf|html|ps|format)/|arxiv\s*:\s*)", re.IGNORECASE
)
_ARXIV_DOI: Final = "10.48550/arxiv."
_ARXIV: Final = re.compile(
    r"(\d{4}\.\d{4,5}|[a-z][a-z-]*(?:\.[a-z]{2})?/\d{7})(?:v\d+)?(?:\s*\[[a-z.-]+\])?", re.IGNORECASE
)
_SUBJECT_CLASS: Final = re.compile(r"\.[a-z]{2}(?=/)")
_PMID: Final = re.compile(
    r"(?P<said>pmid\s*:?\s*|(?:https?://)?(?:pubmed\.ncbi\.nlm\.nih\.gov|(?:www\.)?ncbi\.nlm\.nih\.gov/pubmed)/)?"
    r"0*(?P<id>[1-9]\d{0,8})/?",
    re.IGNORECASE | re.ASCII,
)
_PMCID: Final = re.compile(
    r"(?:https?://\S+/articles/|pmcid\s*:?\s*)?pmc\s*:?\s*0*(?P<id>[1-9]\d{0,9})(?:\.\d+)?/?", re.IGNORECASE | re.ASCII
)
_WRAPPINGS: Final = ("<>", '""', "''", "“”", "‘’", "[]", "()", "{}")
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
    others: Sequence[str] = ()
    """Further keys with their schemes, which lead to the paper and never decide its id: `pmid:…`, `pmcid:…`."""

    def all(self) -> list[str]:
        """Return every key of this paper, strongest first."""
        # A closing bracket at the end of a DOI never counted for the id, be it the DOI's own or the sentence's.
        doi = self.doi.rstrip(".,;)") if self.doi else None
        named = (("doi", doi), ("arxiv", self.arxiv), ("bib", self.bibkey), ("meta", self.meta))
        return [*(f"{scheme}:{value}" for scheme, value in named if value), *self.others]


def other_keys(identifiers: Mapping[str, str], arxiv: str | None) -> list[str]:
    """Return the keys beside DOI, arXiv id and BibTeX key; an old arXiv id leads to its paper without its class too."""
    bare = without_subject_class(arxiv) if arxiv else None
    named = (
        ("arxiv", bare if bare != arxiv else None),
        ("pmid", normalised_pmid(identifiers.get("pmid"))),
        ("pmcid", normalised_pmcid(identifiers.get("pmcid"))),
    )
    return [f"{scheme}:{value}" for scheme, value in named if value]


def lookup_keys(text: str) -> list[str]:
    """Return the keys that a person may have meant by `text`, the most likely first.

    A DOI, arXiv id, PMID or PMCID in any spelling, as a link or with what a site adds behind it, or a BibTeX key.
    """
    bare = _unwrapped(text)
    keys = [key for written in _spellings(bare) for key in Keys(normalised_doi(written), None, None, "").all()]
    arxiv = normalised_arxiv(bare)
    numbered = _PMID.fullmatch(bare)
    keys += [f"arxiv:{known}" for known in (arxiv, without_subject_class(arxiv)) if known] if arxiv else []
    keys += [f"pmid:{numbered['id']}"] if numbered and numbered["said"] else []
    keys += [f"pmcid:{pmcid}"] if (pmcid := normalised_pmcid(bare)) else []
    bibkey = bare.removeprefix("bib:")
    keys += [f"bib:{bibkey}", f"bib:{bibkey.lower()}"] if bibkey else []
    # A number by itself is a BibTeX key before it is a PMID.
    keys += [f"pmid:{numbered['id']}"] if numbered else []
    return list(dict.fromkeys(keys))


def _spellings(text: str) -> list[str]:
    """Return `text`, and what is left of it without what a site or a mailer puts around a DOI."""
    written = [text, re.split(r"[?#]", text, maxsplit=1)[0]]
    if _LINK.match(text) and not _DOI_LINK.match(text) and (inside := _DOI.search(_decoded(written[1]))):
        written += [inside[0], _PAGE_OF_ARTICLE.sub("", inside[0].lower())]
    return list(dict.fromkeys(written))


def paper_id(paper_key: str) -> str:
    """The id of the paper whose strongest key this is."""
    return hashlib.sha256(f"v1|{paper_key}".encode("utf-8", "surrogatepass")).hexdigest()[:32]


def is_paper_id(text: str) -> bool:
    return _PAPER_ID.fullmatch(text) is not None


def normalised_doi(text: str | None) -> str | None:
    """Return `https://doi.org/10.1000%2FXYZ.` as `10.1000/xyz`; None for what is no DOI."""
    if not text or len(text) > _LONGEST:
        return None
    bare = _unwrapped(text)
    if _DOI_LINK.match(bare):
        bare = re.split(r"[?#]", bare, maxsplit=1)[0]
    bare = _decoded(bare)
    if prefix := _DOI_PREFIX.match(bare):
        bare = bare[prefix.end() :]
    found = _DOI.match(bare)
    doi = _without_stray_end(found.group().lower()) if found else ""
    return doi if _DOI.fullmatch(doi) else None


def normalised_arxiv(text: str | None) -> str | None:
    """Return `https://arxiv.org/abs/2301.00001v3` as `2301.00001`; or None if the text is not an arXiv id."""
    if not text or len(text) > _LONGEST:
        return None
    bare = _unwrapped(text)
    if (doi := normalised_doi(bare)) and doi.startswith(_ARXIV_DOI):
        bare = doi.removeprefix(_ARXIV_DOI)
    elif prefix := _ARXIV_PREFIX.match(bare):
        bare = re.split(r"[?#]", bare[prefix.end() :], maxsplit=1)[0].rstrip("/").removesuffix(".pdf")
    found = _ARXIV.fullmatch(bare.rstrip("/"))
    return found[1].lower() if found else None


def without_subject_class(arxiv: str) -> str:
    """Return `math.gt/0309136` as `math/0309136`: both name one paper."""
    return _SUBJECT_CLASS.sub("", arxiv, count=1)


def normalised_pmid(text: str | None) -> str | None:
    """Return the digits of a PubMed id; or None if the text is not one."""
    found = _PMID.fullmatch(text.strip()) if text and len(text) <= _LONGEST else None
    return found["id"] if found else None


def normalised_pmcid(text: str | None) -> str | None:
    """Return `https://…/articles/pmc123/` as `PMC123`; None for what is no PubMed Central id."""
    found = _PMCID.fullmatch(text.strip()) if text and len(text) <= _LONGEST else None
    return f"PMC{found['id']}" if found else None


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
        written = replace_surrogates(
            json.dumps(facts, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
        ).encode()
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


def _unwrapped(text: str) -> str:
    """Return the text without blanks, and without the quotation marks or brackets that stand around all of it."""
    bare = text.strip()
    return bare[1:-1].strip() if len(bare) > 2 and bare[0] + bare[-1] in _WRAPPINGS else bare


def _without_stray_end(doi: str) -> str:
    """Without the punctuation or slash of what it stood in; a bracket that the DOI itself opened is its own."""
    while doi and (doi[-1] in ".,;/" or (doi[-1] == ")" and doi.count(")") > doi.count("("))):
        doi = doi[:-1]
    return doi
