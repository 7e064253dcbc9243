"""Identify papers: keys by strength, and the paper id computed from the strongest.

The scheme of ids is versioned and never changes: a paper id given out once names the same paper on every shelf built
later. `spell_doi_for_id` and `spell_arxiv_for_id` are part of the scheme; look-up and matching also use the canonical
spellings of `uraniborg.kernel.bibliography.identifiers`.
"""

import hashlib
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import orjson

from uraniborg.kernel.bibliography.identifiers import (
    extract_doi,
    find_dois_in_url,
    is_record_id,
    list_record_ids,
    normalise_arxiv,
    normalise_bibcode,
    normalise_doi,
    normalise_pmcid,
    normalise_pmid,
    parse_arxiv,
    unwrap_text,
)

_PAPER_ID: Final = re.compile(r"[0-9a-f]{32}")
RECORD_SCHEME: Final = "record"
"""The scheme of ids that paper searches give."""
_OR: Final = re.compile(r"\s+OR\s+")


@dataclass(frozen=True, slots=True)
class Keys:
    """The keys of a paper, strongest first. Every paper has at least `meta`."""

    doi: str | None
    """As `spell_doi_for_id` spells it."""
    arxiv: str | None
    """As `spell_arxiv_for_id` spells it."""
    bibkey: str | None
    meta: str
    """The fingerprint of title, authors, year and venue."""
    title: str = ""
    """The normalised title, which is not a key."""
    others: Sequence[str] = ()
    """Further keys with their schemes, used for look-up and matching and never for the id: `pmid:…`, `pmcid:…`."""

    @property
    def canonical_doi(self) -> str | None:
        """The DOI in the spelling that is compared with other DOIs."""
        return normalise_doi(self.doi)

    @property
    def canonical_arxiv(self) -> str | None:
        """The arXiv id in the spelling that is compared with other arXiv ids."""
        return normalise_arxiv(self.arxiv) or self.arxiv

    def list_keys(self) -> list[str]:
        """Return every key of this paper with its scheme, strongest first."""
        named = (
            ("doi", _strip_doi_end_for_key(self.doi) if self.doi else None),
            ("arxiv", self.arxiv),
            ("bib", self.bibkey),
            ("meta", self.meta),
        )
        return [*(f"{scheme}:{value}" for scheme, value in named if value), *self.others]


def list_other_keys(identifiers: Mapping[str, str], doi: str | None, arxiv: str | None) -> list[str]:
    """Return the keys that never decide the id: other spellings of the DOI and the arXiv id, the PMID and the PMCID."""
    named = [("pmid", normalise_pmid(identifiers.get("pmid"))), ("pmcid", normalise_pmcid(identifiers.get("pmcid")))]
    if arxiv and (canonical := normalise_arxiv(arxiv)) != arxiv:
        named.insert(0, ("arxiv", canonical))
    if doi and (canonical := normalise_doi(doi)) != doi:
        named.insert(0, ("doi", canonical))
    return [f"{scheme}:{value}" for scheme, value in named if value]


def list_identifier_terms(identifiers: Mapping[str, str]) -> list[str]:
    """Return the identifiers to index: each as it is stored, DOI and arXiv id in their canonical spellings too.

    A number alone is left out because it has too many meanings.
    """
    canonical = (normalise_doi(identifiers.get("doi")), normalise_arxiv(identifiers.get("arxiv")))
    return list(dict.fromkeys(term for term in (*identifiers.values(), *canonical) if term and not term.isdecimal()))


def list_lookup_keys(text: str) -> list[str]:
    """Return the keys of the papers that a reader can mean by `text`, the most likely first.

    The text is a DOI, arXiv id, PMID or PMCID in any spelling, the URL of an article, a BibTeX key, or the id that a
    paper search gave to a paper.
    """
    bare = unwrap_text(text)
    if is_record_id(bare):
        return [make_record_key(bare)]
    keys: list[str] = []
    for doi in filter(None, (spell_doi_for_id(bare), *_find_more_dois(bare))):
        keys += [f"doi:{_strip_doi_end_for_key(doi)}", *list_other_keys({}, doi, None)]
    if arxiv := spell_arxiv_for_id(bare):
        keys += [f"arxiv:{arxiv}", *list_other_keys({}, None, arxiv)]
    pmid, is_number = normalise_pmid(bare), bare.rstrip("/").isdecimal()
    keys += [f"pmid:{pmid}"] if pmid and not is_number else []
    if "pmc" in bare.lower() and (pmcid := normalise_pmcid(bare)):
        keys.append(f"pmcid:{pmcid}")
    bibkey = bare.removeprefix("bib:")
    keys += [f"bib:{bibkey}", f"bib:{bibkey.lower()}"] if bibkey else []
    # ADS uses its bibcodes as BibTeX keys.
    keys += [f"bib:{bibcode}"] if (bibcode := normalise_bibcode(bare)) else []
    # A number alone is a BibTeX key before it is a PMID.
    keys += [f"pmid:{pmid}"] if pmid else []
    return list(dict.fromkeys(keys))


