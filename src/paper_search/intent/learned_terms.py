"""Terms that papers teach: frequent in the best or the included papers, and rare elsewhere."""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

from paper_search.intent.topic_words import estimate_share, is_teachable
from paper_search.models import TermSuggestion
from paper_search.relevance.marks_model import fit_marks
from paper_search.text import extract_terms, split_words

BEST_PAPERS: Final = 20
"""The number of best papers whose terms are suggested."""
MOST_TERMS: Final = 12
_MOST_SEPARATING: Final = 40
"""The planner uses the best of these terms, and then those that earlier rounds have not used."""
_LEAST_PAPERS: Final = 3
_LEAST_MARKED: Final = 2
_MANY_MARKS: Final = 50
"""With fewer marked papers, many words separate them by chance."""
_LIKELY: Final = 0.2
_SHORTEST: Final = 3


def suggest_terms(
    best: Sequence[str], others: Sequence[str], known: Iterable[str], group: str = "best papers"
) -> list[TermSuggestion]:
    """Return terms of the best papers' texts that are rare in papers of all fields and among the other results.

    `known` are texts whose words are not suggested: the question and the blocks of the plan.
    """
    taken = _collect_stems(known)
    counts = Counter(stem for text in best for stem in set(extract_terms(text)))
    elsewhere = Counter(stem for text in others for stem in set(extract_terms(text)))
    ranked: list[tuple[float, str]] = []
    for stem, count in counts.items():
        if count < min(_LEAST_PAPERS, len(best)) or stem in taken or not _is_informative(stem):
            continue
        share = count / len(best)
        usual = max(estimate_share(stem), 1e-6)
        among_results = (elsewhere[stem] + 1) / (len(others) + 2)
        if share > among_results:
            ranked.append((share * math.log(share / usual), stem))
    spelled = _find_spellings(best)
    terms = [stem for _, stem in sorted(ranked, key=lambda pair: (-pair[0], pair[1]))]
    return [
        TermSuggestion(term=spelled[stem], reason=f"in {counts[stem]} of the {len(best)} {group}")
        for stem in terms
        if is_teachable(spelled[stem])
    ][:MOST_TERMS]


def separate_terms(included: Sequence[str], excluded: Sequence[str], known: Iterable[str]) -> list[TermSuggestion]:
    """Return the terms that best separate the texts of included papers from those of excluded ones, the best first.

    Without excluded papers, return the terms that are frequent in the included ones.
    """
    if not included:
        return []
    if not excluded:
        return suggest_terms(included, (), known, "included papers")
    texts = [*included, *excluded]
    counts = [Counter(extract_terms(text)) for text in texts]
    model = fit_marks(counts, [True] * len(included) + [False] * len(excluded))
    assert model is not None
    taken = _collect_stems(known)
    held = Counter(stem for found in counts[: len(included)] for stem in found)
    refused = Counter(stem for found in counts[len(included) :] for stem in found)
    spelled = _find_spellings(included)
    terms = [
        stem
        for stem, weight in sorted(model.weights.items(), key=lambda pair: (-pair[1], pair[0]))
        if weight > 0
        and held[stem] >= min(_LEAST_MARKED, len(included))
        and held[stem] / len(included) > refused[stem] / len(excluded)
        and not (len(texts) < _MANY_MARKS and _is_likely_chance(held[stem], refused[stem], len(included), len(texts)))
        and stem not in taken
        and _is_informative(stem)
        and is_teachable(spelled[stem])
    ]
    of_excluded = f"of {len(excluded)} excluded"
    return [
        TermSuggestion(
            term=spelled[stem],
            reason=f"in {held[stem]} of {len(included)} included papers and {refused[stem]} {of_excluded}",
        )
        for stem in terms[:_MOST_SEPARATING]
    ]


def _is_likely_chance(held: int, refused: int, included: int, marked: int) -> bool:
    """Return True if a word of as many papers would often be in as many included ones if marks said nothing."""
    having = held + refused
    ways = sum(math.comb(included, n) * math.comb(marked - included, having - n) for n in range(held, having + 1))
    return ways > _LIKELY * math.comb(marked, having)


def _is_informative(stem: str) -> bool:
    return len(stem) >= _SHORTEST and not stem[0].isdigit() and stem.isalnum()


def _collect_stems(texts: Iterable[str]) -> set[str]:
    return {stem for text in texts for stem in extract_terms(text)}


def _find_spellings(texts: Iterable[str]) -> dict[str, str]:
    """Return the most frequent spelling of each stem."""
    seen: dict[str, Counter[str]] = {}
    for text in texts:
        for word in split_words(text):
            for stem in extract_terms(word)[:1]:
                seen.setdefault(stem, Counter())[word] += 1
    return {stem: min(words, key=lambda word: (-words[word], word)) for stem, words in seen.items()}
