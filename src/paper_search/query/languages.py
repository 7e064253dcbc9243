"""Languages of papers: their two-letter codes, three-letter codes and English names."""

from functools import cache

from uraniborg.kernel.phrase_files import read_phrase_file


@cache
def _load_languages() -> dict[str, tuple[str, ...]]:
    """Return the codes and names of each language by its two-letter code."""
    entries = read_phrase_file("paper_search.query", "languages.txt")["languages"]
    return {words[0]: words for words in (tuple(entry.split()) for entry in entries)}


@cache
def _index_names() -> dict[str, str]:
    return {name: code for code, names in _load_languages().items() for name in names}


def parse_language(value: object) -> str | None:
    """Return the two-letter code of a language given as a code, a locale or an English name; else None."""
    if not isinstance(value, str):
        return None
    name = value.strip().lower()
    found = _index_names().get(name) or _index_names().get(name.replace("_", "-").split("-")[0])
    return found or (name if len(name) == 2 and name.isascii() and name.isalpha() else None)


def to_bibliographic_code(language: str) -> str:
    """Return the three-letter code that libraries use for a two-letter code, or the code itself if unknown."""
    return _load_languages().get(language, (language, language))[1]


def to_english_name(language: str) -> str:
    """Return the English name of a two-letter code, or the code itself if unknown."""
    return _load_languages().get(language, (language,))[-1]
