"""Recognise identifiers of works and give each one spelling: DOI, arXiv, PMID, PMCID, OpenAlex, ISBN and more.

Every `normalise_*` accepts the spellings that sources and people use (bare, with a prefix, as a URL, in brackets or
quotation marks) and returns the one canonical spelling, or None if the text is not such an identifier. None of them
raises, and normalising twice changes nothing.
"""

import hashlib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import unquote

_LONGEST: Final = 1_000
_WRAPPINGS: Final = ("<>", '""', "''", "“”", "‘’", "[]", "()", "{}")

_DOI_URL: Final = re.compile(r"(?:https?://)?(?:www\.|dx\.)?doi\.org/+(?:doi:\s*)?", re.IGNORECASE)
_DOI_PREFIX: Final = re.compile(rf"{_DOI_URL.pattern}|(?:urn:|info:)?doi\s*[:/]?\s*(?=10\.)", re.IGNORECASE)
_DOI: Final = re.compile(r"10\.[0-9]{4,9}(?:\.[0-9]+)*/[^\s\x00-\x1f\"]+")
_ARTICLE_PAGE: Final = re.compile(
    r"(?:\.(?:pdf|html?|xml|full)|/(?:full|pdf|epdf|abstract|html|fulltext|meta|summary|pdfdirect))+$", re.IGNORECASE
)
"""Path components that publishers append to a DOI in the URL of an article."""
_OPENING: Final = {")": "(", "]": "[", "}": "{", ">": "<"}
_ASCII_LOWER: Final = str.maketrans("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz")

