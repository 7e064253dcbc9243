"""Citation keys such as `wang_2023_perovskite`: family name of the first author, year, first word of the title."""

import re
from collections.abc import Iterable, Sequence

from paper_search.models import Paper
from uraniborg.kernel.bibliography.names import split_name
from uraniborg.kernel.bibliography.text import ascii_fold, one_line

_MARKUP = re.compile(r"</?[A-Za-z][^<>]*>|\\[A-Za-z]+|['’]")
_WORD = re.compile(r"[a-z0-9]+")
_LONGEST_PIECE = 40


def citation_keys(papers: Sequence[Paper]) -> list[str]:
    """One key per paper, in order, no two the same.

    The first paper of a name keeps the plain key; later ones get `_a`, `_b` … `_z`, `_aa` …, so adding papers at the
    end changes no key. A plain key has two underscores and a suffixed one three, so the two never meet.
    """
    taken: dict[str, int] = {}
    keys: list[str] = []
    for paper in papers:
        plain = citation_key(paper)
        repeats = taken.get(plain, 0)
        taken[plain] = repeats + 1
        keys.append(f"{plain}_{_letters(repeats)}" if repeats else plain)
    return keys


def citation_key(paper: Paper) -> str:
    """`family_year_word`, each piece folded to a-z and 0-9.

    `unknown`, `nd` and `untitled` stand for what is missing or has no ASCII letter or digit. Lower-case
    particles (`van`, `de la`) are left out, articles at the start of a title are not.
    """
    name = next((clean for author in paper.authors if (clean := one_line(author.name))), "")
    family = _piece(_WORD.findall(ascii_fold(split_name(name).family))) if name else ""
    year = "" if paper.year is None else str(abs(paper.year))
    word = _piece(_WORD.findall(ascii_fold(_MARKUP.sub("", paper.title)))[:1])
    return f"{family or 'unknown'}_{year or 'nd'}_{word or 'untitled'}"


def _piece(words: Iterable[str]) -> str:
    return "".join(words)[:_LONGEST_PIECE]


def _letters(number: int) -> str:
    """1 → a, 26 → z, 27 → aa."""
    letters = ""
    while number:
        number, rest = divmod(number - 1, 26)
        letters = chr(ord("a") + rest) + letters
    return letters
