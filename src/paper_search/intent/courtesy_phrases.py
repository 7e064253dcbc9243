"""The removal of courtesies and requests, which are not part of the subject of a search."""

import re
from typing import Final

from uraniborg.kernel.phrase_files import BREAK, PhraseFile

_COURTESIES: Final = PhraseFile("paper_search.intent", "data/courtesies.txt")
_SENTENCE_END: Final = re.compile(rf"({BREAK}|(?<=[;!?])\s|(?<!\b[A-Z]\.)(?<=\.)\s)")


def remove_courtesies(text: str) -> str:
    """Return the text without courtesies, requests and bare nouns for papers."""
    pieces = _SENTENCE_END.split(_COURTESIES.compile("inside").sub(BREAK, text))
    pieces[::2] = map(remove_openings_and_closings, pieces[::2])
    return _COURTESIES.compile("alone").sub(BREAK, f"{BREAK}{''.join(pieces)}{BREAK}")


def remove_openings_and_closings(sentence: str) -> str:
    """Return the sentence without the requests and courtesies at its beginning and its end."""
    closings = _COURTESIES.compile("closings", r"[\s,;.]*{}[\s.!?]*$")
    openings = _COURTESIES.compile("openings", r"\s*{}(?!-\w)")
    while closing := closings.search(sentence):
        sentence = sentence[: closing.start()]
    while (opening := openings.match(sentence)) and opening.end():
        sentence = sentence[opening.end() :]
    return sentence
