"""Rank nodes and workflows for a query. Pure: no file is read.

Every word of the query counts, rare words more. A word in the name counts most, then in the description, then in
parameters and outputs, then in tags; the number of uses decides only between equals. A document that has more of the
words comes first. Words are compared by their stems. The start of a word, a synonym, and (if no document has anything
else) a similar spelling count less.
"""

import math
import re
import string
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Final

from uraniborg.kernel.words import fold_text, split_words, stem_word

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
_LEAST_LIKENESS: Final = 78.0
_ASKING: Final = frozenset(("please", "want", "need", "like", "help", "show", "give", "something", "anything"))
_HUMP: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_NO_LETTER: Final = re.compile(r"[\W_]+")
_WORD: Final = re.compile(r"[a-z0-9]+")
_PUNCTUATION: Final = str.maketrans(string.punctuation, " " * len(string.punctuation))
ScoresByIndex = dict[int, float]
"""The scores of the matching documents, by their index."""
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
_by_stem: dict[str, tuple[str, ...]] = {}


@dataclass(frozen=True, slots=True)
class Document:
    """Something that can be found. `text` is one line for each field, as `make_document` writes it."""

    key: str
    text: str
    uses: int = 0


@dataclass(frozen=True, slots=True)
class Hit:
    """`matched` are the words of the query that it has, as they were written."""

    key: str
    score: float
    matched: tuple[str, ...]


def make_document(
    key: str, *, description: str = "", keys: Iterable[str] = (), tags: Iterable[str] = (), uses: int = 0
) -> Document:
    """Return the document of a node or workflow; `keys` are names of parameters, outputs or node types."""
    fields = (
        f"{_split_camel_case(key)} {_remove_non_alphanumerics(key)}",
        description,
        _split_camel_case(" ".join(keys)),
        " ".join(tags),
    )
    return Document(key, fold_text("\n".join([field[:_LONGEST_FIELD].replace("\n", " ") for field in fields])), uses)


def rank_documents(query: str, documents: Sequence[Document], *, limit: int | None = None) -> list[Hit]:
    """Return the matching documents, best first; all of them, the most used first, for an empty query."""
    query = query[:_LONGEST_QUERY]
    terms = _parse_query_terms(query)
    if not terms:
        name = _remove_non_alphanumerics(query)
        by_use = sorted(documents, key=lambda one: (_remove_non_alphanumerics(one.key) != name, -one.uses, one.key))
        return [Hit(one.key, 0.0, ()) for one in by_use[:limit]]
    texts = [one.text for one in documents]
    # A word that is asked for itself does not count again as another's synonym.
    others = {term: [other for other in find_synonyms(term) if other not in terms] for term in terms}
    known = {other: _score_stem(other, texts) for other in dict.fromkeys(chain.from_iterable(others.values()))}
    found = {term: _score_term(term, texts, [known[other] for other in others[term]]) for term in terms}
    lost = {term: terms[term] for term, fits in found.items() if not fits}
    found |= _score_similar_spellings(lost, texts)
    return _make_ranked_hits(query, terms, found, documents)[:limit]


def _parse_query_terms(query: str) -> dict[str, str]:
    terms: dict[str, str] = {}
    for word in split_words(_split_camel_case(query)):
        if term := stem_word(word):
            terms.setdefault(term, word)
    content_terms = {term: word for term, word in terms.items() if word not in _ASKING}
    return dict(islice((content_terms or terms).items(), _MOST_WORDS))


def _split_camel_case(names: str) -> str:
    """Return names with a space before each capital letter inside a word."""
    return names if names.islower() else _HUMP.sub(" ", names)


def _remove_non_alphanumerics(text: str) -> str:
    return _NO_LETTER.sub("", text).lower()


def _score_term(term: str, texts: Sequence[str], synonym_scores: Iterable[ScoresByIndex]) -> ScoresByIndex:
    found = _score_stem(term, texts, prefix_weight=_BEGINNING if len(term) >= _SHORTEST_BEGINNING else 0.0)
    for fits in synonym_scores:
        for place, weight in fits.items():
            found[place] = max(found.get(place, 0.0), _SYNONYM * weight)
    return found


def _score_stem(term: str, texts: Sequence[str], *, prefix_weight: float = 0.0) -> ScoresByIndex:
    """Return the texts with a word of this stem, or, at the weight `prefix_weight`, with a word that starts with it."""
    # A stem is the beginning of each of its words, but for a last `y` that became `i`.
    start = term[:-1] if term.endswith("i") and len(term) > _SHORTEST_BEGINNING else term
    found: ScoresByIndex = {}
    for place in [place for place, text in enumerate(texts) if start in text]:
        if weight := _compute_best_weight(term, start, texts[place], prefix_weight):
            found[place] = weight
    return found


