"""Rank nodes and workflows for a query. Pure: no file is read.

Every word of the query counts, rare words more. A word in the name counts most, then in the description, then in
parameters and outputs, then in tags; the number of uses decides only between equals. A document that has more of the
words comes first. Words are compared by their stems. The start of a word, a synonym, and (if no document has anything
else) a similar spelling count less.
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice
from typing import Final

from uraniborg.kernel.language.messages import score_nearest_names
from uraniborg.kernel.language.words import split_words, stem_word

_WEIGHTS: Final = (10.0, 4.0, 2.5, 1.5)
"""Of the fields in their order: name, description, parameters and outputs, tags."""
_BEGINNING: Final = 0.6
_SYNONYM: Final = 0.5
_NEARLY: Final = 0.4
_SAME_NAME: Final = 20.0
_USED: Final = 0.05
_FLOOR: Final = 0.05
"""Documents below this share of the best score are left out: they share a common word with a long query."""
_LONGEST_FIELD: Final = 2_000
_LONGEST_QUERY: Final = 1_000
_MOST_WORDS: Final = 24
_SHORTEST_BEGINNING: Final = 3
_SHORTEST_MISSPELT: Final = 4
_ASKING: Final = frozenset(("please", "want", "need", "like", "help", "show", "give", "something", "anything"))
_HUMP: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_NO_LETTER: Final = re.compile(r"[\W_]+")
_GROUPS: Final = """
fetch download request http web url api rest endpoint website
delete remove erase unlink
copy duplicate
move rename
read open load
write save store export
folder directory
list enumerate
search find lookup query discover
run execute invoke call
shell bash sh zsh terminal command cmd cli subprocess exec
python script code program
llm ai gpt prompt model summarize summary
loop batch iterate foreach map
approval approve confirm human person review
workflow subworkflow nested pipeline
pr pull merge
issue ticket bug
repo repository
paper article publication literature
library shelf
universe simulation planet orbit star
message text echo print
create add new make
update edit change modify
tag release
mail email
notify message
"""

_Weights = dict[int, float]
"""The weights of the documents that have a word, by index."""


@dataclass(frozen=True, slots=True)
class RankedDocument:
    """Something that can be found, with the texts of its fields."""

    key: str
    fields: tuple[str, str, str, str]
    uses: int = 0


@dataclass(frozen=True, slots=True)
class RankedHit:
    """`matched` are the words of the query that it has, as they were written."""

    key: str
    score: float
    matched: tuple[str, ...]


def make_document(
    key: str, *, description: str = "", keys: Iterable[str] = (), tags: Iterable[str] = (), uses: int = 0
) -> RankedDocument:
    """Return the document of a node or workflow; `keys` are names of parameters, outputs or node types."""
    name = f"{_split_camel_case(key)} {_squeeze(key)}"
    return RankedDocument(key, (name, description, _split_camel_case(" ".join(keys)), " ".join(tags)), uses)


def rank_documents(query: str, documents: Sequence[RankedDocument], *, limit: int | None = None) -> list[RankedHit]:
    """Return the matching documents, best first; all of them, the most used first, for an empty query."""
    query = query[:_LONGEST_QUERY]
    name, terms = _squeeze(query), _parse_terms(query)
    if not terms:
        by_use = sorted(documents, key=lambda one: (_squeeze(one.key) != name, -one.uses, one.key))
        return [RankedHit(one.key, 0.0, ()) for one in by_use[:limit]]
    index = _index_stems(documents)
    found = {term: fits for term, word in terms.items() if (fits := _find_documents(term, word, terms, index))}
    rarity = {term: math.log1p(len(documents) / len(fits)) / math.log1p(len(documents)) for term, fits in found.items()}
    synonyms = _group_synonyms().get(next(iter(terms)), ()) if len(terms) == 1 else ()
    scores: dict[int, float] = {}
    matched: dict[int, list[str]] = {}
    for term, fits in found.items():
        for place, weight in fits.items():
            scores[place] = scores.get(place, 0.0) + weight * rarity[term]
            matched.setdefault(place, []).append(term)
    hits: list[tuple[RankedHit, int]] = []
    for place, plain in scores.items():
        one = documents[place]
        covered = sum(rarity[term] for term in matched[place]) / sum(rarity.values())
        used = min(1.0, math.log1p(max(0, one.uses)) / math.log1p(1_000))
        score = plain * (0.4 + 0.6 * covered) * (1 + _USED * used)
        if (key := _squeeze(one.key)) == name:
            score += _SAME_NAME
        elif synonyms and stem_word(key) in synonyms:  # `shell` for `bash`
            score += _SAME_NAME * _SYNONYM
        hits.append((RankedHit(one.key, round(score, 4), tuple(terms[term] for term in matched[place])), one.uses))
    hits.sort(key=lambda hit: (-hit[0].score, -hit[1], hit[0].key))
    return [hit for hit, _ in hits if hit.score >= _FLOOR * hits[0][0].score][:limit]


def _parse_terms(query: str) -> dict[str, str]:
    """Return the stems of the query, each with its word."""
    terms: dict[str, str] = {}
    for word in split_words(_split_camel_case(query)):
        if term := stem_word(word):
            terms.setdefault(term, word)
    content_terms = {term: word for term, word in terms.items() if word not in _ASKING}
    return dict(islice((content_terms or terms).items(), _MOST_WORDS))


def _index_stems(documents: Sequence[RankedDocument]) -> dict[str, _Weights]:
    """Return the weight of each stem in each document that has it: that of its first field, which is the greatest."""
    index: dict[str, _Weights] = {}
    for place, one in enumerate(documents):
        for text, weight in zip(one.fields, _WEIGHTS, strict=True):
            for word in split_words(text[:_LONGEST_FIELD]):
                index.setdefault(stem_word(word), {}).setdefault(place, weight)
    return index


def _find_documents(term: str, word: str, terms: Mapping[str, str], index: Mapping[str, _Weights]) -> _Weights:
    """Return the documents with this stem, a word that starts with it, a synonym, or else a similar spelling."""
    shares = {term: 1.0}
    if len(term) >= _SHORTEST_BEGINNING:
        shares = {stem: _BEGINNING for stem in index if stem.startswith(term)} | shares
    for synonym in _group_synonyms().get(term, ()):
        if synonym not in terms:  # a word that is asked for itself does not count again
            shares.setdefault(synonym, _SYNONYM)
    if shares.keys().isdisjoint(index) and len(word) >= _SHORTEST_MISSPELT:
        nearest = score_nearest_names(word, {stem: stem for stem in sorted(index)})
        shares = {stem: _NEARLY * likeness / 100 for stem, likeness in nearest}
    fits: _Weights = {}
    for stem, share in shares.items():
        for place, weight in index.get(stem, {}).items():
            fits[place] = max(fits.get(place, 0.0), share * weight)
    return fits


def _split_camel_case(names: str) -> str:
    """Return names with a space before each capital letter inside a word."""
    return names if names.islower() else _HUMP.sub(" ", names)


def _squeeze(text: str) -> str:
    """Return a text with its letters and digits only."""
    return _NO_LETTER.sub("", text).lower()


@cache
def _group_synonyms() -> dict[str, tuple[str, ...]]:
    """Return the stems of the synonyms of a stem."""
    found: dict[str, dict[str, None]] = {}
    for line in _GROUPS.splitlines():
        group = [stem_word(word) for word in line.split()]
        for term in group:
            found.setdefault(term, {}).update((other, None) for other in group if other != term)
    return {term: tuple(others) for term, others in found.items()}
