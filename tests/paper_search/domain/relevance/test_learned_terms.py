"""Terms that papers teach: counts in the reasons are true, and words without a topic are never taught."""

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from paper_search.domain.relevance.learned_terms import BEST_PAPERS, MOST_TERMS, separate_terms, suggest_terms
from paper_search.models import TermSuggestion
from uraniborg.kernel.language.words import extract_terms

BEST = [
    *(f"Obliquity tides heat moon {number}: a large online study in 2020" for number in range(14)),
    *(f"Ocean worlds {number}: a large online study in 2020" for number in range(6)),
]
OTHERS = [f"Power of tides for plant {number}" for number in range(30)]
JUNK = ["large", "online", "study", "2020", "effects", "results", "association"]


def count(term: str, texts: list[str]) -> int:
    stems = set(extract_terms(term))
    return sum(stems <= set(extract_terms(text)) for text in texts)


def list_terms(found: list[TermSuggestion]) -> list[str]:
    return [entry.term.casefold() for entry in found]


def test_the_reason_of_a_suggestion_is_a_true_count() -> None:
    found = suggest_terms(BEST, OTHERS, ["tides of moons"])
    assert len(BEST) == BEST_PAPERS
    assert "in 14 of the 20 best papers" in {entry.reason for entry in found if entry.term.casefold() == "obliquity"}
    for entry in found:
        assert entry.reason == f"in {count(entry.term, BEST)} of the 20 best papers"


def test_words_of_the_question_and_words_without_a_topic_are_never_suggested_or_learned() -> None:
    for found in (suggest_terms(BEST, OTHERS, ["tides of moons"]), separate_terms(BEST, OTHERS, ["tides of moons"])):
        assert found
        assert not set(list_terms(found)) & {*JUNK, "tides", "moon", "moons"}
        assert not any(re.match(r"\d", entry.term) for entry in found)


WRITING = "two especially https www github com along tested reveals respectively additional copyright licence"


def test_numbers_addresses_and_words_of_writing_are_never_taught() -> None:
    best = [f"Cryovolcanism {WRITING} {number}" for number in range(20)]
    others = [f"Sourdough {number}" for number in range(30)]
    for found in (suggest_terms(best, others, []), separate_terms(best, others, []), separate_terms(best, [], [])):
        assert list_terms(found) == ["cryovolcanism"]


def test_a_term_that_excluded_papers_have_as_often_is_not_taught() -> None:
    included = ["Cryovolcanism, plumes, plumes, plumes of Triton", "Cryovolcanism and plumes", "Cryovolcanism of moons"]
    excluded = ["Sourdough and plumes", "Plumes of bread", "Baking plumes"]
    assert "plumes" not in list_terms(separate_terms(included, excluded, []))


def test_a_term_that_all_other_results_share_is_not_suggested() -> None:
    assert "plant" not in list_terms(suggest_terms([*BEST, *OTHERS[:5]], OTHERS, []))


def test_a_term_of_fewer_than_three_papers_is_not_suggested() -> None:
    texts = ["Geysers of Enceladus", "Geysers again", "Ocean worlds", "Icy shells"]
    assert "geysers" not in list_terms(suggest_terms(texts, [], []))
    assert "geysers" in list_terms(suggest_terms([*texts, "More geysers"], [], []))


def test_marks_teach_terms_that_included_papers_have_and_excluded_papers_lack() -> None:
    included = ["Cryovolcanism on Triton", "Cryovolcanism of Enceladus", "Plumes and cryovolcanism"]
    excluded = ["Sourdough on Triton", "Sourdough of plumes"]
    found = separate_terms(included, excluded, ["icy moons"])
    assert found[0].term.casefold() == "cryovolcanism"
    assert found[0].reason == "in 3 of 3 included papers and 0 of 2 excluded"
    assert "sourdough" not in list_terms(found)


def test_few_marks_teach_no_word_that_separates_them_by_chance() -> None:
    included = ["Cryovolcanism, consistent with models", "Consistent plumes and cryovolcanism"]
    assert list_terms(separate_terms(included, ["Sourdough", "Consistent bread"], [])) == ["cryovolcanism"]
    assert separate_terms(included[:1], ["Sourdough"], []) == []
    assert "cryovolcanism" in list_terms(separate_terms(included[:1], ["Sourdough", "Rye", "Bread", "Yeast"], []))


def test_without_papers_nothing_is_taught() -> None:
    assert suggest_terms([], OTHERS, []) == []
    assert separate_terms([], OTHERS, []) == []
    assert separate_terms(["", ""], [""], []) == []


def test_without_excluded_papers_the_frequent_terms_of_the_included_ones_are_taught() -> None:
    found = separate_terms(["Obliquity of moons", "Obliquity and tides", "Obliquity"], [], [])
    assert [(entry.term.casefold(), entry.reason) for entry in found] == [
        ("obliquity", "in 3 of the 3 included papers")
    ]


TEXTS = st.lists(
    st.lists(st.sampled_from(["moss", "copper", "violin", "study", "large", "2020", "online"]), max_size=5).map(
        " ".join
    ),
    max_size=6,
)


@settings(deadline=None, max_examples=100)
@given(TEXTS, TEXTS)
def test_counts_of_marked_papers_are_true_and_the_order_of_papers_changes_nothing(
    included: list[str], excluded: list[str]
) -> None:
    found = separate_terms(included, excluded, ["violin"])
    assert len(found) <= MOST_TERMS
    assert not set(list_terms(found)) & {*JUNK, "violin"}
    if included and excluded:
        for entry in found:
            held, refused = count(entry.term, included), count(entry.term, excluded)
            assert entry.reason == (
                f"in {held} of {len(included)} included papers and {refused} of {len(excluded)} excluded"
            )
    assert separate_terms(included[::-1], excluded[::-1], ["violin"]) == found
