"""The removal of courtesies and requests, which are not part of the subject of a search."""

import re
from typing import Final

from paper_search.intent.text_cleanup import BREAK
from uraniborg.kernel.phrase_files import PhraseFile

_COURTESIES: Final = PhraseFile("paper_search.intent", "data/courtesies.txt")
_SENTENCE_END = re.compile(rf"({BREAK}|(?<=[;!?])\s|(?<!\b[A-Z]\.)(?<=\.)\s)")


def remove_courtesies(text: str) -> str:
    """Return the text without courtesies, requests and bare nouns for papers."""
    pieces = _SENTENCE_END.split(_COURTESIES.compile("inside").sub(BREAK, text))
    bare = "".join(piece if _SENTENCE_END.fullmatch(piece) else remove_openings_and_closings(piece) for piece in pieces)
    return _COURTESIES.compile("alone").sub(BREAK, f"{BREAK}{bare}{BREAK}")


def remove_openings_and_closings(sentence: str) -> str:
    """Return the sentence without the requests and courtesies at its beginning and its end."""
    closings = _COURTESIES.compile("closings", r"[\s,;.]*{}[\s.!?]*$")
    openings = _COURTESIES.compile("openings", r"\s*{}(?!-\w)")
    while closing := closings.search(sentence):
        sentence = sentence[: closing.start()]
    position = 0
    while (match := openings.match(sentence, position)) and match.end() > position:
        position = match.end()
    return sentence[position:]
