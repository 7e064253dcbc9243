"""Suggest words, keywords and values of filters that papers have, for those that no paper has."""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import takewhile
from typing import Final

import tantivy
from rapidfuzz import fuzz, process

from paper_library.domain.query import ParsedQuery, QueryUnit
from paper_library.store import index as fields
from paper_library.store.shelf import Shelf
from uraniborg.kernel.bibliography.names import Name, split_name
from uraniborg.kernel.language.messages import plural
from uraniborg.kernel.language.words import extract_terms, fold_characters, fold_text, split_words

_LIKELY: Final = 75.0
_CANDIDATES: Final = 20
_SHORTEST: Final = 4
_MOST_WORDS: Final = 3
_MOST_KNOWN_WORDS: Final = 200_000
"""The most words of the index that are compared, to limit the time."""
_MOST_KEYWORDS: Final = 50_000
_SUGGESTIONS: Final = 5


def suggest_keywords(shelf: Shelf, keyword: str) -> list[str]:
    """Return keywords and tags that share words with `keyword` or have a similar spelling, best first."""
    known: dict[str, tuple[str, int]] = {}
    for kind in (fields.KEYWORD, fields.TAG):
        for value, papers in shelf.list_top_facets(kind, _MOST_KEYWORDS):
            known.setdefault(fold_text(value), (value, papers))
    likely = process.extract(
        fold_text(keyword), known.keys(), scorer=fuzz.ratio, limit=_CANDIDATES, score_cutoff=_LIKELY
    )
    alike = {name: score for name, score, _ in likely}
    wanted = set(extract_terms(keyword))
    for name in known:
        if any(word in name for word in wanted) and (shared := wanted & (own := set(extract_terms(name)))):
            alike[name] = max(alike.get(name, 0.0), 100.0 * len(shared) / len(wanted | own))
    best = sorted(alike, key=lambda name: (-alike[name], -known[name][1], name))
    return [known[name][0] for name in best[:_SUGGESTIONS]]


def suggest_correction(searcher: tantivy.Searcher, query: str, missing: list[str]) -> str | None:
    """Return `query` with its unknown words corrected, or None without a suggestion."""
    better = query
    guessable = [word for word in missing if word.isalpha() and len(word) >= _SHORTEST]
    for word in guessable[:_MOST_WORDS]:
        found = re.search(rf"(?<!\w){re.escape(word)}(?!\w)", fold_characters(better))
        if found and (meant := _find_nearest_word(searcher, word, any_first_letter=word == guessable[0])):
            better = better[: found.start()] + meant + better[found.end() :]
    return better if better != query else None


def _find_nearest_word(searcher: tantivy.Searcher, word: str, *, any_first_letter: bool) -> str | None:
    """Return the most frequent of the words with nearly the best similarity, or None."""
    for beginning in (word[:1], "") if any_first_letter else (word[:1],):
        known = {
            term: papers
            for where in (fields.EXACT, fields.AUTHOR)
            for term, papers in searcher.terms_with_prefix(where, beginning, limit=_MOST_KNOWN_WORDS)
        }
        alike = process.extract(word, known.keys(), scorer=fuzz.ratio, limit=_CANDIDATES, score_cutoff=_LIKELY)
        if alike:
            top = max(score for _, score, _ in alike)
            return max((known[term], term) for term, score, _ in alike if score >= top - 4)[1]
    return None


_SHORTEST_BEGINNING: Final = 3
"""A shorter text matches only whole words."""
_NAMED: Final = 5


def find_keywords_with_part(shelf: Shelf, folded: str) -> list[tuple[int, str]]:
    """Return the ids and names of the keywords and tags with a word that begins with this text, most frequent first.

    In scripts that do not separate words the text may be anywhere.
    """
    part = folded.strip("*")
    if not part:
        return []
    pattern = _compile_part(part)
    found = shelf.list_facets_containing((fields.KEYWORD, fields.TAG), part)
    return [(facet, value) for facet, value in found if pattern.search(fold_text(value))]


def describe_keywords_with_part(keyword: str, names: Sequence[str]) -> str:
    """Return the note that says with which keywords a keyword that no paper has was replaced."""
    unique = list({fold_text(name): name for name in reversed(names)}.values())[::-1]
    further = f" and {len(unique) - _NAMED:,} more" if len(unique) > _NAMED else ""
    return (
        f'No paper has the keyword "{keyword}"; it was read as a part of {plural(len(unique), "keyword")}: '
        f"{', '.join(unique[:_NAMED])}{further}."
    )


def _compile_part(part: str) -> re.Pattern[str]:
    if unicodedata.category(part[0]) == "Lo":
        return re.compile(re.escape(part))
    start = r"(?<!\w)" if part[0].isalnum() else ""
    return re.compile(start + re.escape(part) + (r"(?!\w)" if len(part) < _SHORTEST_BEGINNING else ""))


_PAPERS_READ: Final = 200
_NAMES_USED: Final = 20
_MOST_KNOWN: Final = 50_000
_SIMILAR_VALUES: Final = 3
_ABBREVIATED: Final = ("venue", "institution")
_SHORTEST_ABBREVIATION: Final = 2
_LONGEST_ABBREVIATION: Final = 12
_PARTICLE: Final = re.compile(r"(?<!^)\b(?:Van|Von|Der|Den|De|Del|Della|Di|Da|Dos|Du|La|Le|Ten|Ter)\b(?!$)")
_RUN_OF_INITIALS: Final = re.compile(r"\b[A-Z]{2,3}\b")