_ARXIV_DOI: Final = "10.48550/arxiv."
_ARXIV_PREFIX: Final = re.compile(
    r"(?:https?://)?(?:(?:[a-z0-9-]+\.)*ar[x5]iv\.org|xxx\.lanl\.gov)/(?:abs|pdf|html|ps|format|src|e-print)/"
    r"|(?:oai:)?arxiv(?:\.org)?\s*:\s*",
    re.IGNORECASE,
)
_ARXIV: Final = re.compile(
    r"(?:(?P<number>[0-9]{4}\.[0-9]{4,5})"
    r"|(?P<archive>[a-z][a-z-]*)(?:\.(?P<subject_class>[a-z]{2}))?/(?P<old_number>[0-9]{7}))"
    r"(?:v[0-9]+)?(?:\s*\[[a-z.-]+\])?",
    re.IGNORECASE | re.ASCII,
)
ARXIV_ID: Final = r"(?:[0-9]{4}\.[0-9]{4,5}|[a-z-]+(?:\.[a-zA-Z]{2})?/[0-9]{7})(?:v[0-9]+)?"
"""A pattern of an arXiv id with its version, for searches in running text."""
_ARXIV_MENTION: Final = re.compile(rf"\barxiv(?::|\.org/(?:abs|pdf)/)\s*({ARXIV_ID})", re.IGNORECASE)
_PMID: Final = re.compile(
    r"(?:(?:info:)?pmid\s*[:/]?\s*"
    r"|(?:https?://)?(?:pubmed\.ncbi\.nlm\.nih\.gov|(?:www\.)?ncbi\.nlm\.nih\.gov/(?:m/)?pubmed"
    r"|(?:www\.)?europepmc\.org/(?:article|abstract)/med)/)?"
    r"0*(?P<id>[1-9][0-9]{0,8})/?",
    re.IGNORECASE | re.ASCII,
)
_PMCID: Final = re.compile(
    r"(?:\S*/(?:articles/(?:pmc)?|pmc)0*(?P<in_url>[1-9][0-9]{0,9})(?:\.[0-9]+)?(?:/\S*)?"
    r"|(?:pmcid\s*:?\s*)?(?:pmc\s*:?\s*)?0*(?P<bare>[1-9][0-9]{0,9})(?:\.[0-9]+)?/?)",
    re.IGNORECASE | re.ASCII,
)
_OPENALEX: Final = re.compile(
    r"(?:openalex\s*:\s*|(?:https?://)?(?:[a-z]+\.)?openalex\.org/(?:works/)?)?(?P<id>w[0-9]+)/?",
    re.IGNORECASE | re.ASCII,
)
_S2_HASH: Final = re.compile(r"(?:s2\s*:\s*|https?://\S*/)?(?P<id>[0-9a-f]{40})/?", re.IGNORECASE | re.ASCII)
_S2_CORPUS_ID: Final = re.compile(
    r"(?:https?://(?:[a-z]+\.)*semanticscholar\.org/)?(?:s2)?corpus\s?id\s*:\s*0*(?P<id>[1-9][0-9]*)/?",
    re.IGNORECASE | re.ASCII,
)
_DBLP: Final = re.compile(
    r"(?:dblp:|https?://dblp\.(?:uni-trier\.de|dagstuhl\.de|org)/rec/(?:(?:html|bibtex|bib|xml)/)?)?"
    r"(?P<id>[a-z]+/(?:[^/\s]+/)+[^/\s]+?)(?:\.(?:html|bib|xml|rdf|json))?",
    re.IGNORECASE,
)
_BIBCODE: Final = re.compile(
    r"(?:bibcode\s*:\s*|(?:https?://)?(?:ui\.|www\.)?adsabs\.harvard\.edu/(?:#?abs|full|pdf)/)?"
    r"(?P<id>[12][0-9]{3}[A-Za-z][A-Za-z0-9&.+]{3}[A-Za-z0-9.][A-Za-z0-9.]{4}[A-Za-z0-9.][0-9A-Za-z.]{4}[A-Z.:])"
    r"(?:/(?:abstract|exportcitation|references|citations)?)?",
    re.ASCII,
)
_ISBN: Final = re.compile(
    r"(?:(?:urn:)?isbn(?:-?1[03])?\s*:?\s*)?(?P<id>[0-9][0-9\s\u2010\u2011\u2013-]*[0-9xX])", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class ArxivId:
    """An arXiv id in parts, its version left out. `archive` is empty for ids such as `1706.03762`."""

    number: str
    archive: str = ""
    subject_class: str = ""

    @property
    def has_valid_month(self) -> bool:
        """Return True unless the month in a number of the new form is not a month."""
        return bool(self.archive) or 1 <= int(self.number[2:4]) <= 12

    @property
    def canonical(self) -> str:
        """The id without subject class: `math.GT/0309136` and `math/0309136` name one work."""
        return f"{self.archive}/{self.number}" if self.archive else self.number


def normalise_doi(text: str | None) -> str | None:
    """Return the bare DOI, lower-case in ASCII, such as `10.1000/abc` for `https://doi.org/10.1000%2FABC`.

    Versions are removed from the DOIs that arXiv registers.
    """
    raw = extract_doi(text)
    return _clean_doi(raw) if raw else None


def extract_doi(text: str | None) -> str | None:
    """Return the DOI at the start of a text as it is written there, without prefix and percent-encoding, or None."""
    if not text or len(text) > _LONGEST:
        return None
    bare = unwrap_text(text)
    if _DOI_URL.match(bare):
        bare = re.split(r"[?#]", bare, maxsplit=1)[0]
    bare = decode_percent(bare)
    if prefix := _DOI_PREFIX.match(bare):
        bare = bare[prefix.end() :]
    found = _DOI.match(bare)
    return found[0] if found else None


def find_dois_in_url(url: str | None) -> list[str]:
    """Return the DOI in the URL of an article, or [].

    If a suffix of the publisher (`/full`, `.pdf`) follows the DOI, return the DOI with and then without the suffix.
    """
    if not url:
        return []
    if doi := normalise_doi(url):
        return [doi]
    for part in re.split(r"[?#&]", url):
        if match := _DOI.search(decode_percent(part)):
            found = (_clean_doi(match[0]), _clean_doi(_ARTICLE_PAGE.sub("", match[0])))
            return list(dict.fromkeys(doi for doi in found if doi))
    return []


def find_doi_in_url(url: str | None) -> str | None:
    """Return the DOI in the URL of an article without the suffix of the publisher, or None."""
    return next(reversed(find_dois_in_url(url)), None)


def trim_doi(text: str) -> str:
    """Return a DOI from running text without the punctuation and unmatched closing brackets after it."""
    while text:
        last = text[-1]
        opening = _OPENING.get(last)
        if last in ".,;:!?'’”*/" or (opening and text.count(last) > text.count(opening)):
            text = text[:-1]
        else:
            break
    return text


def _clean_doi(raw: str) -> str | None:
    doi = trim_doi(raw.translate(_ASCII_LOWER))
    if not _DOI.fullmatch(doi):
        return None
    arxiv = doi_to_arxiv(doi)
    return arxiv_to_doi(arxiv) if arxiv else doi


def normalise_arxiv(text: str | None) -> str | None:
    """Return the arXiv id without version and subject class: `math/0309136` for `arXiv:math.GT/0309136v1`."""
    found = parse_arxiv(text)
    return found.canonical if found and found.has_valid_month else None


def parse_arxiv(text: str | None) -> ArxivId | None:
    """Return the parts of an arXiv id, of arXiv's URL for it or of the DOI that arXiv registered, all lower-case."""
    if not text or len(text) > _LONGEST:
        return None
    bare = unwrap_text(text)
    if (doi := extract_doi(bare)) and doi.lower().startswith(_ARXIV_DOI):
        bare = doi[len(_ARXIV_DOI) :]
    elif prefix := _ARXIV_PREFIX.match(bare):
        bare = re.split(r"[?#]", bare[prefix.end() :], maxsplit=1)[0].rstrip("/").removesuffix(".pdf")
    found = _ARXIV.fullmatch(bare.rstrip("./,; "))
    if found is None:
        return None
    if found["number"]:
        return ArxivId(found["number"])
    return ArxivId(found["old_number"], found["archive"].lower(), (found["subject_class"] or "").lower())


def find_arxiv_in_text(text: str) -> str | None:
    """Return the first arXiv id after `arXiv:` or in a URL of arXiv, as it is written, or None."""
    found = _ARXIV_MENTION.search(text)
    return found[1] if found else None


def arxiv_to_doi(arxiv_id: str) -> str:
    """Return the DOI that arXiv registers for one of its papers."""
    return f"{_ARXIV_DOI}{arxiv_id}"


def doi_to_arxiv(doi: str) -> str | None:
    """Return the arXiv id of a DOI that arXiv registered, else None."""
    return normalise_arxiv(doi) if doi.lower().startswith(_ARXIV_DOI) else None


def normalise_pmid(text: str | None) -> str | None:
    """Return the digits of a PubMed id, without leading zeros."""
    return _match_id(_PMID, text)


def normalise_pmcid(text: str | None) -> str | None:
    """Return a PubMed Central id with its prefix and without its version: `PMC123` for `pmc123.2`."""
    match = _match_unwrapped(_PMCID, text)
    return f"PMC{match['in_url'] or match['bare']}" if match else None


def normalise_openalex(text: str | None) -> str | None:
    """Return an OpenAlex work id: `W42` for `https://openalex.org/w42`."""
    found = _match_id(_OPENALEX, text)
    return found.upper() if found else None


def normalise_s2(text: str | None) -> str | None:
    """Return a Semantic Scholar id: forty hexadecimal digits in lower case, or `CorpusId:` and a number."""
    if found := _match_id(_S2_HASH, text):
        return found.lower()
    found = _match_id(_S2_CORPUS_ID, text)
    return f"CorpusId:{found}" if found else None


def normalise_dblp(text: str | None) -> str | None:
    """Return a DBLP key such as `conf/nips/VaswaniSPUJGKP17`, whose case is significant."""
    return _match_id(_DBLP, text)


def normalise_scholar(text: str | None) -> str | None:
    """Return a Google Scholar result id, which can be any single word."""
    bare = (text or "").strip()
    return bare if bare and not re.search(r"\s", bare) else None


def normalise_bibcode(text: str | None) -> str | None:
    """Return an ADS bibcode of 19 characters, such as `2019A&A...622A...2P`, whose case is significant."""
    return _match_id(_BIBCODE, decode_percent(text)) if text and len(text) <= _LONGEST else None


def normalise_isbn(text: str | None) -> str | None:
    """Return the 13 digits of an ISBN; one of 10 digits is converted. None if the check digit is wrong."""
    written = _match_id(_ISBN, text)
    digits = re.sub(r"[^0-9xX]", "", written).upper() if written else ""
    if len(digits) == 10 and digits[:9].isdigit():
        values = [10 if digit == "X" else int(digit) for digit in digits]
        is_valid = sum(weight * value for weight, value in zip(range(10, 0, -1), values, strict=True)) % 11 == 0
        return _add_check_digit(f"978{digits[:9]}") if is_valid else None
    is_valid = len(digits) == 13 and digits.isdigit() and digits.startswith(("978", "979"))
    return digits if is_valid and _add_check_digit(digits[:12]) == digits else None


def _add_check_digit(twelve_digits: str) -> str:
    total = sum(int(digit) * (3 if index % 2 else 1) for index, digit in enumerate(twelve_digits))
    return f"{twelve_digits}{-total % 10}"


def unwrap_text(text: str) -> str:
    """Return the text without blanks around it and without quotation marks or brackets around all of it."""
    bare = text.strip()
    return bare[1:-1].strip() if len(bare) > 2 and bare[0] + bare[-1] in _WRAPPINGS else bare


def decode_percent(text: str) -> str:
    """Return the text with percent-encoding decoded, also if it was encoded several times."""
    while "%" in text and (plain := unquote(text)) != text:
        text = plain
    return text


def _match_unwrapped(pattern: re.Pattern[str], text: str | None) -> re.Match[str] | None:
    if not text or len(text) > _LONGEST:
        return None
    bare = unwrap_text(text)
    if bare.startswith(("http://", "https://")):
        bare = re.split(r"[?#](?!abs/)", bare, maxsplit=1)[0]
    return pattern.fullmatch(bare)


def _match_id(pattern: re.Pattern[str], text: str | None) -> str | None:
    match = _match_unwrapped(pattern, text)
    return match["id"] if match else None


NORMALISERS: Final[Mapping[str, Callable[[str | None], str | None]]] = {
    "doi": normalise_doi,
    "arxiv": normalise_arxiv,
    "pmid": normalise_pmid,
    "pmcid": normalise_pmcid,
    "openalex": normalise_openalex,
    "s2": normalise_s2,
    "dblp": normalise_dblp,
    "scholar": normalise_scholar,
    "bibcode": normalise_bibcode,
    "isbn": normalise_isbn,
}
"""By scheme."""
SCHEMES: Final = tuple(scheme for scheme in NORMALISERS if scheme != "isbn")
"""The schemes that identify one work, the most reliable first. The chapters of a book share its ISBN."""


def normalise_identifiers(identifiers: Mapping[str, object]) -> dict[str, str]:
    """Return every valid identifier of a known scheme in its canonical spelling, in the order of `SCHEMES`.

    A DOI that arXiv registered gives the arXiv id too.
    """
    known: dict[str, str] = {}
    for scheme in SCHEMES:
        value = identifiers.get(scheme)
        if isinstance(value, int) and not isinstance(value, bool):
            value = str(value)
        if isinstance(value, str) and (found := NORMALISERS[scheme](value)):
            known[scheme] = found
    if "arxiv" not in known and (arxiv := doi_to_arxiv(known.get("doi", ""))):
        known["arxiv"] = arxiv
    return {scheme: known[scheme] for scheme in SCHEMES if scheme in known}


_IDENTITY_ORDER: Final = ("doi", "arxiv", "pmid", "pmcid", "openalex", "s2", "dblp", "scholar")
_RECORD_ID: Final = re.compile(r"p_[0-9a-f]{16}")


def make_record_id(
    identifiers: Mapping[str, str], doi: str | None, title: str, first_author: str, year: int | None
) -> str:
    """Return the id of a record with these facts. `doi` counts unless `identifiers` has another."""
    known = {"doi": doi.strip().lower(), **identifiers} if doi else identifiers
    for scheme in _IDENTITY_ORDER:
        if value := known.get(scheme):
            return _hash_id(f"{scheme}:{value.lower()}")
    words = " ".join(title.casefold().split())
    return _hash_id(f"title:{words}|{first_author.casefold().strip()}|{year or ''}")


def list_record_ids(identifiers: Mapping[str, str], title: str, first_author: str, year: int | None) -> list[str]:
    """Return every id that a search can give to a paper, since its record may have only some of the identifiers."""
    spelled = [*identifiers.items(), *normalise_identifiers(identifiers).items()]
    by_identifier = [
        make_record_id({scheme: value}, None, "", "", None) for scheme, value in spelled if scheme in _IDENTITY_ORDER
    ]
    return list(dict.fromkeys([*by_identifier, make_record_id({}, None, title, first_author, year)]))


def is_record_id(text: str) -> bool:
    """Return True for `p_` and 16 lower-case hexadecimal digits."""
    return _RECORD_ID.fullmatch(text) is not None


def _hash_id(text: str) -> str:
    return "p_" + hashlib.sha256(text.encode()).hexdigest()[:16]
