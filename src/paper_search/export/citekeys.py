"""Citation keys such as `wang_2023_perovskite`: family name of the first author, year, first word of the title."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from paper_search.export.names import split_name
from paper_search.export.text import ascii_fold, names_of
from paper_search.models import Paper
from paper_search.notices import unmark_title

_MARKUP = re.compile(r"</?[A-Za-z][^<>]*>|\\[A-Za-z]+|['’]")
_WORD = re.compile(r"[a-z0-9]+")
_LONGEST_PIECE = 40


def citation_keys(papers: Sequence[Paper]) -> list[str]:
    """Return one key per paper, in order, no two the same.

    Of papers with the same plain key the one with the smallest id keeps it; the others get `_a`, `_b` … `_z`, `_aa` …
    in the order of their ids, so a key does not depend on the order of the papers. A plain key has two underscores
    and a suffixed one three, so the two never meet.
    """
    keys = [citation_key(paper) for paper in papers]
    taken: Counter[str] = Counter()
    for position in sorted(range(len(papers)), key=lambda position: papers[position].id):
        plain = keys[position]
        if repeats := taken[plain]:
            keys[position] = f"{plain}_{_letters(repeats)}"
        taken[plain] += 1
    return keys


def citation_key(paper: Paper) -> str:
    """Return `family_year_word`, each piece folded to a-z and 0-9.

    `unknown`, `nd` and `untitled` stand for what is missing or has no ASCII letter or digit. The first editor stands
    for a missing author. Lower-case particles (`van`, `de la`) are left out, articles at the start of a title are
    not; a mark such as `RETRACTED: ` is, so that a retraction changes no key.
    """
    name = next(iter(names_of((*paper.authors, *paper.editors))), "")
    family = _piece(_WORD.findall(ascii_fold(split_name(name).family))) if name else ""
    year = "" if paper.year is None else str(abs(paper.year))
    word = _piece(_WORD.findall(ascii_fold(_MARKUP.sub("", unmark_title(paper.title))))[:1])
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
