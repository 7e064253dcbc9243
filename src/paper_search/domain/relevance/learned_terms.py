"""Learn from papers: which words relevant papers have and irrelevant ones lack, and which terms to search next.

The model of marks is a ridge regression on tf-idf vectors. Papers marked relevant, which are few, weigh more than the
others. It is solved in its dual form by conjugate gradients, so that its cost grows with the number of words and not
with the square of the number of papers.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from paper_search.domain.intent.vocabulary import estimate_share, is_teachable
from paper_search.models import ScoredPaper, SearchStrategy, TermSuggestion, Work
from uraniborg.kernel.language.words import extract_terms, split_words

_RIDGE: Final = 0.11
_IMBALANCE: Final = 9.8
"""How much more all relevant papers weigh together than all irrelevant ones, once the numbers are balanced."""
_MOST_STEPS: Final = 200
_TOLERANCE: Final = 1e-6

_Vector = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class MarksModel:
    """The decision value of each paper, and the weight of each term: above zero for terms of relevant papers."""

    decisions: list[float]
    weights: dict[str, float]


def fit_marks(papers: Sequence[Mapping[str, int]], marks: Sequence[bool | None]) -> MarksModel | None:
    """Return the model for counted terms and marks; None unless papers of both kinds are marked.

    Papers without a mark (None) get a decision value too. The order of the papers does not change the model.
    """
    marked = [position for position, mark in enumerate(marks) if mark is not None]
    relevant = sum(marks[position] is True for position in marked)
    if relevant in (0, len(marked)):
        return None
    vocabulary = sorted({term for position in marked for term in papers[position]})
    vectors = _Vectors(papers, vocabulary)
    target = np.array([1.0 if marks[position] else -1.0 for position in marked])
    weight = np.where(target > 0, 1.0, relevant / (_IMBALANCE * (len(marked) - relevant)))
    diagonal = 1 / (2 * _RIDGE * weight / weight.mean())
    chosen = np.zeros(len(papers))

    def multiply(values: _Vector) -> _Vector:
        chosen[marked] = values
        return vectors.project(vectors.combine(chosen))[marked] + values.sum() + diagonal * values

    dual = _solve(multiply, target)
    chosen[marked] = dual
    by_term = vectors.combine(chosen)
    decisions = vectors.project(by_term) + dual.sum()
    return MarksModel(
        [round(float(value), 6) for value in decisions], dict(zip(vocabulary, by_term.tolist(), strict=True))
    )


class _Vectors:
    """Sparse tf-idf vectors of length 1, restricted to a vocabulary."""

    def __init__(self, papers: Sequence[Mapping[str, int]], vocabulary: Sequence[str]) -> None:
        frequency = Counter(term for counts in papers for term in counts)
        rarity = {term: math.log((1 + len(papers)) / (1 + count)) + 1 for term, count in frequency.items()}
        index = {term: position for position, term in enumerate(vocabulary)}
        rows: list[int] = []
        columns: list[int] = []
        values: list[float] = []
        for row, counts in enumerate(papers):
            vector = {term: (1 + math.log(count)) * rarity[term] for term, count in sorted(counts.items())}
            length = math.sqrt(math.fsum(value * value for value in vector.values())) or 1.0
            for term, value in vector.items():
                if (column := index.get(term)) is not None:
                    rows.append(row)
                    columns.append(column)
                    values.append(value / length)
        self._rows, self._columns, self._values = np.array(rows, int), np.array(columns, int), np.array(values)
        self._shape = len(papers), len(vocabulary)

    def combine(self, shares: _Vector) -> _Vector:
        """Return the sum of the papers' vectors, each multiplied by its share."""
        return np.bincount(self._columns, self._values * shares[self._rows], self._shape[1]).astype(np.float64)

    def project(self, weights: _Vector) -> _Vector:
        """Return the product of each paper's vector with the weights of the terms."""
        return np.bincount(self._rows, self._values * weights[self._columns], self._shape[0]).astype(np.float64)


def _solve(multiply: Callable[[_Vector], _Vector], target: _Vector) -> _Vector:
    """Return x with multiply(x) = target, for a symmetric positive matrix, by conjugate gradients."""
    found = np.zeros_like(target)
    left = target.copy()
    direction = left.copy()
    error = float(left @ left)
    for _ in range(_MOST_STEPS):
        if error <= _TOLERANCE**2 * len(target):
            break
        product = multiply(direction)
        step = error / float(direction @ product)
        found += step * direction
        left -= step * product
        before, error = error, float(left @ left)
        direction = left + error / before * direction
    return found


BEST_PAPERS: Final = 20
"""The number of best papers whose terms are suggested."""
MOST_TERMS: Final = 12
_MOST_SEPARATING: Final = 40  # the planner uses the best, and then those that earlier rounds have not used
_LEAST_PAPERS, _LEAST_MARKED = 3, 2
_MANY_MARKS: Final = 50  # with fewer marked papers, many words separate them by chance
_LIKELY, _SHORTEST = 0.2, 3
_COMPARED_PAPERS: Final = 2_000
"""The number of papers that the best ones are compared with, to find their terms."""


