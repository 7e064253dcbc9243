"""Takes away what a query says to a helper ("could you find me some papers on …") and leaves what it is about."""

import re

from paper_search.intent.cleaning import BREAK

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


def without_politeness(text: str) -> str:
    """The text without what is said to a helper rather than about a subject."""
    pieces = map(_without_preambles, _CLOSING.sub("", text).split(BREAK))
    return _NOUN_ALONE.sub(BREAK, f"{BREAK}{BREAK.join(pieces)}{BREAK}")


def _without_preambles(text: str) -> str:
    position = 0
    while (match := _PREAMBLE.match(text, position)) and match.end() > position:
        position = match.end()
    return text[position:]
