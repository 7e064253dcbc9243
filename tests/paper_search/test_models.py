"""Tests of the models."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from paper_search.models import (
    Author,
    Facets,
    IntentType,
    Paper,
    PaperCollection,
    PaperTag,
    RawPaper,
    ScoredPaper,
    SearchConstraints,
    SearchMetadata,
    SearchStrategy,
    SourceStatus,
    UserFeedback,
    make_paper_id,
)


def test_the_enumerations_have_exactly_the_documented_values() -> None:
    assert [value.value for value in IntentType] == ["survey", "method", "dataset", "baseline"]
    assert [value.value for value in PaperTag] == ["method", "review", "empirical", "theoretical", "dataset"]
    assert [value.value for value in SourceStatus] == ["ok", "empty", "failed", "rate_limited", "skipped"]


def test_constraints_default_to_a_hundred_papers_of_any_year_and_language() -> None:
    constraints = SearchConstraints()
    assert (constraints.year_from, constraints.year_to, constraints.language, constraints.max_results) == (
        None,
        None,
        None,
        100,
    )


def test_a_strategy_may_have_neither_queries_nor_sources() -> None:
    assert SearchStrategy(queries=[], sources=[]).filters == SearchConstraints()


def test_feedback_is_empty_by_default() -> None:
    assert UserFeedback() == UserFeedback(marked_relevant=[], marked_irrelevant=[], free_text_feedback=None)


@pytest.mark.parametrize("score", [-0.01, 1.01, float("nan")])
def test_a_score_outside_zero_and_one_is_refused(score: float) -> None:
    with pytest.raises(ValidationError):
        ScoredPaper(paper=RawPaper(title="t", source="s"), relevance_score=score, relevance_reason="")


def test_nul_characters_never_enter_a_paper() -> None:
    paper = RawPaper(title="Moo\x00ns", abstract="a\x00b", venue="\x00Icarus", source="s")
    assert (paper.title, paper.abstract, paper.venue) == ("Moons", "ab", "Icarus")


def test_a_doi_decides_the_id_however_it_is_written() -> None:
    first = RawPaper(title="A", doi="10.1000/XYZ", source="crossref")
    second = RawPaper(title="Another title", doi=" 10.1000/xyz", source="openalex")
    assert first.id == second.id


def test_a_given_id_is_used() -> None:
    assert RawPaper(id="mine", title="A", source="s").id == "mine"


def test_without_identifiers_title_first_author_and_year_decide_the_id() -> None:
    base = RawPaper(title="Icy  Moons", authors=[Author(name="T. Brahe")], year=1600, source="a")
    same = RawPaper(title="icy moons", authors=[Author(name="t. brahe")], year=1600, source="b")
    other = RawPaper(title="icy moons", authors=[Author(name="t. brahe")], year=1601, source="b")
    assert base.id == same.id != other.id


def test_identifier_schemes_do_not_mix() -> None:
    assert make_paper_id({"pmid": "1"}, None, "t", [], None) != make_paper_id({"s2": "1"}, None, "t", [], None)


@given(st.text(min_size=1), st.lists(st.text()), st.integers(1000, 3000) | st.none())
def test_any_text_gets_a_stable_id(title: str, authors: list[str], year: int | None) -> None:
    people = [Author(name=name) for name in authors]
    assert make_paper_id({}, None, title, people, year) == make_paper_id({}, None, title, list(people), year)


def test_a_collection_survives_a_trip_through_json() -> None:
    metadata = SearchMetadata(query="q", search_strategy=SearchStrategy(queries=[], sources=[]), total_found=1)
    paper = Paper(id="p", title="T", authors=[Author(name="A")], source="s", tags=[PaperTag.REVIEW])
    collection = PaperCollection(metadata=metadata, papers=[paper], facets=Facets(by_year={2020: 1}))
    assert PaperCollection.model_validate_json(collection.model_dump_json()) == collection


def test_two_models_never_share_a_default_list() -> None:
    first, second = UserFeedback(), UserFeedback()
    first.marked_relevant.append("x")
    assert second.marked_relevant == []