def suggest_terms_of_best(query: str, strategy: SearchStrategy, scores: Iterable[ScoredPaper]) -> list[TermSuggestion]:
    """Return the terms that the best papers so far have and the other ones have not."""
    texts = [_join_texts(scored.paper) for scored in sorted(scores, key=lambda scored: scored.sort_key)]
    others = texts[BEST_PAPERS:]
    compared = others[:: 1 + len(others) // _COMPARED_PAPERS]
    return suggest_terms(texts[:BEST_PAPERS], compared, [query, *_list_asked_names(strategy)])


def separate_terms_of_marked(
    query: str, strategy: SearchStrategy, included: Iterable[Work], excluded: Iterable[Work]
) -> list[TermSuggestion]:
    """Return the terms that best separate the papers marked as relevant from those marked as irrelevant."""
    known = [query, *_list_asked_names(strategy)]
    return separate_terms(list(map(_join_texts, included)), list(map(_join_texts, excluded)), known)


def _join_texts(paper: Work) -> str:
    return f"{paper.title}\n{paper.abstract or ''}"


def _list_asked_names(strategy: SearchStrategy) -> list[str]:
    """Return the names and variants of the blocks that papers did not teach, and of those that are switched off."""
    blocks = [block for block in strategy.blocks if not block.learned or not block.active]
    return [text for block in blocks for text in (block.name, *block.variants)]


def suggest_terms(
    best: Sequence[str], others: Sequence[str], known: Iterable[str], group: str = "best papers"
) -> list[TermSuggestion]:
    """Return terms of the best papers' texts that are rare in papers of all fields and among the other results.

    `known` are texts whose words are not suggested: the question and the blocks of the plan.
    """
    counts, elsewhere = _count_texts(best), _count_texts(others)
    weights: dict[str, float] = {}
    for stem, count in counts.items():
        share = count / len(best)
        if count >= min(_LEAST_PAPERS, len(best)) and share > (elsewhere[stem] + 1) / (len(others) + 2):
            weights[stem] = share * math.log(share / max(estimate_share(stem), 1e-6))
    terms = _rank_teachable(weights, best, known)[:MOST_TERMS]
    return [TermSuggestion(term=term, reason=f"in {counts[stem]} of the {len(best)} {group}") for stem, term in terms]


def separate_terms(included: Sequence[str], excluded: Sequence[str], known: Iterable[str]) -> list[TermSuggestion]:
    """Return the terms that best separate the texts of included papers from those of excluded ones, the best first.

    Without excluded papers, return the terms that are frequent in the included ones.
    """
    if not (included and excluded):
        return suggest_terms(included, (), known, "included papers") if included else []
    texts = [*included, *excluded]
    marks = [True] * len(included) + [False] * len(excluded)
    model = fit_marks([Counter(extract_terms(text)) for text in texts], marks)
    assert model is not None
    held, refused = _count_texts(included), _count_texts(excluded)
    weights = {
        stem: weight
        for stem, weight in model.weights.items()
        if weight > 0
        and held[stem] >= min(_LEAST_MARKED, len(included))
        and held[stem] / len(included) > refused[stem] / len(excluded)
        and not (len(texts) < _MANY_MARKS and _is_likely_chance(held[stem], refused[stem], len(included), len(texts)))
    }
    terms = _rank_teachable(weights, included, known)[:_MOST_SEPARATING]
    reason = f"in {{}} of {len(included)} included papers and {{}} of {len(excluded)} excluded"
    return [TermSuggestion(term=term, reason=reason.format(held[stem], refused[stem])) for stem, term in terms]


def _is_likely_chance(held: int, refused: int, included: int, marked: int) -> bool:
    """Return True if a word of as many papers would often be in as many included ones if marks said nothing."""
    having = held + refused
    ways = sum(math.comb(included, n) * math.comb(marked - included, having - n) for n in range(held, having + 1))
    return ways > _LIKELY * math.comb(marked, having)


def _count_texts(texts: Iterable[str]) -> Counter[str]:
    return Counter(stem for text in texts for stem in set(extract_terms(text)))


def _rank_teachable(weights: dict[str, float], texts: Iterable[str], known: Iterable[str]) -> list[tuple[str, str]]:
    """Return the stems that may be taught with their most frequent spelling in the texts, by falling weight."""
    taken = {stem for text in known for stem in extract_terms(text)}
    counts = Counter(word for text in texts for word in split_words(text))
    rarest_first = sorted(counts, key=lambda word: (-counts[word], word), reverse=True)
    spelled = {stem: word for word in rarest_first for stem in extract_terms(word)[:1]}
    ranked = sorted(weights.keys() - taken, key=lambda stem: (-weights[stem], stem))
    plain = [stem for stem in ranked if len(stem) >= _SHORTEST and not stem[0].isdigit() and stem.isalnum()]
    return [(stem, spelled[stem]) for stem in plain if is_teachable(spelled[stem])]
