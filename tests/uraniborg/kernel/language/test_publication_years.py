"""Tests of years of publication in queries."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paper_search.domain.intent.text_cleanup import cut_and_normalise_characters, replace_quoted_phrases
from uraniborg.kernel.language.publication_years import EARLIEST_YEAR, read_years

TODAY = date(2024, 6, 15)


def read_bounds(query: str) -> tuple[int | None, int | None]:
    reading = read_years(replace_quoted_phrases(cut_and_normalise_characters(query))[0], TODAY)
    return reading.year_from, reading.year_to


@pytest.mark.parametrize(
    ("query", "year_from", "year_to"),
    [
        ("ice since 2020", 2020, None),
        ("ice since March 2020", 2020, None),
        ("ice starting from 2020", 2020, None),
        ("ice from 2018 to 2022", 2018, 2022),
        ("from 2018 until 2022 on ice", 2018, 2022),
        ("ice between 2018 and 2022", 2018, 2022),
        ("ice 2018-2022", 2018, 2022),
        ("ice 2018–2022", 2018, 2022),
        ("ice 2018 — 2022", 2018, 2022),
        ("ice 2018−2022", 2018, 2022),
        ("ice 2018 to 2022", 2018, 2022),
        ("ice 2018-22", 2018, 2022),
        ("ice (2018-2022)", 2018, 2022),
        ("ice 2022-2018", 2018, 2022),
        ("ice 2018 to present", 2018, None),
        ("ice from 2018 onwards", 2018, None),
        ("ice from 2018 on", 2018, None),
        ("ice from 2018", 2018, None),
        ("ice, 2018 or later", 2018, None),
        ("ice 2018+", 2018, None),
        ("ice >= 2018", 2018, None),
        ("ice >2018", 2019, None),
        ("ice ≤2018", None, 2018),
        ("ice <2018", None, 2017),
        ("ice after 2019", 2020, None),
        ("ice newer than 2019", 2020, None),
        ("ice before 2015", None, 2014),
        ("ice prior to 2015", None, 2014),
        ("ice not before 2015", 2015, None),
        ("ice until 2020", None, 2020),
        ("ice up to 2020", None, 2020),
        ("ice no later than 2020", None, 2020),
        ("ice in 2021", 2021, 2021),
        ("ice published in 2021", 2021, 2021),
        ("2021 papers on ice", 2021, 2021),
        ("papers of 2021 on ice", 2021, 2021),
        ("Smith et al. (2017) on ice", 2017, 2017),
        ("(Smith et al., 2017) on ice", 2017, 2017),
        ("year:2019 ice", 2019, 2019),
        ("year:2019..2021 ice", 2019, 2021),
        ("ice in the 1990s", 1990, 1999),
        ("ice of the 1990s", 1990, 1999),
        ("ice since the 1990s", 1990, None),
        ("ice before the 1990s", None, 1989),
        ("ice after the 1990s", 2000, None),
        ("ice in the 2020s", 2020, None),
        ("ice in the last five years", 2019, None),
        ("ice over the past 3 years", 2021, None),
        ("ice in the past two decades", 2004, None),
        ("ice in the last decade", 2014, None),
        ("ice in the last 18 months", 2022, None),
        ("ice in recent years", 2019, None),
        ("ice last year", 2023, None),
        ("ice this year", 2024, None),
        ("recent work on ice", 2019, None),
        ("the latest papers on ice", 2019, None),
        ("ice since 2015 and before 2020", 2015, 2019),
        ("ice since 2020 before 2015", 2014, 2020),
        ("ice since ２０２０", 2020, None),
        ("ice detection 2024", 2024, 2024),
        ("ice detection, 2019", 2019, 2019),
        ("ice detection , 2019", 2019, 2019),
        ("ice after March 2020", 2020, None),
        ("ice before March 2020", None, 2020),
        ("papers from 2019 by Doe", 2019, 2019),
        ("ice older than 2000", None, 1999),
        ("papers published 1650-1700", 1650, 1700),
        ("up to 2015 ice sheets", None, 2015),
        ("after 2016 exoplanet papers", 2017, None),
        ("ice; after 2016 exoplanet papers", 2017, None),
        ("before 2010 graphene", None, 2009),
    ],
)
def test_a_word_of_time_gives_years(query: str, year_from: int | None, year_to: int | None) -> None:
    assert read_bounds(query) == (year_from, year_to)


@pytest.mark.parametrize(
    "query",
    [
        "2001: A Space Odyssey",
        "in 2001: A Space Odyssey",
        "ImageNet 2012 classification",
        "GPT-4",
        '"1984" as allegory',
        "in “1984”",
        "CO2 at 1000 ppm",
        "annealing up to 2000 K",
        "after 2000 cycles",
        "in 2000 patients",
        "in 2020 US elections",
        "the financial crisis of 2008",
        "after the 2008 crisis",
        "2019-nCoV",
        "after 2019-nCoV infection",
        "Tokyo Olympics 2020",
        "before and after 2016 elections",
        "after 2016 presidential elections",
        "voters after 2016 exit polls",
        "post-2020 global biodiversity framework papers",
        "ice in the crisis of 2008",
        "ice 1914",
        "witch trials 1650-1700",
        "ice 2049",
        "10.1016/j.cell.2018.01.002",
        "arXiv 1706.03762",
        "emissions until 2100",
        "scenarios 2020-2100",
        "since 1066",
        "since 20201",
        "the last 2000 years of climate",
        "from 1.2018 to 3.2022",
        "recent-onset diabetes",
        "",
    ],
)
def test_a_number_without_a_reason_is_not_a_year(query: str) -> None:
    assert read_bounds(query) == (None, None)


@pytest.mark.parametrize(
    ("query", "year_from", "year_to"),
    [
        ("ice; skip those before 2017", 2017, None),
        ("ice, nothing before 2017", 2017, None),
        ("ice excluding papers before 2017", 2017, None),
        ("ice, no papers older than 2017", 2017, None),
        ("ice, pre-2017 excluded", 2017, None),
        ("pre-2017 exoplanet papers excluded", 2017, None),
        ("omit pre 2017 exoplanet papers", 2017, None),
        ("not earlier than 2017 exoplanets", 2017, None),
        ("no older papers than 2015", 2015, None),
        ("leave papers before 2017 aside", 2017, None),
        ("ice, please leave papers before 2017 out", 2017, None),
        ("ice without those published before 2017", 2017, None),
        ("ice, ignore papers before 2017", 2017, None),
        ("ice, not older than five years", 2019, None),
        ("ice after 2016 only", 2017, None),
        ("ice until 2020", None, 2020),
        ("ice except 2019 and earlier", 2020, None),
        ("ice, papers before 2017 are not needed", 2017, None),
        ("ice, I don't want anything published after 2017", None, 2017),
        ("ice, skip 2017 and later", None, 2016),
        ("ice, no later than 2017", None, 2017),
        ("ice, at least ten years old", None, 2014),
        ("ice, older than ten years", None, 2013),
        ("ice, do not skip papers before 2017", None, None),
        ("ice, excluding 2015-2017", None, None),
        ("Eis, keine Arbeiten vor 2017", 2017, None),
        ("Eis, nicht älter als drei Jahre", 2021, None),
        ("glace, aucun article avant 2017", 2017, None),
        ("glace ces trois dernières années", 2021, None),
        ("hielo, nada antes de 2017", 2017, None),
        ("hielo en los últimos tres años", 2021, None),
        ("gelo, exceto os anteriores a 2017", 2017, None),
        ("gelo nos últimos três anos", 2021, None),
        ("冰,不要2017年之前的", 2017, None),
        ("近三年冰", 2021, None),
        ("氷、2017年より前を除く", 2017, None),
        ("過去3年間の氷", 2021, None),
    ],
)
def test_a_negated_limit_is_inverted(query: str, year_from: int | None, year_to: int | None) -> None:
    assert read_bounds(query) == (year_from, year_to)
    assert not set("12") & set(read_years(replace_quoted_phrases(cut_and_normalise_characters(query))[0], TODAY).rest)


@pytest.mark.parametrize(
    ("query", "year_from", "year_to"),
    [
        ("ghiaccio negli ultimi 5 anni", 2019, None),
        ("ghiaccio dal 2015", 2015, None),
        ("ghiaccio, nessun articolo pubblicato prima del 2015", 2015, None),
        ("ijs sinds 2015", 2015, None),
        ("ijs na 2015", 2016, None),
        ("ijs, niets van voor 2015", 2015, None),
        ("is efter 2015", 2016, None),
        ("is de senaste 5 åren", 2019, None),
        ("lód od 2015 roku", 2015, None),
        ("lód z ostatnich pięciu lat", 2019, None),
        ("лёд после 2015 года", 2016, None),
        ("лёд с 2010 по 2015 год", 2010, 2015),
        ("лёд за последние пять лет", 2019, None),
        ("son beş yılda buz", 2019, None),
        ("2015'ten sonra buz", 2016, None),
        ("최근 5년간 얼음", 2019, None),
        ("2015년 이후 얼음", 2015, None),
        ("الجليد منذ 2015", 2015, None),
        ("Eis, letzte 10 Jahre", 2014, None),
        ("études récentes sur la glace", 2019, None),
        ("ice 2010..2015", 2010, 2015),
        ("year:[2015 TO 2018] ice", 2015, 2018),
        ("ice from 2015-01-01 to 2020-12-31", 2015, 2020),
        ("ice between 2015-01-01 and 2020-12-31", 2015, 2020),
        ("ice since 2015-06-01", 2015, None),
        ("ice after 2015-06-01", 2015, None),
        ("ice before 2015-06-01", None, 2015),
        ("ice, file 2015-12-31", None, None),
    ],
)
def test_years_are_read_in_many_languages(query: str, year_from: int | None, year_to: int | None) -> None:
    assert read_bounds(query) == (year_from, year_to)


@pytest.mark.parametrize(
    "query", ["the 1918 influenza", "influenza in 1918", "adults older than 65 years", "children under five years old"]
)
def test_years_and_ages_of_the_subject_are_not_limits(query: str) -> None:
    reading = read_years(query, TODAY)
    assert (reading.year_from, reading.year_to, reading.rest) == (None, None, query)


def test_a_gap_in_the_years_is_ignored_and_noted() -> None:
    assert "without a gap" in read_years("ice except 2020", TODAY).notes[0]


def test_year_phrases_are_cut_out_and_noted() -> None:
    reading = read_years("ice since 2020 on Mars", TODAY)
    assert reading.rest.split() == ["ice", "on", "Mars"]
    assert reading.notes == ["“since 2020” was read as published in 2020 or later."]


@pytest.mark.parametrize(
    ("query", "rest"),
    [
        ("after 2016 exoplanet papers", ["exoplanet", "papers"]),
        ("pre-2017 exoplanet papers excluded", ["exoplanet"]),
        ("omit pre 2017 exoplanet papers", ["exoplanet", "papers"]),
        ("not earlier than 2017 exoplanets", ["exoplanets"]),
        ("no older papers than 2015", []),
        ("leave papers before 2017 aside", []),
    ],
)
def test_a_year_phrase_before_its_subject_leaves_the_subject(query: str, rest: list[str]) -> None:
    assert read_years(query, TODAY).rest.split() == rest


def test_recent_is_noted_with_its_first_year() -> None:
    assert read_years("recent ice", TODAY).notes == ["“recent” was read as published in 2019 or later."]


@given(
    st.lists(
        st.sampled_from(
            ["since", "before", "in", "from", "to", "2018", "2022", "1066", "2100", "–", "(", ")", "the 1990s"]
        )
    )
)
def test_any_mix_of_time_words_gives_consistent_years(words: list[str]) -> None:
    reading = read_years(" ".join(words), TODAY)
    for year in (reading.year_from, reading.year_to):
        assert year is None or EARLIEST_YEAR <= year <= TODAY.year + 1
    if reading.year_from is not None and reading.year_to is not None:
        assert reading.year_from <= reading.year_to
