"""Finds what a text is about: the noun-like chunks left once politeness and filler are gone."""

import re
from collections.abc import Iterator

from paper_search.intent.cleaning import BREAK, STAND_IN
from paper_search.intent.vocabulary import Vocabulary
from paper_search.intent.wordlists import FILLER, JOINING, LEADING_FILLER
from paper_search.text import STOP_WORDS

MAX_CONCEPTS = 12
LONGEST_CHUNK = 3

_PAPERS = r"(?:papers?|articles?|publications?|literature|preprints?|stud(?:y|ies)|works?|research|references|results)"
_KIND = (
    r"(?:(?:[0-9]+|scientific|academic|scholarly|research|journal|conference|peer-reviewed|relevant|key|important|seminal"
    r"|good|best|top|interesting|(?:most|highly)[\s-]cited)\s+)*"
)
_ABOUT = (
    r"(?:about|on|regarding|concerning|related\s+to|relating\s+to|relevant\s+to|dealing\s+with|covering|discussing|describing"
    r"|addressing|(?:that|which)\s+(?:are\s+about|deal(?:s)?\s+with|discuss(?:es)?|describes?|cover(?:s)?|address(?:es)?"
    r"|stud(?:y|ies)|uses?|propose(?:s)?)|in\s+the\s+(?:field|area)\s+of|where|for|in|of|with|using|that|which)"
)
_I = r"(?:i|we)"
_PREAMBLE = re.compile(
    r"\s*(?:"
    r"(?:hi|hello|hey|please|kindly|ok|okay|thanks|thank\s+you|also|and|or|but|so|only|just)(?=[\s,!.]|$)[\s,!.]*"
    r"|(?:can|could|would|will)\s+you\b"
    rf"|{_I}(?:['’]m|['’]re|\s+am|\s+are)\s+(?:looking|searching|hunting)\s+for\b"
    rf"|{_I}(?:['’]m|['’]re|\s+am|\s+are)\s+(?:interested\s+in|working\s+on|writing\s+(?:an?\s+)?\w+\s+(?:on|about))\b"
    rf"|{_I}(?:['’]d|\s+would)\s+like(?:\s+to\s+(?:find|see|read|know|learn|get|have))?(?:\s+more)?(?:\s+about)?\b"
    rf"|{_I}\s+(?:need|want|seek)(?:\s+to\s+(?:find|see|read|know|learn|get|understand))?(?:\s+more)?(?:\s+about)?\b"
    r"|help\s+(?:me|us)(?:\s+to)?\b"
    r"|(?:find|search\s+for|look\s+for|look\s+up)(?:\s+(?:me|us))?\b"
    rf"|(?:show|give|get|fetch|list|recommend|suggest|provide|detail|tell|send|search|return)\s+(?:me\b|us\b|(?=(?:all|some|any|the|{_KIND}{_PAPERS})\b))"
    r"(?:\s+about\b)?"
    r"|what(?:['’]s|\s+is|\s+are|\s+has\s+been)\s+(?:already\s+|currently\s+)?(?:known|written|published|said)\s+(?:about|on|of)\b"
    r"|what\s+do\s+(?:we|you|people)\s+know\s+about\b|who\s+(?:has\s+)?(?:worked|works|published|writes)\s+on\b"
    rf"|(?:which|what)\s+{_KIND}{_PAPERS}\b|(?:has|have|did)\s+any(?:one|body)\b|to\s+find\b"
    r"|what(?:['’]s|\s+is|\s+are)(?=\s)|is\s+it\s+possible\s+to\b|(?:is|are)\s+there\b|(?:some|all|any|the|more|an?|a\s+few|a\s+list\s+of|list\s+of)(?=\s|$)"
    rf"|{_KIND}{_PAPERS}(?:\s+{_ABOUT}\b|\s*$)|(?!in\s+(?:vitro|vivo|situ|silico)\b){_ABOUT}(?=\s|$)"
    r")",
    re.IGNORECASE,
)
_NOUN_ALONE = re.compile(
    rf"(?<![\w-])(?:(?:scientific|academic|scholarly|research|journal|conference|review|seminal|(?:most|highly)[\s-]cited)\s+)*"
    rf"(?:papers|articles|publications|preprints)(?![\w-])|(?<=\n){_PAPERS}(?=\s*\n|\s+{_ABOUT}\b)",
    re.IGNORECASE,
)
_CLOSING = re.compile(r"[\s,]*\b(?:please|thanks|thank\s+you|if\s+possible|asap)[\s.!?]*$", re.IGNORECASE)

