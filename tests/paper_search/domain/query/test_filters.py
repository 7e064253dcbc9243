import pytest
from hypothesis import given
from hypothesis import strategies as st

from paper_search.domain.query.filters import can_be_same_language, can_be_within_years, filter_papers, is_text_excluded
from paper_search.domain.strategies.plain_words import parse_query
from paper_search.models import RawPaper, SearchConstraints

YEARS = st.integers(1500, 2100) | st.none()


def make_paper(title: str = "A title", **fields: object) -> RawPaper:
    return RawPaper.model_validate({"title": title, "source": "tiny", **fields})


@pytest.mark.parametrize(
    ("year", "year_from", "year_to", "within"),
    [
        (2020, 2020, 2020, True),
        (2019, 2020, None, False),
        (2021, None, 2020, False),
        (2020, None, None, True),
        (None, 2020, 2021, True),
    ],
)
def test_years_are_compared_with_both_ends_included(
    year: int | None, year_from: int | None, year_to: int | None, within: bool
) -> None:
    assert can_be_within_years(year, year_from, year_to) is within


@given(YEARS, YEARS, YEARS)
def test_a_narrower_range_never_accepts_more_papers(
    year: int | None, year_from: int | None, year_to: int | None
) -> None:
    assert can_be_within_years(year, year_from, None) >= can_be_within_years(year, year_from, year_to)
    assert can_be_within_years(year, None, year_to) >= can_be_within_years(year, year_from, year_to)


@pytest.mark.parametrize(
    ("found", "wanted", "same"),
    [
        ("en", "English", True),
        ("eng", "en", True),
        ("en-US", "EN", True),
        ("ger", "de", True),
        ("deu", "german", True),
        ("fr", "en", False),
        ("chi", "ja", False),
        (None, "en", True),
        ("", "en", True),
        ("en", None, True),
        ("Klingonese", "en", True),
    ],
)
def test_languages_are_compared_by_meaning_and_unknown_ones_pass(
    found: str | None, wanted: str | None, same: bool
) -> None:
    assert can_be_same_language(found, wanted) is same


@pytest.mark.parametrize(
    ("query", "text", "excluded"),
    [
        ("graphene NOT oxide", "Graphene oxide membranes", True),
        ("graphene NOT oxide", "Graphene dioxide", False),
        ("graphene NOT oxid*", "Graphene oxides", True),
        ('graphene NOT "solar cell"', "A solar cell of graphene", True),
        ('graphene NOT "solar cell"', "Solar and cell", False),
        ("graphene NOT (oxide OR nitride)", "Graphene NITRIDE", True),
        ("graphene NOT (oxide AND nitride)", "Graphene nitride", False),
        ("(graphene NOT oxide) OR silicene", "graphene oxide", False),
        ("languages NOT C++", "Languages such as C++", True),
        ("languages NOT C++", "Languages such as C", False),
        ("vitamin NOT covid-19", "Vitamin D in COVID-19", True),
        ("graphene", "graphene oxide", False),
        ("graphene NOT Öl", "Graphen in öl", True),
        ("graphene NOT oxide", "", False),
    ],
)
def test_a_paper_is_excluded_when_every_alternative_excludes_it(query: str, text: str, excluded: bool) -> None:
    node = parse_query(query)
    assert node is not None
    assert is_text_excluded(node, text) is excluded


@given(st.text(), st.text())
def test_any_query_can_be_matched_with_any_text(query: str, text: str) -> None:
    node = parse_query(query)
    assert node is None or is_text_excluded(node, text) in {True, False}


def test_only_filters_that_the_source_did_not_apply_are_applied() -> None:
    papers = [
        make_paper("Old", year=1999),
        make_paper("French", language="fr"),
        make_paper("Graphene oxide"),
        make_paper("Kept", year=2020, language="en"),
        make_paper("In the abstract", abstract="about oxide"),
        make_paper("  "),
    ]
    filters = SearchConstraints(year_from=2010, language="en")
    query = "graphene NOT oxide"

    def left(applied: frozenset[str]) -> list[str]:
        return [paper.title for paper in filter_papers(papers, filters, [query], applied)[0]]

    assert left(frozenset()) == ["Kept"]
    assert left(frozenset({"year", "language", "not"})) == [p.title for p in papers[:-1]]
    assert left(frozenset({"year"})) == ["Old", "Kept"]
    assert filter_papers(papers, filters, [query])[1] == {"year": 1, "language": 1, "excluded_words": 2, "no_title": 1}


def test_a_paper_that_one_of_several_queries_allows_is_not_excluded() -> None:
    paper = RawPaper(title="Graphene oxide", source="any")
    assert filter_papers([paper], SearchConstraints(), ["graphene NOT oxide", "graphene"]) == ([paper], {})
    assert filter_papers([paper], SearchConstraints(), ["graphene NOT oxide"]) == ([], {"excluded_words": 1})
