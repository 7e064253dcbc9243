"""References: papers with a citation key, a kind and one-line fields, to write as BibTeX, RIS and CSL-JSON."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from uraniborg.kernel.bibliography.names import split_name
from uraniborg.kernel.bibliography.plain_text import fold_to_ascii, to_one_line

_PAGE_RANGE = re.compile(r"([^\s–—-]+)\s*[–—-]+\s*([^\s–—-]+)")


@dataclass(frozen=True, slots=True)
class Reference:
    """A paper in a bibliography. Missing text is empty, never None."""

    key: str
    kind: str
    """One of: article, conference, preprint, book, chapter, thesis, dataset, report, other."""
    title: str
    authors: tuple[str, ...]
    year: int | None
    venue: str = ""
    volume: str = ""
    issue: str = ""
    pages: tuple[str, ...] = ()
    """First and last page, or one part that is not a range."""
    publisher: str = ""
    doi: str = ""
    url: str = ""
    arxiv: str = ""
    pmid: str = ""
    pmcid: str = ""
    language: str = ""
    abstract: str = ""
    keywords: tuple[str, ...] = ()
    has_more_authors: bool = False
    """True if `authors` names only the first authors."""
    editors: tuple[str, ...] = ()
    """Of a work without authors."""
    retraction: str = ""
    """The status of a retracted paper, such as `retracted` or `withdrawn`."""
    note: str = ""
    """The notices of a paper that is retracted or under concern, each with its source."""


def split_pages(text: str) -> tuple[str, ...]:
    """Return the first and the last page of a range, any other text as the only part, or () for an empty text."""
    if found := _PAGE_RANGE.fullmatch(text):
        return found[1], found[2]
    return (text,) if text else ()


_MARKUP = re.compile(r"</?[A-Za-z][^<>]*>|\\[A-Za-z]+|['’]")
_WORD = re.compile(r"[a-z0-9]+")
_GENERATED = re.compile(r"[a-z0-9]+_(?:\d+|nd)_[a-z0-9]+(?:_[a-z]+)?")
_LONGEST_PIECE = 40
_UNSAFE = re.compile(r"[\s\x00-\x1f\x7f-\x9f\"#%(),=@\\{}~]+")
"""Characters that end a key in BibTeX, or that LaTeX would run or treat as a comment."""


def make_citation_key(authors: Iterable[str], year: int | None, title: str) -> str:
    """Return `family_year_word`, each piece folded to a-z and 0-9.

    `unknown`, `nd` and `untitled` stand for a piece that is missing or has no ASCII letter or digit. Lower-case
    particles (`van`, `de la`) are left out, articles at the start of a title are not.
    """
    name = next((clean for author in authors if (clean := to_one_line(author))), "")
    family = _join_and_cut_words(_WORD.findall(fold_to_ascii(split_name(name).family))) if name else ""
    word = _join_and_cut_words(_WORD.findall(fold_to_ascii(_MARKUP.sub("", title)))[:1])
    return f"{family or 'unknown'}_{'nd' if year is None else abs(year)}_{word or 'untitled'}"


def clean_citation_key(key: str) -> str:
    """Return the key without characters that BibTeX or LaTeX would not read as a part of it."""
    return _UNSAFE.sub("", key)


def is_generated_key(key: str) -> bool:
    """Return True for a key of the form that `make_citation_key` gives, with or without a suffix."""
    return _GENERATED.fullmatch(key) is not None


def add_key_suffix(key: str, repeats: int) -> str:
    """Return the key of the paper that comes after `repeats` others with the same key.

    The suffixes are `_a`, `_b` … `_z`, `_aa` … A generated key has two underscores and a suffixed key three, so that
    they never collide.
    """
    return f"{key}_{_number_to_letters(repeats)}" if repeats else key


def _join_and_cut_words(words: Iterable[str]) -> str:
    return "".join(words)[:_LONGEST_PIECE]


def _number_to_letters(number: int) -> str:
    """Return 1 as a, 26 as z, 27 as aa."""
    letters = ""
    while number:
        number, rest = divmod(number - 1, 26)
        letters = chr(ord("a") + rest) + letters
    return letters
