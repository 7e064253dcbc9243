"""Years of publication in running text, and other numbers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paper_library.domain.query_notations import extract_year_bounds


@pytest.mark.parametrize(
    ("text", "years"),
    [
        ("since 2015", "2015.."),
        ("skip those before 2017", "2017.."),
        ("excluding papers before 2017", "2017.."),
        ("ignore papers before 2017", "2017.."),
        ("without those published before 2017", "2017.."),
        ("pre-2017 excluded", "2017.."),
        ("published before 2017 excluded", "2017.."),
        ("except 2016 and earlier", "2017.."),
        ("not show anything before 2017", "2017.."),
        ("2016 and earlier", "..2016"),
        ("Since 2015,", "2015.."),
        ("as of 2015", "2015.."),
        ("starting in 2015", "2015.."),
        ("after 2015", "2016.."),
        ("newer than 2015", "2016.."),
        ("post-2015", "2016.."),
        ("before 2015", "..2014"),
        ("prior to 2015", "..2014"),
        ("older than 2015", "..2014"),
        ("pre-2015", "..2014"),
        ("until 2015", "..2015"),
        ("up to 2015", "..2015"),
        ("2015 or later", "2015.."),
        ("2015 onwards", "2015.."),
        ("from 2015 on", "2015.."),
        ("2015 and earlier", "..2015"),
        ("not before 2015", "2015.."),
        ("nothing before 2015", "2015.."),
        ("no papers older than 2015", "2015.."),
        ("not after 2015", "..2015"),
        ("between 2012 and 2015", "2012..2015"),
        ("between 2015 and 2012", "2012..2015"),
        ("from 2012 to 2015", "2012..2015"),
        ("seit 2015", "2015.."),
        ("ab 2015", "2015.."),
        ("vor 2015", "..2014"),
        ("bis 2015", "..2015"),
        ("zwischen 2012 und 2015", "2012..2015"),
        ("depuis 2015", "2015.."),
        ("après 2015", "2016.."),
        ("avant 2015", "..2014"),
        ("entre 2012 et 2015", "2012..2015"),
        ("desde 2015", "2015.."),
        ("antes de 2015", "..2014"),
        ("hasta 2015", "..2015"),
        ("a partir de 2015", "2015.."),
        ("até 2015", "..2015"),
        ("forget about the ones before 2017", "2017.."),
        ("but do not go back further than 2017", "2017.."),
        ("skip 2017 and later", "..2016"),
        ("after March 2015", "2015.."),
        ("since the 1990s", "1990.."),
        ("keine Veröffentlichungen von vor 2017", "2017.."),
        ("exceto os anteriores a 2017", "2017.."),
    ],
)
def test_a_year_phrase_becomes_bounds_and_is_removed_from_the_text(text: str, years: str) -> None:
    rest, (phrase,) = extract_year_bounds(f"fish {text} birds")
    assert str(phrase) == years
    assert rest.replace(",", "").split() == ["fish", "birds"]
    assert phrase.typed == text.rstrip(",")


@pytest.mark.parametrize(
    "text", ["fish, papers before 2017 are not needed", "fish; anything before 2017 can be skipped"]
)
def test_a_refusal_behind_the_year_inverts_its_bounds(text: str) -> None:
    rest, (phrase,) = extract_year_bounds(text)
    assert (rest.strip(" ,;"), str(phrase)) == ("fish", "2017..")


@pytest.mark.parametrize(
    "text",
    [
        "the 1918 influenza",
        "in 2015",
        "from 2015",
        "since then",
        "since 20150",
        "since 2015.5",
        "since 2015-03-01",
        "before 500 years",
        "after 2000 iterations",
        "before 2000 people",
        '"since 2015"',
        "insince 2015",
        "not since 2015",
        "2015",
        "",
    ],
)
def test_other_numbers_do_not_change(text: str) -> None:
    assert extract_year_bounds(text) == (text, [])


@given(st.text(max_size=200))
def test_any_text_is_read(text: str) -> None:
    rest, phrases = extract_year_bounds(text)
    assert phrases or rest == text
