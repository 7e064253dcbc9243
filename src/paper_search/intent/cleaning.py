"""Makes a query safe to read: one line of normalised text with every quoted phrase set aside and no small talk.

Readers cut what they understood out of the text and leave `BREAK` behind, so that words on either side of a cut are
never taken for one phrase. A quoted phrase is stood in for by one private character, so that no rule reads inside it.
"""

import re
import unicodedata
from collections.abc import Sequence

BREAK = "\n"
_FIRST_STAND_IN = 0xE000
MAX_PHRASES = 20
MAX_CHARACTERS = 4_000
"""Nobody says more about one search; what goes on longer is read up to here, so that reading takes bounded time."""
STAND_IN = "[\ue000-\ue0ff]"

_QUOTED = re.compile(
    r'"([^"\n]*)"|“([^“”\n]*)”|„([^„“”\n]*)[“”]|«([^«»\n]*)»|「([^「」\n]*)」|『([^『』\n]*)』|《([^《》\n]*)》'
    r"|(?<![\w'’])['‘]([^\W_][^'‘’\n]*[^\W_])['’](?![\w'’])"
)
_STRAY_QUOTES = re.compile(r'["“”„«»「」『』《》]')
_JOINERS = "\u200c\u200d"

_PAPERS = r"(?:papers?|articles?|publications?|literature|preprints?|stud(?:y|ies)|works?|research|references|results)"
_KIND = (
    r"(?:(?:[0-9]+|scientific|academic|scholarly|research|journal|conference|peer-reviewed|relevant|key|important|seminal"
    r"|good|best|top|interesting|(?:most|highly)[\s-]cited)\s+)*"
)
_ABOUT = (
    r"(?:about|on|regarding|concerning|relat(?:ed|ing)\s+to|relevant\s+to|dealing\s+with|covering|discussing|describing"
    r"|addressing|(?:that|which)\s+(?:are\s+about|deals?\s+with|discuss(?:es)?|describes?|covers?|address(?:es)?"
    r"|stud(?:y|ies)|uses?|proposes?)|in\s+the\s+(?:field|area)\s+of|where|for|in|of|with|using|that|which)"
)
_I_AM = r"(?:i|we)(?:['’]m|['’]re|\s+am|\s+are)"
_LEARN = r"(?:\s+to\s+(?:find|see|read|know|learn|get|have|understand))?(?:\s+more)?(?:\s+about)?"
_PREAMBLES = (
    r"(?:hi|hello|hey|please|kindly|ok|okay|thanks|thank\s+you|also|and|or|but|so|only|just)(?=[\s,!.]|$)[\s,!.]*",
    r"(?:can|could|would|will)\s+you\b",
    r"(?:how|where)\s+(?:do|can|could|would|should|might)\s+(?:i|we|one)\s+(?=find|search|look|get)",
    rf"{_I_AM}\s+(?:looking|searching|hunting)\s+for\b",
    rf"{_I_AM}\s+(?:interested\s+in|working\s+on|writing\s+(?:an?\s+)?\w+\s+(?:on|about))\b",
    rf"(?:i|we)(?:['’]d|\s+would)\s+like{_LEARN}\b",
    rf"(?:i|we)\s+(?:need|want|seek){_LEARN}\b",
    r"help\s+(?:me|us)(?:\s+to)?\b",
    r"(?:to\s+)?(?:find|search\s+for|look\s+for|look\s+up)(?:\s+(?:me|us))?\b",
    r"(?:show|give|get|fetch|list|recommend|suggest|provide|detail|tell|send|search|return)\s+"
    rf"(?:me\b|us\b|(?=(?:all|some|any|the|{_KIND}{_PAPERS})\b))(?:\s+about\b)?",
    r"what(?:['’]s|\s+is|\s+are|\s+has\s+been)\s+(?:already\s+)?(?:known|written|published|said)\s+(?:about|on|of)\b",
    r"what\s+do\s+(?:we|you|people)\s+know\s+about\b",
    r"who\s+(?:has\s+)?(?:worked|works|published|writes)\s+on\b",
    rf"(?:which|what)\s+{_KIND}{_PAPERS}\b",
    r"(?:has|have|did)\s+any(?:one|body)\b",
    r"what(?:['’]s|\s+is|\s+are)(?=\s)",
    r"is\s+it\s+possible\s+to\b",
    r"(?:is|are)\s+there\b",
    r"(?:some|all|any|the|more|an?|a\s+few|a\s+list\s+of|list\s+of)(?=\s|$)",
    rf"{_KIND}{_PAPERS}(?:\s+{_ABOUT}\b|\s*$)",
    rf"(?!in\s+(?:vitro|vivo|situ|silico)\b){_ABOUT}(?=\s|$)",
)
_PREAMBLE = re.compile(rf"\s*(?:{'|'.join(_PREAMBLES)})", re.IGNORECASE)
_NOUN_ALONE = re.compile(
    r"(?<![\w-])(?:(?:scientific|academic|scholarly|research|journal|conference|review|seminal|(?:most|highly)[\s-]cited)\s+)*"
    rf"(?:papers|articles|publications|preprints)(?![\w-])|(?<=\n){_PAPERS}(?=\s*\n|\s+{_ABOUT}\b)",
    re.IGNORECASE,
)
_CLOSING = re.compile(r"[\s,]*\b(?:please|thanks|thank\s+you|if\s+possible|asap)[\s.!?]*$", re.IGNORECASE)


