"""Publications in short."""

from typing import Any

import pytest

from uraniborg.kernel.bibliography.names import cite_paper, format_short_authors, format_short_citation
from uraniborg.kernel.language.messages import format_first_authors


@pytest.mark.parametrize(
    ("authors", "text"),
    [
        ([], ""),
        (["", " "], ""),
        (["Michaël Gillon"], "Gillon"),
        (["Gillon, Michaël", "Luger, Rodrigo"], "Gillon and Luger"),
        (["Julien de Wit", "Wang Lei"], "de Wit and Wang"),
        (["Eric Agol", "Caroline Dorn", "Simon L. Grimm"], "Agol et al."),
        (["NASA Exoplanet Science Institute"], "NASA Exoplanet Science Institute"),
    ],
)
def test_two_authors_are_named_and_of_more_the_first(authors: list[str], text: str) -> None:
    assert format_short_authors(authors) == text


@pytest.mark.parametrize(
    ("authors", "year", "text"),
    [
        (["Eric Agol", "Caroline Dorn"], 2021, "Agol and Dorn (2021)"),
        (["Eric Agol"], None, "Agol"),
        ([], 2021, ""),
    ],
)
def test_a_short_citation_has_a_year_in_parentheses_if_it_is_known(
    authors: list[str], year: int | None, text: str
) -> None:
    assert format_short_citation(authors, year) == text


@pytest.mark.parametrize(
    ("paper", "text"),
    [
        ({"authors": ["Eric Agol", "Caroline Dorn"], "year": 2021, "title": "T"}, "Agol and Dorn (2021)"),
        ({"authors": [], "year": 2021, "title": "Masses"}, "'Masses'"),
        ({"authors": [7], "title": "Masses"}, "'Masses'"),
        ({}, "'the paper'"),
    ],
)
def test_a_paper_without_authors_is_cited_by_its_title(paper: dict[str, Any], text: str) -> None:
    assert cite_paper(paper) == text


@pytest.mark.parametrize(
    ("authors", "text"),
    [
        ([], ""),
        (["Eric Agol", "Caroline Dorn", "Simon L. Grimm"], "Eric Agol, Caroline Dorn, Simon L. Grimm"),
        (["A", "B", "C", "D"], "A, B, C et al."),
        (["Agol, E.", "Dorn, C.", "Grimm, S.", "Turbet, M."], "Agol, E.; Dorn, C.; Grimm, S. et al."),
    ],
)
def test_three_authors_are_listed_and_names_with_commas_are_separated_by_semicolons(
    authors: list[str], text: str
) -> None:
    assert format_first_authors(authors) == text
