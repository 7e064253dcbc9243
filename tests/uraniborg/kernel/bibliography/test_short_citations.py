"""Publications in short."""

import pytest

from uraniborg.kernel.bibliography.short_citations import format_short_authors, format_short_citation


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
