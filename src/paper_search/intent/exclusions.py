"""Terms that a query refuses: "not reviews", "without polymers", "-survey"."""

from typing import Final

from paper_search.intent.reading import Reading
from paper_search.text import STOP_WORDS
from uraniborg.kernel.phrase_files import BREAK, PhraseFile

_EXCLUSIONS: Final = PhraseFile("paper_search.intent", "data/exclusions.txt")
_PATTERNS: Final = _EXCLUSIONS.patterns
_NEVER_EXCLUDED: Final = {*STOP_WORDS, *f",;:.!?()[]{BREAK}", "please", "thanks", "thank"}


def read_exclusions(reading: Reading) -> Reading:
    """Read the exclusions of a text."""
    reading.take_all(_EXCLUSIONS.compile_each("whole"), reading.unwanted)
    cues = _EXCLUSIONS.compile("cues")
    position = 0
    while match := cues.search(reading.rest, position):
        position = match.end()
        if match["bare"] and _PATTERNS["fact"].search(reading.rest, 0, match.start("bare")):
            continue
        names, end = _read_terms(reading.rest, position, one_word_only=bool(match["hyphen"]))
        if names:
            reading.take(names, reading.unwanted, match.start(), end)
            position = match.start() + 1
    return reading


def _read_terms(text: str, start: int, *, one_word_only: bool) -> tuple[list[str], int]:
    """Return the terms that begin at `start`, and their end; "X and Y", "X or Y" and "(X, Y)" are two terms."""
    bracketed = _PATTERNS["bracketed"].match(text, start)
    if bracketed and not one_word_only:
        return _PATTERNS["separator"].split(bracketed["names"]), bracketed.end()
    names: list[list[str]] = [[]]
    end = start
    for piece in _PATTERNS["piece"].finditer(text, start):
        if piece[0] in {"and", "or"} and names[-1] and not one_word_only:
            names.append([])
            continue
        folded = piece[0].casefold()
        if folded in _NEVER_EXCLUDED or (not names[0] and _PATTERNS["degree"].fullmatch(folded)):
            break
        names[-1].append(piece[0])
        end = piece.end()
        if one_word_only or len(names[-1]) == 3:
            break
    return [_PATTERNS["papers"].sub("", " ".join(words)) for words in names if words], end
