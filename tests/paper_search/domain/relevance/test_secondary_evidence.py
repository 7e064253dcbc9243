"""Tests of citations, recency, authors and venues."""

import pytest

from paper_search.domain.relevance.secondary_evidence import (
    compute_citation_and_recency_factor,
    find_wanted_authors,
    is_in_wanted_venue,
)
from tests.paper_search.domain.relevance.sample_papers import make_authors, make_paper


def test_unknown_citations_and_year_leave_the_strength_as_it_is() -> None:
    assert compute_citation_and_recency_factor(make_paper("x"), 2025) == 1.0


def test_more_citations_and_newer_years_help_within_bounds() -> None:
    factors = [
        compute_citation_and_recency_factor(make_paper("x", citation_count=n), 2025)
        for n in (1, 10, 1_000, 10_000, 10_000_000)
    ]
    assert factors == sorted(factors)
    assert factors[-1] == factors[-2] == pytest.approx(1.05)
    assert (
        1.0
        < compute_citation_and_recency_factor(make_paper("x", year=1950), 2025)
        < compute_citation_and_recency_factor(make_paper("x", year=2020), 2025)
        < compute_citation_and_recency_factor(make_paper("x", year=2025), 2025)
    )


def test_a_year_in_the_future_counts_as_this_year() -> None:
    assert compute_citation_and_recency_factor(make_paper("x", year=2031), 2025) == compute_citation_and_recency_factor(
        make_paper("x", year=2025), 2025
    )


@pytest.mark.parametrize(
    ("wanted", "held"),
    [
        ("Hinton", "Geoffrey E. Hinton"),
        ("Geoffrey Hinton", "G. E. Hinton"),
        ("G. Hinton", "Hinton, Geoffrey"),
        ("Hinton, Geoffrey", "Geoffrey Hinton"),
        ("Schrodinger", "Erwin Schrödinger"),
        ("Wang Wei", "Wei Wang"),
        ("Geoffrey Hinton", "Hinton"),
    ],
)
def test_an_author_is_found_in_every_spelling_of_the_name(wanted: str, held: str) -> None:
    assert find_wanted_authors(make_paper("x", authors=make_authors(held)), [wanted]) == [held]


@pytest.mark.parametrize(
    ("wanted", "held"), [("Hinton", "Milton Hill"), ("Geoffrey Hinton", "Mary Hinton"), ("", "Hinton")]
)
def test_another_person_is_not_found(wanted: str, held: str) -> None:
    assert find_wanted_authors(make_paper("x", authors=make_authors(held)), [wanted]) == []


@pytest.mark.parametrize(
    ("wanted", "held"),
    [
        ("Nature", "Nature"),
        ("nature communications", "Nature Communications"),
        ("ICML", "International Conference on Machine Learning"),
        ("ICML", "Proceedings of the International Conference on Machine Learning"),
        ("ICML", "ICML 2019"),
    ],
)
def test_a_venue_is_found_by_its_words_or_initials(wanted: str, held: str) -> None:
    assert is_in_wanted_venue(make_paper("x", venue=held), [wanted])


@pytest.mark.parametrize(
    ("wanted", "held"), [("Nature", "Science"), ("the", "Nature"), ("", "Nature"), ("Nature", None)]
)
def test_another_venue_is_not_found(wanted: str, held: str | None) -> None:
    assert not is_in_wanted_venue(make_paper("x", venue=held), [wanted])