def use_other_forms_of_names(shelf: Shelf, parsed: ParsedQuery) -> ParsedQuery | None:
    """Return the query with the authors as the shelf spells them: `D. E. Knuth` for `Donald Knuth`; None if none is.

    A name is another form if the family names are equal and the given names are, or begin with, the same letters.
    """
    required: list[list[QueryUnit]] = []
    notes: list[str] = []
    for group in parsed.required:
        unit = group[0]
        if len(group) == 1 and unit.field == fields.AUTHOR and (names := _find_other_forms(shelf, unit.text)):
            folded = tuple(" ".join(split_words(name)) for name in names)
            group = [replace(unit, quoted=True, spellings=(*unit.spellings, *folded))]  # noqa: PLW2901 - the new group
            notes.append(f'No paper has the author "{unit.text}"; it was read as {" or ".join(names)}.')
        required.append(group)
    return replace(parsed, required=required, ignored=[*parsed.ignored, *notes]) if notes else None


def suggest_filter_values(shelf: Shelf, parsed: ParsedQuery, query: str) -> str | None:
    """Return the query with similar values for the filters whose values no paper has, or None without a suggestion."""
    better = query
    for unit in (unit for group in parsed.required for unit in group if unit.field in fields.FACETS):
        known = [value for value, _ in shelf.list_top_facets(unit.field, _MOST_KNOWN)]
        typed = re.compile(rf'({unit.field})\w*\s*[:=]\s*("[^"]*"|[^\s"]+)', re.IGNORECASE)
        values = find_similar_values(unit.field, unit.text, known)
        if values and not _has_value(shelf, unit):
            better = typed.sub(lambda found, value=values[0]: f"{found[1]}:{_quote(value)}", better, count=1)
    return better if better != query else None


def find_similar_values(kind: str, text: str, known: Iterable[str]) -> list[str]:
    """Return the known values with a similar spelling, or that the text abbreviates or is a part of, the best first."""
    folded = {value: fold_text(value) for value in known}
    wanted = fold_text(text)
    found = process.extract(wanted, folded, scorer=fuzz.ratio, score_cutoff=_LIKELY, limit=_SIMILAR_VALUES)
    alike = [value for _, _, value in found]
    if kind == fields.AUTHOR:
        alike += _find_names_with_similar_family(wanted, folded)
    if kind in _ABBREVIATED and _SHORTEST_ABBREVIATION <= len(wanted) <= _LONGEST_ABBREVIATION:
        alike += [value for value in folded if is_abbreviation(wanted, folded[value].split())]
    return list(dict.fromkeys(alike))[:_SIMILAR_VALUES]


def is_abbreviation(short: str, words: list[str]) -> bool:
    """Return True for `apj` of `the astrophysical journal`: letters of two words or more, in order, the first of each.

    Words may be left out.
    """
    return any(_is_made_of_words(short, words[at:], used=0) for at in range(len(words)))


def _is_made_of_words(short: str, words: list[str], *, used: int) -> bool:
    if not short:
        return used > 1
    if not words:
        return False
    most = _count_letters_in_order(short, words[0])
    return any(_is_made_of_words(short[taken:], words[1:], used=used + bool(taken)) for taken in range(most, -1, -1))


def _count_letters_in_order(short: str, word: str) -> int:
    """Return how many letters of `short` are in the word in this order; 0 unless both begin with the same letter."""
    letters = iter(word)
    return sum(1 for _ in takewhile(lambda letter: letter in letters, short)) if short[0] == word[0] else 0


def _find_names_with_similar_family(wanted: str, names: dict[str, str]) -> list[str]:
    families = {name: split_name(name).family.casefold() for name in names}
    family = _split_folded_name(wanted).family.casefold()
    found = process.extract(family, families, scorer=fuzz.ratio, score_cutoff=_LIKELY, limit=_SIMILAR_VALUES)
    return [name for _, _, name in found]


def _find_other_forms(shelf: Shelf, text: str) -> list[str]:
    name = _split_folded_name(text)
    family = split_words(name.whole_family)
    if not name.given or not family:
        return []
    terms = [tantivy.Query.term_query(shelf.schema, fields.AUTHOR, word) for word in family]
    query = tantivy.Query.boolean_query([(tantivy.Occur.Must, term) for term in terms])
    addresses = [address for _, address in shelf.searcher.search(query, _PAPERS_READ).hits]
    numbers: list[int] = shelf.searcher.fast_field_values(fields.NUMBER, addresses) if addresses else []  # pyright: ignore[reportAssignmentType]
    authors = (author for row in shelf.read_rows(numbers) for author in row.authors)
    return list(dict.fromkeys(author for author in authors if _is_other_form(name.given, family, author)))[:_NAMES_USED]


def _split_folded_name(text: str) -> Name:
    """Return the parts of a name in lower case, whose family name may begin with a particle."""
    return split_name(_PARTICLE.sub(lambda found: found[0].lower(), text.title()))


def _is_other_form(given: str, family: list[str], author: str) -> bool:
    other = split_name(author)
    if split_words(other.whole_family) != family or not other.given:
        return False
    pairs = zip(_list_given_names(given), _list_given_names(other.given), strict=False)
    return all(one == two or (1 in (len(one), len(two)) and one[0] == two[0]) for one, two in pairs)


def _list_given_names(given: str) -> Iterator[str]:
    """Yield the given names, folded; `DE` is two initials."""
    yield from split_words(_RUN_OF_INITIALS.sub(lambda found: " ".join(found[0]), given))


def _has_value(shelf: Shelf, unit: QueryUnit) -> bool:
    return shelf.find_facet_id(unit.field, fold_text(unit.text)) is not None


def _quote(value: str) -> str:
    return value if re.fullmatch(r"[\w-]+", value) else f'"{value}"'
