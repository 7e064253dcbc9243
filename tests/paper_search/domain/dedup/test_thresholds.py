"""Each threshold of deduplication, tested on both sides."""

import pytest

from tests.paper_search.domain.dedup.sample_records import TITLE, is_one_paper, make_anonymous_paper, make_paper

WORDS = "tidal dissipation mantles icy moons plumes craters auroras".split()  # noqa: SIM905 - a title is words


def make_title(count: int, *more: str) -> str:
    """Return a title with this many distinctive words."""
    return " ".join([*WORDS[:count], *more])


@pytest.mark.parametrize(("apart", "is_one"), [(0, True), (1, True), (2, False), (3, False)])
@pytest.mark.parametrize("venue", ["", "Icarus"])
def test_published_records_are_one_paper_up_to_a_year_apart(apart: int, is_one: bool, venue: str) -> None:
    left = make_paper(TITLE, year=2019, venue=venue)
    assert is_one_paper(left, make_paper(TITLE, year=2019 + apart, venue=venue, source="dblp")) is is_one


@pytest.mark.parametrize(("apart", "is_one"), [(3, True), (4, False)])
def test_a_preprint_and_its_article_are_one_paper_up_to_three_years_apart(apart: int, is_one: bool) -> None:
    preprint = make_paper(TITLE, year=2019 - apart, identifiers={"arxiv": "2101.00001"})
    assert is_one_paper(preprint, make_paper(TITLE, year=2019, doi="10.1000/journal", source="crossref")) is is_one


@pytest.mark.parametrize(
    ("words", "years", "is_one"),
    [
        (4, (2019, 2019), True),
        (3, (2019, 2019), False),
        (6, (2019, None), True),
        (5, (2019, None), False),
        (6, (None, None), True),
        (5, (None, None), False),
        (8, (2019, 2020), False),
    ],
)
def test_without_authors_a_title_needs_four_words_and_the_year_or_six_and_no_year(
    words: int, years: tuple[int | None, int | None], is_one: bool
) -> None:
    left, right = (
        make_anonymous_paper(make_title(words), year=year, source=source)
        for year, source in zip(years, "ab", strict=True)
    )
    assert is_one_paper(left, right) is is_one


@pytest.mark.parametrize(("words", "is_one"), [(3, True), (2, False)])
def test_titles_that_differ_by_their_venue_share_three_words(words: int, is_one: bool) -> None:
    left = make_paper(make_title(words), venue="Icarus")
    assert is_one_paper(left, make_paper(make_title(words, "Icarus"), venue="Icarus", source="dblp")) is is_one


@pytest.mark.parametrize(("words", "is_one"), [(3, True), (2, False)])
def test_an_equal_title_of_three_words_is_enough_for_half_of_the_authors(words: int, is_one: bool) -> None:
    left = make_paper(make_title(words), "Lei Wang", "Ada Kim")
    assert is_one_paper(left, make_paper(make_title(words), "Lei Wang", "Bea Roy", source="dblp")) is is_one


@pytest.mark.parametrize(("words", "is_one"), [(6, True), (5, False)])
def test_one_extra_word_is_accepted_in_titles_of_six_or_more_words(words: int, is_one: bool) -> None:
    left, right = make_paper(make_title(words)), make_paper(make_title(words, "everywhere"), source="dblp")
    assert is_one_paper(left, right) is is_one


@pytest.mark.parametrize(
    ("shared", "more", "is_one"),
    [
        (4, ["plainly"], True),
        (3, ["plainly"], False),
        (5, ["plainly", "anew"], True),
        (5, ["plainly", "widely", "deeply"], False),
        (7, ["plainly", "widely", "deeply"], True),
    ],
)
def test_a_title_reworded_between_preprint_and_article_shares_four_words_and_seven_tenths(
    shared: int, more: list[str], is_one: bool
) -> None:
    preprint = make_paper(make_title(shared, *more), identifiers={"arxiv": "2101.00001"})
    article = make_paper(make_title(shared), doi="10.1000/journal", source="crossref", year=2020)
    assert is_one_paper(preprint, article) is is_one


@pytest.mark.parametrize(
    ("left", "right", "is_one"),
    [
        ("Craters on old Callisto mapped", "Deep craters on Callisto mapped", True),
        ("Tides in the mantles of icy moons", "Tides in the oceans of warm moons", False),
        ("Craters on old Callisto mapped", "Craters on young Ganymede mapped", False),
    ],
)
def test_a_shared_doi_without_common_authors_needs_titles_that_are_85_percent_similar(
    left: str, right: str, is_one: bool
) -> None:
    one, other = (
        make_paper(left, "A. Kim", doi="10.1000/x"),
        make_paper(right, "C. Roy", doi="10.1000/x", source="dblp"),
    )
    assert is_one_paper(one, other) is is_one
