"""Languages of papers: their two-letter codes, three-letter codes and English names."""

from typing import Final

from uraniborg.kernel.phrase_files import read_phrase_file

_ENTRIES: Final = [entry.split() for entry in read_phrase_file("paper_search.query", "languages.txt")["languages"]]
_LANGUAGES: Final = {names[0]: names for names in _ENTRIES}
_CODES: Final = {name: names[0] for names in _ENTRIES for name in names}


def parse_language(value: object) -> str | None:
    """Return the two-letter code of a language given as a code, a locale or an English name; else None."""
    if not isinstance(value, str):
        return None
    name = value.strip().lower()
    found = _CODES.get(name) or _CODES.get(name.replace("_", "-").split("-")[0])
    return found or (name if len(name) == 2 and name.isascii() and name.isalpha() else None)


def to_bibliographic_code(language: str) -> str:
    """Return the three-letter code that libraries use for a two-letter code, or the code itself if unknown."""
    return _LANGUAGES.get(language, [language, language])[1]


def to_english_name(language: str) -> str:
    """Return the English name of a two-letter code, or the code itself if unknown."""
    return _LANGUAGES.get(language, [language])[-1]
