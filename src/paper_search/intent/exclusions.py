"""Exclusions: the terms that a query refuses."""

import re
from dataclasses import dataclass, field

from paper_search.intent.text_cleanup import BREAK, PLACEHOLDER, cut_span
from paper_search.intent.word_lists import AFTER_NOT
from paper_search.text import STOP_WORDS

MAX_EXCLUDED_WORDS = 3
_KINDS = (
    r"(?:reviews?|surveys?|preprints?|books?|thes[ei]s|patents?|editorials?|letters|comments|abstracts"
    r"|meta-analys[ei]s|gr[ea]y\s+literature|übersichtsarbeiten|übersichten|revues|revisiones|revisões)"
)
_VERBS = r"(?:skip|omit|ignore|avoid|discard|disregard|drop|remove|leave\s+out|leaving\s+out|filter\s+out|weed\s+out)"
# "Do not generalise" states a fact; "polymers, not metals" states a wish.
_AUXILIARIES = ("do", "does", "did", "is", "are", "was", "were", "can", "could", "will", "would", "should", "may", "or")
_NOT_AFTER = "".join(rf"(?<!\b{word}\s)" for word in _AUXILIARIES)
_CUES = re.compile(
    r"(?P<cue>\b(?:but\s+|and\s+)?(?:(?:i|we)(?:\s+|['’](?=m\s|re\s)))?"
    r"(?:(?:do(?:es)?\s+not|do(?:es)?n['’]t)\s+(?:want|include|need|use|show|care\s+(?:about|for))(?:\s+(?:any|me))?"
    r"|(?:is\s+|are\s+|am\s+|m\s+|re\s+)?not\s+(?:about|on|in(?!\s+(?:vitro|vivo|situ|silico)\b)|related\s+to|including"
    r"|interested\s+in|using|involving|containing|any|the)"
    r"|excluding|exclude|except(?:\s+for)?|(?<=\S\s)(?:leaving\s+out|ignoring|avoiding)|a(?:part|side)\s+from|nothing\s+(?:about|on|with|involving)|other\s+than|rather\s+than|instead\s+of"
    rf"|without(?!\s+\w+ing\b(?!\s+(?:papers|articles|studies|publications)\b))(?:\s+any)?|{_NOT_AFTER}not)(?::\s*|\s+)"
    rf"|\b(?:but\s+|and\s+|please\s+)?(?:no|keine|ohne|sans|pas\s+de|sin|sem|{_VERBS})\s+(?:(?:any|all|the)\s+)?(?={_KINDS}\b)"
    rf"|(?<=[,;.!?(\n] )(?:(?:but|and|please)\s+)?no\s+(?!one\b|matter\b|longer\b|doubt\b|thanks?\b|need\b|more\b"
    r"|less\b)"
    # At the start of a query "skip connections" are a topic.
    rf"|(?<=[,;.!?(\n] )(?:(?:but|and|please|kindly)\s+)*{_VERBS}\s+(?!connections?\b|lists?\b|grams?\b)"
    r"(?:(?:any|all|the|papers|articles|studies|work|works|results|anything|everything|on|about)\s+)*)"
    rf"|(?:^|(?<=[\s(]))[-−](?={PLACEHOLDER}|[^\W\d_])",
    re.IGNORECASE,
)
_EXCLUDED = re.compile(
    rf"(?:\b(?P<kind>{_KINDS})|[,;(\n]\s*(?P<named>(?:{PLACEHOLDER}|[\w-]{{1,40}})(?:\s+[\w-]{{1,40}}){{0,2}}?))"
    r"\s+(?:(?:(?:is|are|to\s+be|being)\s+)?excluded|(?:is|are)\s+(?:irrelevant|not\s+(?:needed|relevant|wanted|of\s+interest)))\b",
    re.IGNORECASE,
)
_PIECE = re.compile(rf"{PLACEHOLDER}|[^\s,;:.!?()\[\]\n]+|[,;:.!?()\[\]\n]")
_BRACKETED = re.compile(r"\(\s*(?P<names>[^()\n]*\w[^()\n]*|" + PLACEHOLDER + r")\)")
_TRAILING_PAPERS = re.compile(r"(?<=\w)\s+(?:papers?|articles?|publications?|stud(?:y|ies))$", re.IGNORECASE)
_NEVER_EXCLUDED = STOP_WORDS | {"please", "thanks", "thank"}
_SEPARATOR = re.compile(r"[,;]|\s(?:and|or)\s", re.IGNORECASE)


_CJK_EXCLUDED = re.compile(
    r"(?:请|請)?(?:不要|排除|不包括|不包含|去掉|剔除)(?P<before>[\u3400-\u9fff]{1,12})"
    r"|(?P<after>[\u3040-\u30ff\u3400-\u9fff]{1,12})(?:を|は)(?:除く|除外(?:する|して(?:ください)?)?|除いて(?:ください)?|不要)"
)


@dataclass(slots=True)
class ExclusionReading:
    """The terms that a text excludes, and the rest of the text."""

    rest: str
    excluded: list[str] = field(default_factory=list)


def read_exclusions(text: str) -> ExclusionReading:
    """Read the exclusions of a text: "not reviews", "without polymers", "-survey". Quoted phrases stay placeholders."""
    reading = ExclusionReading(rest=text)
    while match := _EXCLUDED.search(reading.rest):
        reading.excluded.append(match["kind"] or match["named"])
        reading.rest = cut_span(reading.rest, match.start(), match.end())
    while match := _CJK_EXCLUDED.search(reading.rest):
        reading.excluded.append(match["before"] or match["after"])
        reading.rest = cut_span(reading.rest, match.start(), match.end())
    position = 0
    while match := _CUES.search(reading.rest, position):
        single = match["cue"] is None
        named, end = _read_terms(reading.rest, match.end(), one_word_only=single)
        position = match.end()
        if named:
            reading.excluded += [name for name in named if name not in reading.excluded]
            reading.rest = cut_span(reading.rest, match.start(), end)
            position = match.start() + 1
    return reading


def _is_plain_negation(word: str) -> bool:
    return word in AFTER_NOT or (word.endswith("ly") and len(word) > 5)


def _read_terms(text: str, start: int, *, one_word_only: bool) -> tuple[list[str], int]:
    """Return the terms that begin at `start`, and their end; "X and Y", "X or Y" and "(X, Y)" are two terms."""
    if not one_word_only and (bracketed := _BRACKETED.match(text, start)):
        return [name for name in map(str.strip, _SEPARATOR.split(bracketed["names"])) if name], bracketed.end()
    named: list[list[str]] = [[]]
    end = start
    for piece in _PIECE.finditer(text, start):
        word = piece[0]
        folded = word.casefold()
        if word in {"and", "or"} and named[-1] and not one_word_only:
            named.append([])
            continue
        if word in f",;:.!?()[]{BREAK}" or folded in _NEVER_EXCLUDED or (not named[0] and _is_plain_negation(folded)):
            break
        named[-1].append(word)
        end = piece.end()
        if one_word_only or len(named[-1]) == MAX_EXCLUDED_WORDS:
            break
    return [_TRAILING_PAPERS.sub("", " ".join(words)) for words in named if words], end
