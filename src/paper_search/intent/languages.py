"""The language that a query asks for.

"Papers in German" asks for a language; "parsing in German" may be about German. In a query about language itself, a
bare "in German" stays part of the topic.
"""

import re
from dataclasses import dataclass, field

from paper_search.intent.text_cleanup import PLACEHOLDER, cut_span
from paper_search.intent.word_lists import LANGUAGES
from paper_search.query.languages import parse_language, to_english_name

_OTHER_NAMES = {"mandarin": "zh", "farsi": "fa"}


@dataclass(slots=True)
class LanguageReading:
    """The language that a text asks for, the rest of the text, and notes."""

    rest: str
    language: str | None = None
    notes: list[str] = field(default_factory=list)


def read_language(text: str) -> LanguageReading:
    """Read the language a text asks for; the first one counts."""
    reading = LanguageReading(rest=text)
    if match := _NEGATED.search(reading.rest):
        reading.rest = cut_span(reading.rest, match.start(), match.end())
        reading.notes.append(f"“{match[0].strip()}” was ignored: sources cannot exclude a language.")
    if match := _SEVERAL.search(reading.rest):
        reading.rest = cut_span(reading.rest, match.start(), match.start("language"))
        reading.notes.append(
            f"“{' '.join(match['others'].split())}” was ignored: a search has one language, "
            f"here {match['language'].title()}."
        )
    about_language = bool(_ABOUT_LANGUAGE.search(reading.rest))
    for pattern in _EXPLICIT if about_language else (*_EXPLICIT, _BARE):
        match = pattern.search(reading.rest)
        code = _find_code(match["language"]) if match else None
        if match and code:
            reading.language = code
            reading.rest = cut_span(reading.rest, match.start(), match.end())
            reading.notes.append(
                f"“{' '.join(match[0].split())}” was read as papers written in {to_english_name(code).title()}."
            )
            return reading
    if about_language and (match := _BARE.search(reading.rest)):
        reading.notes.append(f"“{match[0].strip()}” is part of the topic. To ask for a language, write “papers in …”.")
    return reading


def _find_code(name: str) -> str | None:
    return _OTHER_NAMES.get(name.casefold()) or parse_language(name)


_NAME = rf"(?P<language>{'|'.join(sorted(LANGUAGES))})"
_PAPERS = r"(?:papers?|articles?|publications?|literature|sources|texts|journals?|preprints?|stud(?:y|ies))"
_STOPS = (
    rf"(?=\s*(?:$|[\n,;:.!?)\]]|{PLACEHOLDER}|(?:on|about|for|and|or|but|since|from|before|after|with|that|which|by|only|please"
    r"|published|regarding|concerning|without|excluding|except)\b))"
)
_LANGUAGE_WORDS = (
    r"linguistic\w*|dialect\w*|grammar\w*|syntax\w*|syntactic\w*|morpholog\w*|phonolog\w*|phonetic\w*|semantics|lexic\w*"
    r"|translation|speech|speakers?|parsing|sentiment|corpus|corpora|nlp|language\s+(?:models?|processing|acquisition|learning)"
    r"|named\s+entit\w+|word\s+embeddings?|text\s+\w+|tokeniz\w+|stemming|summari[sz]ation|ocr|handwriting|poetry|novels?"
    r"|words?|verbs?|pronouns?|vowels?|bilingual\w*|multilingual\w*"
)
_ABOUT_LANGUAGE = re.compile(rf"\b(?:{_LANGUAGE_WORDS})\b", re.IGNORECASE)
_NEGATED = re.compile(
    rf"\b(?:but\s+)?not\s+(?:written\s+|published\s+)?in\s+(?:{'|'.join(sorted(LANGUAGES))})\b", re.IGNORECASE
)
_EXPLICIT = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"\blang(?:uage)?:\s*(?P<language>\w+(?:-\w+)?)",
        rf"\b{_NAME}[-\s]language(?=\s+{_PAPERS}\b)",
        rf"\b(?:written|published|available)\s+in\s+{_NAME}\b",
        rf"(?<=papers)\s+in\s+(?:the\s+)?{_NAME}\b(?:\s+language)?{_STOPS}",
        rf"(?<=articles)\s+in\s+(?:the\s+)?{_NAME}\b(?:\s+language)?{_STOPS}",
        rf"\bin\s+the\s+{_NAME}\s+language{_STOPS}",
        rf"\b{_NAME}(?=\s+(?:papers|articles|publications|sources)\b)",
        rf"\b{_NAME}[-\s]only(?:{_STOPS}|(?=\s+{_PAPERS}\b))",
    )
)
_OTHER = rf"(?:{'|'.join(sorted(LANGUAGES))})"
_SEVERAL = re.compile(
    rf"\b(?P<others>{_OTHER}(?:\s*,\s*{_OTHER})*)\s*(?:,|,?\s(?:or|and)\b|/)\s*{_NAME}(?=(?:[-\s]language)?\s+{_PAPERS}\b)",
    re.IGNORECASE,
)
_BARE = re.compile(rf"\bin\s+{_NAME}\b{_STOPS}", re.IGNORECASE)