def list_record_keys(identifiers: Mapping[str, str], title: str, authors: Sequence[str], year: int | None) -> list[str]:
    """Return the keys of the ids that paper searches can give to a paper, used for look-up and never for the id."""
    return list(map(make_record_key, list_record_ids(identifiers, title, authors[0] if authors else "", year)))


def make_record_key(record_id: str) -> str:
    """Return the key of an id that a paper search gave."""
    return f"{RECORD_SCHEME}:{record_id}"


def list_identifiers(query: str) -> list[str]:
    """Return the identifiers of a query that consists of identifiers joined by OR, or [] for any other query."""
    parts = [part.strip(' "') for part in _OR.split(query.strip())]
    return parts if all(map(_is_identifier, parts)) else []


def _is_identifier(text: str) -> bool:
    # A number alone is a search word, and so is a BibTeX key.
    is_word = text.isdecimal() or len(text.split()) != 1
    return not is_word and any(not key.startswith("bib:") for key in list_lookup_keys(text))


def _find_more_dois(text: str) -> list[str]:
    """Return the DOI without a query or fragment that follows it, and the DOI inside a URL."""
    without_query = spell_doi_for_id(re.split(r"[?#]", text, maxsplit=1)[0])
    in_url = find_dois_in_url(text) if text.lower().startswith(("http://", "https://")) else []
    return [doi for doi in (without_query, *in_url) if doi]


def make_paper_id(paper_key: str) -> str:
    """Return the id of the paper whose strongest key this is."""
    return hashlib.sha256(f"v1|{paper_key}".encode()).hexdigest()[:32]


def is_paper_id(text: str) -> bool:
    """Return True for 32 lower-case hexadecimal digits."""
    return _PAPER_ID.fullmatch(text) is not None


def spell_doi_for_id(text: str | None) -> str | None:
    """Return the DOI in the spelling that paper ids are computed from, such as `10.1000/xyz`."""
    doi = (extract_doi(text) or "").lower()
    while doi and (doi[-1] in ".,;/" or (doi[-1] == ")" and doi.count(")") > doi.count("("))):
        doi = doi[:-1]
    return extract_doi(doi)


def spell_arxiv_for_id(text: str | None) -> str | None:
    """Return the arXiv id in the spelling that paper ids are computed from, with the subject class of an old id."""
    found = parse_arxiv(text)
    if found is None or not found.subject_class:
        return found.canonical if found else None
    return f"{found.archive}.{found.subject_class}/{found.number}"


def _strip_doi_end_for_key(doi: str) -> str:
    # A closing bracket at the end of a DOI never counted for the id, whether it belongs to the DOI or not.
    return doi.rstrip(".,;)")


def make_meta_key(title: str, authors: Sequence[str], year: int | None, venue: str) -> str:
    """Return the fingerprint of title, authors, year and venue that identifies a paper without identifiers."""
    facts = {
        "authors": sorted(map(_normalise_name, authors)),
        "title": title,
        "venue": _normalise_text(venue),
        "year": str(year) if year else "unknown",
    }
    return hashlib.sha256(orjson.dumps(facts, option=orjson.OPT_SORT_KEYS)).hexdigest()


def normalise_title(title: str) -> str:
    """Return a title without case, punctuation and symbols."""
    lowered = _normalise_text(title)
    if lowered.isascii():
        return " ".join(_ASCII_WORDS.findall(lowered))
    characters = (" " if unicodedata.category(char)[0] in "PS" else char for char in lowered)
    return " ".join("".join(characters).split())


_ASCII_WORDS: Final = re.compile(r"[a-z0-9]+")


def _normalise_text(text: str) -> str:
    return " ".join((text if text.isascii() else unicodedata.normalize("NFKC", text)).lower().split())


@lru_cache(maxsize=1 << 17)
def _normalise_name(name: str) -> str:
    """Return a name in lower case, cached because authors have several papers."""
    return _normalise_text(name)
