"""Reads in which language the papers wanted are written.

"Papers in German" says so; "parsing in German" may be about German. Where the query is about language itself, a bare
"in German" stays part of the topic.
"""

import re
from dataclasses import dataclass, field

from paper_search.intent.cleaning import STAND_IN, cut

CODES = {
    "english": "en",
    "german": "de",
    "french": "fr",
    "spanish": "es",
    "portuguese": "pt",
    "italian": "it",
    "dutch": "nl",
    "swedish": "sv",
    "danish": "da",
    "norwegian": "no",
    "finnish": "fi",
    "polish": "pl",
    "czech": "cs",
    "hungarian": "hu",
    "romanian": "ro",
    "greek": "el",
    "russian": "ru",
    "ukrainian": "uk",
    "turkish": "tr",
    "arabic": "ar",
    "hebrew": "he",
    "persian": "fa",
    "farsi": "fa",
    "hindi": "hi",
    "indonesian": "id",
    "vietnamese": "vi",
    "thai": "th",
    "chinese": "zh",
    "mandarin": "zh",
    "japanese": "ja",
    "korean": "ko",
}


@dataclass(slots=True)
class LanguageReading:
    rest: str
    language: str | None = None
    notes: list[str] = field(default_factory=list)


def language_code(name: str) -> str | None:
    """The two-letter code of a language given by name or code; None when it is neither."""
    plain = name.strip().casefold()
    if plain in CODES:
        return CODES[plain]
    code = re.split("[-_]", plain)[0]
    return code if re.fullmatch("[a-z]{2}", code) else None


def read_language(text: str) -> LanguageReading:
    """The language a text asks for; the first one counts."""
    reading = LanguageReading(rest=text)
    if match := _NEGATED.search(reading.rest):
        reading.rest = cut(reading.rest, match.start(), match.end())
        reading.notes.append(f"“{match[0].strip()}” was left out: sources can ask for a language, not avoid one.")
    about_language = bool(_ABOUT_LANGUAGE.search(reading.rest))
    for pattern in _EXPLICIT if about_language else (*_EXPLICIT, _BARE):
        match = pattern.search(reading.rest)
        code = language_code(match["language"]) if match else None
        if match and code:
            reading.language = code
            reading.rest = cut(reading.rest, match.start(), match.end())
            reading.notes.append(f"“{' '.join(match[0].split())}” was read as papers written in “{code}”.")
            return reading
    if about_language and (match := _BARE.search(reading.rest)):
        reading.notes.append(f"“{match[0].strip()}” was kept as part of the topic; say “papers in …” for a language.")
    return reading


_NAME = rf"(?P<language>{'|'.join(CODES)})"
_PAPERS = r"(?:papers?|articles?|publications?|literature|sources|texts|journals?|preprints?|stud(?:y|ies))"
_STOPS = (
    rf"(?=\s*(?:$|[\n,;:.!?)\]]|{STAND_IN}|(?:on|about|for|and|or|but|since|from|before|after|with|that|which|by|only|please"
    r"|published|regarding|concerning|without|excluding|except)\b))"
)
_LANGUAGE_WORDS = (
    r"linguistic\w*|dialect\w*|grammar\w*|syntax\w*|syntactic\w*|morpholog\w*|phonolog\w*|phonetic\w*|semantics|lexic\w*"
    r"|translation|speech|speakers?|parsing|sentiment|corpus|corpora|nlp|language\s+(?:models?|processing|acquisition|learning)"
    r"|named\s+entit\w+|word\s+embeddings?|text\s+\w+|tokeniz\w+|stemming|summari[sz]ation|ocr|handwriting|poetry|novels?"
    r"|words?|verbs?|pronouns?|vowels?|bilingual\w*|multilingual\w*"
)
_ABOUT_LANGUAGE = re.compile(rf"\b(?:{_LANGUAGE_WORDS})\b", re.IGNORECASE)
_NEGATED = re.compile(rf"\b(?:but\s+)?not\s+(?:written\s+|published\s+)?in\s+(?:{'|'.join(CODES)})\b", re.IGNORECASE)
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
_BARE = re.compile(rf"\bin\s+{_NAME}\b{_STOPS}", re.IGNORECASE)