def _compute_best_weight(term: str, start: str, text: str, prefix_weight: float) -> float:
    best = 0.0
    at = text.find(start)
    while at >= 0:
        kind = _rate_match_at(term, text, at, prefix_weight)
        best = max(best, kind * _WEIGHTS[text.count("\n", 0, at)])
        at = -1 if kind == 1.0 else text.find(start, at + 1)
    return best


def _rate_match_at(term: str, text: str, at: int, prefix_weight: float) -> float:
    """Return the quality of the match at this position: 1 for a word, less for a start of a word, else 0."""
    if not term.isascii():
        return 1.0  # scripts without spaces do not separate words
    if at and text[at - 1].isalnum():
        return 0.0
    word = _WORD.match(text, at)
    if word is None or stem_word(word[0]) == term:
        return 1.0
    return prefix_weight if text.startswith(term, at) else 0.0


def _score_similar_spellings(unmatched: Mapping[str, str], texts: Sequence[str]) -> dict[str, ScoresByIndex]:
    doubtful = {term: word for term, word in unmatched.items() if len(word) >= _SHORTEST_MISSPELT}
    if not doubtful:
        return {}
    from rapidfuzz import fuzz, process  # most queries are spelt well

    known = sorted(set("\n".join(texts).translate(_PUNCTUATION).split()))
    meant: dict[str, ScoresByIndex] = {}
    for term, word in doubtful.items():
        for like, likeness, _ in process.extract(word, known, scorer=fuzz.ratio, score_cutoff=_LEAST_LIKENESS, limit=3):
            fits = meant.setdefault(term, {})
            for place, weight in _score_stem(stem_word(like) or like, texts).items():
                fits[place] = max(fits.get(place, 0.0), _NEARLY * weight * likeness / 100)
    return meant


def _make_ranked_hits(
    query: str, terms: Mapping[str, str], scores_by_term: Mapping[str, ScoresByIndex], documents: Sequence[Document]
) -> list[Hit]:
    total = math.log1p(len(documents))
    rarity = {term: math.log1p(len(documents) / len(fits)) / total for term, fits in scores_by_term.items() if fits}
    whole = sum(rarity.values())
    scores: dict[int, float] = {}
    covered: dict[int, float] = {}
    matched: dict[int, list[str]] = {}
    for term, rare in rarity.items():
        for place, weight in scores_by_term[term].items():
            scores[place] = scores.get(place, 0.0) + weight * rare
            covered[place] = covered.get(place, 0.0) + rare
            matched.setdefault(place, []).append(terms[term])
    name = _remove_non_alphanumerics(query)
    synonyms = find_synonyms(next(iter(terms))) if len(terms) == 1 else ()
    hits: list[tuple[float, int, Hit]] = []
    for place, score in scores.items():
        one = documents[place]
        worth = score * (0.4 + 0.6 * covered[place] / whole) * (1 + _USED * _rate_usage(one.uses))
        worth = round(worth + _compute_name_bonus(_remove_non_alphanumerics(one.key), name, synonyms), 4)
        hits.append((-worth, -one.uses, Hit(one.key, worth, tuple(matched[place]))))
    hits.sort(key=lambda hit: (hit[0], hit[1], hit[2].key))
    least = _FLOOR * hits[0][2].score if hits else 0.0
    return [hit for _, _, hit in hits if hit.score >= least]


def _compute_name_bonus(key: str, query_name: str, synonyms: Sequence[str]) -> float:
    """Return the bonus of a document whose full name is the query or a synonym: `shell` for `bash`."""
    if key == query_name:
        return _SAME_NAME
    return _SAME_NAME * _SYNONYM if synonyms and stem_word(key) in synonyms else 0.0


def _rate_usage(uses: int) -> float:
    return min(1.0, math.log1p(max(0, uses)) / math.log1p(1_000))


def find_synonyms(term: str) -> tuple[str, ...]:
    """Return the stems of the synonyms of a stem; most words have none."""
    if not _by_stem:
        _by_stem.update(_build_synonym_table())
    return _by_stem.get(term, ())


def _build_synonym_table() -> dict[str, tuple[str, ...]]:
    found: dict[str, dict[str, None]] = {}
    for line in _GROUPS.split("\n"):
        group = [stem_word(word) for word in split_words(line)]
        for term in group:
            found.setdefault(term, {}).update(dict.fromkeys(group))
    return {term: tuple(other for other in others if other != term) for term, others in found.items()}
