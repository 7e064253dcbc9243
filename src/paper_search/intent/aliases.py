"""Finds where a person gave two names for one thing: "graph neural network (GNN)", "cats OR dogs"."""

import re

from paper_search.intent.concepts import concepts_in
from paper_search.intent.vocabulary import Vocabulary
from paper_search.text import STOP_WORDS

_BRACKETED = re.compile(r"(?P<before>[^()\n,;]{2,120}?)\s*\(\s*(?P<inside>[^()\n]{2,80})\)")
_ACRONYM = re.compile(r"[^\W\d_a-z][\w-]{0,9}\b")
_EITHER = re.compile(r"\s+OR\s+")
_BOUNDARY = re.compile(r"[()\n,;]|\sAND\s|\sNOT\s")


def acronyms(text: str) -> dict[str, str]:
    """Acronyms by the words they stand for, where the text itself spells them out."""
    found: dict[str, str] = {}
    for match in _BRACKETED.finditer(text):
        before, inside = match["before"].split(), match["inside"].split()
        if len(inside) == 1 and _ACRONYM.fullmatch(inside[0]):
            if words := _spelled_out(inside[0], before):
                found[" ".join(words)] = inside[0]
        elif before and _ACRONYM.fullmatch(before[-1]) and _spelled_out(before[-1], inside) == inside:
            found[" ".join(inside)] = before[-1]
    return found


def alternatives(text: str, vocabulary: Vocabulary) -> list[list[str]]:
    """Groups of concepts joined by a capital OR."""
    groups: list[list[str]] = []
    for part in _BOUNDARY.split(text):
        sides = [concepts_in(side, vocabulary) for side in _EITHER.split(part)]
        if len(sides) > 1 and all(sides):
            groups.append([sides[0][-1], *(side[0] for side in sides[1:])])
    return groups


def _spelled_out(acronym: str, words: list[str]) -> list[str]:
    """The last of the words whose initials make the acronym; none when they do not."""
    letters = re.sub(r"[\W\d_]", "", acronym.removesuffix("s")).casefold()
    for start in range(len(words) - 1, -1, -1):
        candidate = words[start:]
        parts = [part for word in candidate for part in word.split("-") if part]
        initials = "".join(part[0] for part in parts).casefold()
        without_joiners = "".join(part[0] for part in parts if part.casefold() not in STOP_WORDS).casefold()
        if len(letters) > 1 and letters in {initials, without_joiners} and candidate[0].casefold() not in STOP_WORDS:
            return candidate
    return []
