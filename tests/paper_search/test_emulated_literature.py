from typing import Any

import pytest

from paper_search.models import RawPaper, SearchConstraints, SearchQuery, SearchStrategy
from paper_search.testing import EmulatedBooleanSource, EmulatedLiterature, EmulatedRankedSource

PAPERS = [
    RawPaper(title="Tidal heating of icy moons", abstract="Moons of giant planets.", year=2015, source="records"),
    RawPaper(
        title="Sleep and shift work", abstract="Nurses who work at night sleep badly.", year=2020, source="records"
    ),
    RawPaper(title="The work of shift registers", abstract="A circuit.", source="records"),
    RawPaper(title="Randomised trial of light for night work", abstract="", year=2021, source="records"),
    RawPaper(title="Random graphs", abstract=None, year=2021, source="records"),
]


def find(query: str) -> list[str]:
    literature = EmulatedLiterature(PAPERS)
    return [literature.papers[position].title.split()[0] for position in literature.find_matches(query)]


async def ask(source: EmulatedBooleanSource | EmulatedRankedSource, text: str, **filters: Any) -> dict[str, Any]:
    query = SearchQuery(keywords=[], boolean_query=text)
    strategy = SearchStrategy(queries=[query], sources=[], filters=SearchConstraints(**filters))
    reply = await source.search_advanced(strategy)
    return {**reply, "papers": [paper.title.split()[0] for paper in reply["papers"]]}


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("moon", ["Tidal"]),
        ("shift AND work", ["Sleep", "The"]),
        ('"shift work"', ["Sleep"]),
        ('"shifts working"', ["Sleep"]),
        ("night AND work NOT light", ["Sleep"]),
        ("moons OR graphs", ["Random", "Tidal"]),
        ("(moons OR night) AND (heating OR light)", ["Randomised", "Tidal"]),
        ("random*", ["Randomised", "Random"]),
        ('"night wor*"', ["Randomised"]),
        ("nights*", []),
        ("volcano", []),
        ("NOT moons", []),
    ],
)
def test_boolean_queries_match_stems_phrases_and_beginnings_newest_first(query: str, found: list[str]) -> None:
    assert find(query) == found


def test_words_are_ranked_by_rarity_and_frequency() -> None:
    literature = EmulatedLiterature(PAPERS)
    ranked = [literature.papers[position].title.split()[0] for position in literature.rank_papers("night sleep moons")]
    assert ranked[0] == "Sleep"
    assert set(ranked) == {"Sleep", "Tidal", "Randomised"}
    assert literature.rank_papers("volcano") == []


def test_an_empty_literature_has_no_matches() -> None:
    literature = EmulatedLiterature([])
    assert (literature.find_matches("moons"), literature.rank_papers("moons")) == ([], [])


async def test_a_boolean_source_states_the_total_and_gives_out_a_limited_number_of_papers() -> None:
    source = EmulatedBooleanSource(EmulatedLiterature(PAPERS), most=2)
    assert await ask(source, "work OR random") == {
        "papers": ["Randomised", "Random"],
        "total": 4,
        "stopped": "source_limit",
    }
    assert await ask(source, "work OR random", max_results=1) == {"papers": ["Randomised"], "total": 4, "stopped": None}
    assert source.asked == ["work OR random", "work OR random"]


async def test_a_boolean_source_refuses_a_query_that_matches_too_many_papers() -> None:
    source = EmulatedBooleanSource(EmulatedLiterature(PAPERS), too_broad=3)
    assert await ask(source, "work OR random") == {"papers": [], "total": 4, "stopped": "too_broad"}
    assert (await ask(source, "work"))["stopped"] is None


async def test_a_ranking_source_ignores_operators_and_states_the_total() -> None:
    source = EmulatedRankedSource(EmulatedLiterature(PAPERS), most=1)
    assert await ask(source, '"icy moons" AND sleep') == {"papers": ["Tidal"], "total": 2, "stopped": "source_limit"}
    assert await ask(source, "") == {"papers": [], "total": 0, "stopped": None}


@pytest.mark.parametrize("make_source", [EmulatedBooleanSource, EmulatedRankedSource])
async def test_a_source_gives_out_200_papers_unless_told_otherwise(make_source: Any) -> None:
    papers = [RawPaper(title=f"Moons {number}", year=2020, source="records") for number in range(201)]
    reply = await ask(make_source(EmulatedLiterature(papers)), "moons", max_results=1_000)
    assert (len(reply["papers"]), reply["total"], reply["stopped"]) == (200, 201, "source_limit")


async def test_papers_outside_the_years_do_not_match_and_papers_of_unknown_year_do() -> None:
    literature = EmulatedLiterature(PAPERS)
    for source in (EmulatedBooleanSource(literature), EmulatedRankedSource(literature)):
        reply = await ask(source, "work", year_from=2021)
        assert (sorted(reply["papers"]), reply["total"]) == (["Randomised", "The"], 2)


async def test_papers_carry_the_name_of_the_source() -> None:
    source = EmulatedBooleanSource(EmulatedLiterature(PAPERS), "catalogue")
    query = SearchQuery(keywords=[], boolean_query="moons")
    reply = await source.search_advanced(SearchStrategy(queries=[query], sources=[]))
    assert [paper.source for paper in reply["papers"]] == ["catalogue"]
    assert PAPERS[0].source == "records"
