"""Terms that a query refuses: "not reviews", "without polymers", "-survey"."""

import re
from typing import Final

from paper_search.intent.reading import Reading
from paper_search.text import STOP_WORDS
from uraniborg.kernel.phrase_files import BREAK, PLACEHOLDER, PhraseFile

_EXCLUSIONS: Final = PhraseFile("paper_search.intent", "data/exclusions.txt")
_MOST_WORDS: Final = 3
_PIECE: Final = re.compile(rf"{PLACEHOLDER}|[^\s,;:.!?()\[\]\n]+|[,;:.!?()\[\]\n]")
_SEPARATOR: Final = re.compile(r"[,;]|\s(?:and|or)\s", re.IGNORECASE)
_NEVER_EXCLUDED: Final = {*STOP_WORDS, *f",;:.!?()[]{BREAK}", "please", "thanks", "thank"}


def read_exclusions(reading: Reading) -> Reading:
    """Read the exclusions of a text."""
    for pattern in _EXCLUSIONS.compile_each("whole"):
        while match := pattern.search(reading.rest):
            reading.take([match["term"]], reading.unwanted, *match.span())
    cues = _EXCLUSIONS.compile("cues")
    position = 0
    while match := cues.search(reading.rest, position):
        position = match.end()
        if match["bare"] and _EXCLUSIONS.patterns["fact"].search(reading.rest, 0, match.start("bare")):
            continue
        names, end = _read_terms(reading.rest, position, one_word_only=bool(match["hyphen"]))
        if names:
            reading.take(names, reading.unwanted, match.start(), end)
            position = match.start() + 1
    return reading


def _read_terms(text: str, start: int, *, one_word_only: bool) -> tuple[list[str], int]:
    """Return the terms that begin at `start`, and their end; "X and Y", "X or Y" and "(X, Y)" are two terms."""
    bracketed = _EXCLUSIONS.patterns["bracketed"].match(text, start)
    if bracketed and not one_word_only:
        return [name for name in map(str.strip, _SEPARATOR.split(bracketed["names"])) if name], bracketed.end()
    names: list[list[str]] = [[]]
    end = start
    for piece in _PIECE.finditer(text, start):
        if piece[0] in {"and", "or"} and names[-1] and not one_word_only:
            names.append([])
            continue
        folded = piece[0].casefold()
        if folded in _NEVER_EXCLUDED or (not names[0] and _is_plain_negation(folded)):
            break
        names[-1].append(piece[0])
        end = piece.end()
        if one_word_only or len(names[-1]) == _MOST_WORDS:
            break
    papers = _EXCLUSIONS.patterns["papers"]
    return [papers.sub("", " ".join(words)) for words in names if words], end


def _is_plain_negation(word: str) -> bool:
    return word in _EXCLUSIONS.read_words("after not") or (word.endswith("ly") and len(word) > 5)