def normalised(text: str) -> str:
    """The text in compatibility form on one line, without controls, lone surrogates or private characters."""
    folded = unicodedata.normalize("NFKC", text[:MAX_CHARACTERS])[:MAX_CHARACTERS]
    kept = (_printable(character) for character in folded)
    return " ".join("".join(kept).split())


def _printable(character: str) -> str:
    kind = unicodedata.category(character)
    if kind == "Cf":
        return character if character in _JOINERS else ""
    return " " if kind in {"Cc", "Cs", "Co"} else character


def set_phrases_aside(text: str) -> tuple[str, list[str]]:
    """The normalised text with each quoted phrase replaced by its stand-in, and the phrases."""
    phrases: list[str] = []

    def set_aside(match: re.Match[str]) -> str:
        phrase = next(group for group in match.groups() if group is not None).strip(" ,.;:")
        if len(phrases) == MAX_PHRASES or not any(map(str.isalnum, phrase)):
            return f" {phrase} "
        phrases.append(phrase)
        return f" {stand_in(len(phrases) - 1)} "

    # Spaces around a stand-in would part `author:"…"` and `-"…"` from what they belong to.
    marked = re.sub(r"(^|[\s(])(-|\w+:) (?=" + STAND_IN + ")", r"\1\2", _QUOTED.sub(set_aside, text))
    return " ".join(_STRAY_QUOTES.sub(" ", marked).split()), phrases


def stand_in(index: int) -> str:
    """The private character that stands for the phrase of that index."""
    return chr(_FIRST_STAND_IN + index)


def restored(text: str, phrases: Sequence[str]) -> str:
    """The text with stand-ins turned back into their phrases."""
    return re.sub(STAND_IN, lambda match: phrases[ord(match[0]) - _FIRST_STAND_IN], text)


def cut(text: str, start: int, end: int) -> str:
    """The text without the span, a break in its place."""
    return f"{text[:start]}{BREAK}{text[end:]}"


def joined(text: str) -> str:
    """The text on one line again, cuts closed and the punctuation they orphaned removed."""
    line = re.sub(r"\s+([,;:.!?)\]])", r"\1", " ".join(text.split()))
    line = re.sub(r"(?<=[(\[])\s+", "", line)
    line = re.sub(r"\(\s*\)|\[\s*\]", " ", line)
    line = re.sub(r"([,;:])(?:\s*[,;:.!?])+", r"\1", line)
    return " ".join(line.split()).lstrip(" ,;:!?)-–—").rstrip(" ,;:.!?(-–—")


def without_politeness(text: str) -> str:
    """The text without what is said to a helper rather than about a subject."""
    pieces = map(_without_preambles, _CLOSING.sub("", text).split(BREAK))
    return _NOUN_ALONE.sub(BREAK, f"{BREAK}{BREAK.join(pieces)}{BREAK}")


def _without_preambles(text: str) -> str:
    position = 0
    while (match := _PREAMBLE.match(text, position)) and match.end() > position:
        position = match.end()
    return text[position:]
