"""Terms that a query refuses: "not reviews", "without polymers", "-survey"."""

from typing import Final

from paper_search.intent.reading import Reading
from uraniborg.kernel.phrase_files import PhraseFile

_EXCLUSIONS: Final = PhraseFile("paper_search.intent", "data/exclusions.txt")


def read_exclusions(reading: Reading) -> Reading:
    """Read the exclusions of a text; "X and Y", "X or Y" and "(X, Y)" are two terms."""
    reading.take_all(_EXCLUSIONS.compile_each("whole"), reading.unwanted)
    patterns = _EXCLUSIONS.patterns
    position = 0
    while match := patterns["refusal"].search(reading.rest, position):
        if match["bare"] and patterns["fact"].search(reading.rest, 0, match.start("bare")):
            position = match.end("bare")
            continue
        names = patterns["separator"].split(match["listed"] or match["terms"] or match["word"])
        reading.take((patterns["papers"].sub("", name) for name in names), reading.unwanted, *match.span())
        position = match.start() + 1
    return reading
