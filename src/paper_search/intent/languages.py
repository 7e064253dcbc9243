"""The language that a query asks for."""

from dataclasses import dataclass, field

from paper_search.intent.text_cleanup import cut_span
from paper_search.intent.wishes import WISHES
from paper_search.query.languages import parse_language, to_english_name


@dataclass(slots=True)
class LanguageReading:
    """The language that a text asks for, the rest of the text, and notes."""

    rest: str
    language: str | None = None
    notes: list[str] = field(default_factory=list)


def read_language(text: str) -> LanguageReading:
    """Read the language a text asks for; the first one counts."""
    reading = LanguageReading(rest=text)
    patterns = WISHES.patterns
    if match := patterns["language_refused"].search(reading.rest):
        reading.rest = cut_span(reading.rest, match.start(), match.end())
        reading.notes.append(f"“{match[0].strip()}” was ignored: sources cannot exclude a language.")
    if match := patterns["language_others"].search(reading.rest):
        reading.rest = cut_span(reading.rest, match.start(), match.start("language"))
        reading.notes.append(
            f"“{' '.join(match['others'].split())}” was ignored: a search has one language, "
            f"here {match['language'].title()}."
        )
    is_about_language = bool(patterns["about_language"].search(reading.rest))
    bare = patterns["language_bare"]
    for pattern in (*WISHES.compile_each("language explicit"), *([] if is_about_language else [bare])):
        match = pattern.search(reading.rest)
        if match and (code := parse_language(match["language"])):
            reading.language = code
            reading.rest = cut_span(reading.rest, match.start(), match.end())
            name = to_english_name(code).title()
            reading.notes.append(f"“{' '.join(match[0].split())}” was read as papers written in {name}.")
            return reading
    if is_about_language and (match := bare.search(reading.rest)):
        reading.notes.append(f"“{match[0].strip()}” is part of the topic. To ask for a language, write “papers in …”.")
    return reading