_FUNCTION_WORDS = STOP_WORDS | JOINING
_TOKEN = re.compile(rf"{STAND_IN}|[^\s{BREAK}]+")
_EDGES = "\"'`“”‘’,;:!?()[]{}<>|~^=•…、。，；：！？（）【】·"
_SPLITS = re.compile(
    r"[\n()\[\]{}|;、。，；：！？…]+|,(?![0-9])|(?<![0-9]),|(?<!\b[A-Z])[.!?:](?=\s|$)|\s[-–—/&+=<>]+\s"
)
_CHINESE_OR_JAPANESE = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
_INITIAL = re.compile(r"[A-Z]\.")


def without_politeness(text: str) -> str:
    """The text without what is said to a helper rather than about a subject."""
    text = _CLOSING.sub("", text)
    pieces = map(_without_preamble, text.split(BREAK))
    return _NOUN_ALONE.sub(BREAK, BREAK + BREAK.join(pieces) + BREAK)


def _without_preamble(text: str) -> str:
    position = 0
    while (match := _PREAMBLE.match(text, position)) and match.end() > position:
        position = match.end()
    return text[position:]


def concepts_in(text: str, vocabulary: Vocabulary) -> list[str]:
    """The concepts of a text in its order, each once. Quoted phrases stay stand-ins and are concepts of their own."""
    found: dict[str, str] = {}
    for chunk in _chunks(text, vocabulary):
        for concept in _split_chunk(chunk, vocabulary):
            found.setdefault(concept.casefold(), concept)
    telling = [concept for folded, concept in found.items() if folded not in FILLER]
    return telling or list(found.values())


def _chunks(text: str, vocabulary: Vocabulary) -> Iterator[list[str]]:
    """Runs of content words, parted by punctuation and function words; known terms may hold function words."""
    for part in _SPLITS.split(text):
        tokens = [_trimmed(token) for token in _TOKEN.findall(part)]
        chunk: list[str] = []
        position = 0
        while position < len(tokens):
            word = tokens[position]
            size = vocabulary.longest_match(tokens, position)
            if size > 1 and any(map(is_function_word, tokens[position : position + size])):
                chunk.append(" ".join(tokens[position : position + size]))
                position += size
                continue
            if re.fullmatch(STAND_IN, word) or _CHINESE_OR_JAPANESE.search(word):
                yield chunk
                yield [word]
                chunk = []
            elif not any(map(str.isalnum, word)) or is_function_word(word):
                yield chunk
                chunk = []
            else:
                chunk.append(word)
            position += 1
        yield chunk


def _trimmed(token: str) -> str:
    if _INITIAL.fullmatch(token):
        return token
    bare = token.strip(_EDGES).rstrip(".-–—/").lstrip("-–—/+&")
    return bare if re.match(r"\.[A-Za-z]", bare) else bare.lstrip(".")


def is_function_word(word: str) -> bool:
    """Whether a word joins concepts rather than being one."""
    # WHO, IT and US are names; AND, OR and NOT are how people write conditions.
    if word.isupper() and len(word) > 1 and word not in {"AND", "OR", "NOT"}:
        return False
    return word.casefold() in _FUNCTION_WORDS


def _split_chunk(chunk: list[str], vocabulary: Vocabulary) -> Iterator[str]:
    """Known terms stand alone, a word before one belongs to it, and long runs of unknown words come apart."""
    while len(chunk) > 1 and chunk[0].casefold() in LEADING_FILLER:
        chunk = chunk[1:]
    unknown: list[str] = []
    position = 0
    while position < len(chunk):
        if size := vocabulary.longest_match(chunk, position):
            term = chunk[position : position + size]
            if _modifies(unknown, term):
                term.insert(0, unknown.pop())
            yield from _as_concepts(unknown)
            yield " ".join(term)
            unknown = []
            position += size
        else:
            unknown.append(chunk[position])
            position += 1
    yield from _as_concepts(unknown)


def _modifies(before: list[str], term: list[str]) -> bool:
    """Whether the last word before a known term belongs to it, as in "lung cancer" and "perovskite solar cell"."""
    if not before or before[-1].casefold() in FILLER or " " in term[0]:
        return False
    return len(term) == 1 or len(before) == 1


def _as_concepts(words: list[str]) -> Iterator[str]:
    if len(words) == LONGEST_CHUNK + 1:
        yield " ".join(words[:2])
        yield " ".join(words[2:])
    elif len(words) > LONGEST_CHUNK:
        yield from words
    elif words:
        yield " ".join(words)
