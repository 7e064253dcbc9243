"""Realistic queries of people and agents find the intended papers, and the reply lists unused parts."""

# pyright: reportAssignmentType=false

from typing import Any, NamedTuple

import pytest

from paper_library.service.library import Library
from tests.paper_library.service.libraries import list_titles
from tests.paper_library.service.sky_papers import (
    ADDITION,
    ATMOSPHERES,
    CHINESE,
    COMETS,
    COUNTING,
    EQUATION,
    FLARES,
    GATES,
    GRAPHS,
    HABITABILITY,
    INFLUENZA,
    NOISE,
    SORTING,
    TELESCOPE,
    THEOREM,
    VACCINES,
    WATER_WORLD,
)


class Case(NamedTuple):
    """A query and the expected reply; None is not checked."""

    query: str
    finds: set[str] | None = None
    """Exactly these papers."""
    first: list[str] | None = None
    """The results begin with these, in this order."""
    filters: dict[str, list[str]] | None = None
    terms: list[str] | None = None
    dropped: list[str] | None = None
    note: str | None = None
    """Part of a sentence in `ignored`; the empty text for no sentence at all."""
    sort: str | None = None


PROSE = "What is the effect of -strong {} on the habitability of rocky planets around small dwarf stars"

CASES = [
    # Capitals
    Case("STELLAR FLARES", first=[FLARES, HABITABILITY], terms=["stellar", "flares"]),
    Case("STELLAR AND FLARES", first=[FLARES, HABITABILITY], terms=["stellar", "flares"], note="Too common"),
    Case("STELLAR OR FLARES", first=[FLARES], terms=["stellar", "flares"]),
    Case("FLARES NOT DWARFS", first=[FLARES, HABITABILITY], terms=["flares", "dwarfs"]),
    Case("AUTHOR:ZHANG AND YEAR:2019", finds={ATMOSPHERES}, filters={"author": ["zhang"], "year": ["2019"]}),
    Case("Flares NOT habitability", finds={FLARES}),
    Case("深度学习 NOT 卷积", finds={CHINESE}),
    Case("AND", terms=[], note="AND at the beginning"),
    # Stop words
    Case("flares AND the", finds={FLARES, HABITABILITY}, note="Too common to count: the"),
    Case("the AND flares AND of", finds={FLARES, HABITABILITY}),
    Case("flares -the", finds={FLARES, HABITABILITY}, note="the is too common to be excluded"),
    Case("flares NOT of", finds={FLARES, HABITABILITY}, note="of is too common to be excluded"),
    Case('flares -"the"', finds={FLARES, HABITABILITY}, note="the is too common to be excluded"),
    Case('flares "the"', finds={FLARES, HABITABILITY}),
    Case("the author:zhang", finds={ATMOSPHERES, FLARES}, terms=[], note="Too common"),
    Case("title:the flares", finds={FLARES, HABITABILITY}, note="title:the is too common to be required"),
    Case("flares NOT the", finds={FLARES, HABITABILITY}, note="the is too common to be excluded"),
    Case("NOT the", finds=set(), note="the is too common to be excluded"),
    Case("may be", finds={WATER_WORLD}, terms=["may", "be"]),
    # Prose
    Case(
        PROSE.format('"stellar flares"'),
        first=[HABITABILITY],
        note="Quotation marks and dashes do not filter in a text of this length",
    ),
    Case(PROSE.format("flares"), first=[HABITABILITY], note="dashes do not filter"),
    Case('flares of the "stellar" kind that -strip thin air from planets in a close orbit', first=[FLARES]),
    Case('"stellar flares"', finds={FLARES}, note=""),
    Case("planets -rocky", finds={FLARES}),
    Case('planets "rocky planets" -thin', finds={HABITABILITY}),
    Case("what do comets look like - drawings - by year - in old books - and journals", first=[COMETS]),
    # Names with numbers
    Case("TRAPPIST-1", finds={ATMOSPHERES, TELESCOPE}, first=[ATMOSPHERES, TELESCOPE], note=""),
    Case("trappist-1", first=[ATMOSPHERES, TELESCOPE]),
    Case("TRAPPIST‑1", first=[ATMOSPHERES, TELESCOPE]),
    Case("(TRAPPIST-1),", first=[ATMOSPHERES, TELESCOPE]),
    Case("TRAPPIST-1 atmospheres", first=[ATMOSPHERES], note=""),
    Case("TRAPPIST-1 telescope", finds={ATMOSPHERES, TELESCOPE}, note="No paper has all the words"),
    Case("TRAPPIST-9", finds={TELESCOPE, ATMOSPHERES}, note='No paper has "trappist 9"'),
    Case("COVID-19", finds={VACCINES}),
    Case("COVID-19 vaccines", first=[VACCINES]),
    Case("GJ-1214b", finds={WATER_WORLD}),
    Case("GJ 1214b", first=[WATER_WORLD]),
    Case("planets -TRAPPIST-1", finds={FLARES, HABITABILITY}),
    Case("trappist-1 OR covid-19", finds={ATMOSPHERES, VACCINES}),
    Case("TRAPPIST-1 OR COVID-19", finds={ATMOSPHERES, VACCINES, TELESCOPE}),
    Case("planets AND TRAPPIST-1", finds={ATMOSPHERES}),
    Case("19 ways", first=[COUNTING]),
    # All words, then any
    Case("rocky planets", first=[HABITABILITY, ATMOSPHERES, FLARES]),
    Case("flares planets", first=[FLARES, HABITABILITY, ATMOSPHERES], note=""),
    Case("flares zebra", finds={FLARES, HABITABILITY}, dropped=["zebra"], note="No paper has: zebra"),
    Case("vaccines oceans", finds={VACCINES, HABITABILITY}, note="No paper has all the words"),
    Case("zebra", finds=set(), note=""),
    Case("zhang atmospheres", first=[ATMOSPHERES], note=""),
    # Years
    Case("planets since 2015", finds={ATMOSPHERES, HABITABILITY}, filters={"year": ["2015.."]}, terms=["planets"]),
    Case("planets after 2016", finds={ATMOSPHERES}, filters={"year": ["2017.."]}),
    Case("planets before 2016", finds={FLARES}, filters={"year": ["..2015"]}),
    Case("planets until 2016", finds={FLARES, HABITABILITY}, filters={"year": ["..2016"]}),
    Case("planets not before 2016", finds={ATMOSPHERES, HABITABILITY}),
    Case("planets between 2015 and 2018", finds={HABITABILITY}, filters={"year": ["2015..2018"]}),
    Case("planets published since 2015", finds={ATMOSPHERES, HABITABILITY}, terms=["planets"]),
    Case("planets 2016 or later", finds={ATMOSPHERES, HABITABILITY}),
    Case("planets seit 2016", finds={ATMOSPHERES, HABITABILITY}),
    Case("planets avant 2015", finds={FLARES}),
    Case("since 2021", finds={TELESCOPE, VACCINES, CHINESE}),
    Case("1918 influenza", first=[INFLUENZA], filters={}),
    Case("the 1918 influenza before 1900", first=[INFLUENZA], note="before 1900"),
    Case('"before photography"', finds={COMETS}, filters={}),
    Case("year > 2020 planets OR telescope", finds={TELESCOPE}, filters={"year": [">2020"]}),
    Case("planets year>=2016", finds={ATMOSPHERES, HABITABILITY}),
    Case("planets year = 2014", finds={FLARES}),
    Case("comets by year", first=[COMETS], filters={}),
    # Fields
    Case("author: Zhang", finds={ATMOSPHERES, FLARES}, filters={"author": ["zhang"]}),
    Case("author : Zhang", finds={ATMOSPHERES, FLARES}),
    Case('author: "Wei Zhang"', finds={ATMOSPHERES}, filters={"author": ["wei zhang"]}),
    Case("author=Zhang planets", finds={ATMOSPHERES, FLARES}),
    Case("autor:Zhang", finds={ATMOSPHERES, FLARES}, filters={"author": ["zhang"]}),
    Case("auteur: Zhang", finds={ATMOSPHERES, FLARES}, filters={"author": ["zhang"]}),
    Case("auhtor:Zhang", finds={ATMOSPHERES, FLARES}, note="auhtor: is not a field; it was read as author:"),
    Case("Titel:flares", finds={FLARES}, filters={"title": ["flares"]}),
    Case("journal:stars flares", finds={FLARES, HABITABILITY}, filters={"venue": ["stars"]}),
    Case("Jahr: 2014", finds={FLARES}, filters={"year": ["2014"]}),
    Case("keywords:oceans", finds={HABITABILITY}, filters={"keyword": ["oceans"]}),
    Case("作者：王伟", finds={CHINESE}, filters={"author": ["王伟"]}),
    Case("-autor:Zhang flares", finds={HABITABILITY}),
    Case("colour:red comets", first=[COMETS], terms=["colour", "red", "comets"], note="colour: is not a field"),
    Case("Title: The Michael addition", first=[ADDITION], filters={}),
    Case("note: the sort order", first=[SORTING], filters={}),
    Case("doi: 10.5555/T1.2019", finds={ATMOSPHERES}),
    Case("doi:https://doi.org/10.5555/t1.2019", finds={ATMOSPHERES}),
    Case("  10.5555/t1.2019 ", finds={ATMOSPHERES}),
    # Orders
    Case("planets sort:year", first=[ATMOSPHERES, HABITABILITY, FLARES], terms=["planets"], sort="year_desc"),
    Case("planets sort:oldest", first=[FLARES, HABITABILITY, ATMOSPHERES], sort="year_asc"),
    Case("planets sort: title", first=[ATMOSPHERES, HABITABILITY, FLARES], sort="title_asc"),
    Case("planets sort:citations", first=None, terms=["planets"], note="sort:citations is not an order"),
    Case("sort order", first=[SORTING], sort=None, terms=["sort", "order"]),
    Case("sort:year", first=[CHINESE], sort="year_desc"),
    # SQL
    Case(
        "SELECT * FROM papers WHERE year > 2020",
        finds={TELESCOPE, VACCINES, CHINESE},
        filters={"year": [">2020"]},
        note="SQL is not executed; the query was read as: year:>2020",
    ),
    Case(
        "select title, year from papers where author like '%Zhang%' and year between 2010 and 2015 order by year desc;",
        finds={FLARES},
        filters={"author": ["zhang"], "year": ["2010..2015"]},
        sort="year_desc",
    ),
    Case("SELECT title FROM papers WHERE abstract LIKE '%rocky planets%'", finds={ATMOSPHERES, HABITABILITY}),
    Case(
        "SELECT * FROM papers WHERE citations > 100 AND year = 2014", finds={FLARES}, note="citations > 100 was ignored"
    ),
    Case("SELECT * FROM p WHERE author != 'Zhang' AND keyword IN ('flares', 'oceans')", finds={HABITABILITY}),
    Case("SELECT * FROM papers LIMIT 3", note="LIMIT 3 was ignored"),
    Case("select the larger of keys from networks", first=[SORTING], note="Too common"),
    Case("'; DROP TABLE papers; --", note=None),
    # Spellings
    Case("müller", finds={ATMOSPHERES, TELESCOPE}),
    Case("Mueller", finds={ATMOSPHERES, TELESCOPE}, first=[TELESCOPE]),
    Case("author:müller", finds={ATMOSPHERES, TELESCOPE}),
    Case("author:Mueller", finds={ATMOSPHERES, TELESCOPE}),
    Case('author:"Mueller, Ana"', finds={ATMOSPHERES}),
    Case("muller", finds={ATMOSPHERES}),
    Case("Schroedinger equation", first=[EQUATION, GRAPHS], note=""),
    Case("Schrödinger equation", first=[GRAPHS, EQUATION], note=""),
    Case('"schroedinger equation"', finds={EQUATION, GRAPHS}),
    Case("Goedel", finds={EQUATION}),
    Case("Göthe", finds={GRAPHS}),
    Case("Soeren Aangstroem", finds={VACCINES}, note=""),
    Case("Odegaard", finds={NOISE}),
    Case("strasse", finds={NOISE}),
    Case("Lefevre", finds={WATER_WORLD}),
    Case("Michael", finds={ADDITION}),
    Case("Michal", finds={THEOREM}),
    Case("Bauer", finds={THEOREM}),
    Case("author:Baur", finds={ADDITION}),
    # Broken and odd texts
    Case('"stellar flares', first=[FLARES], note="unmatched quotation mark"),
    Case("((stellar flares", first=[FLARES]),
    Case("stellar) flares]", first=[FLARES]),
    Case("“stellar flares”", finds={FLARES}),
    Case("flares 🪐✨", finds={FLARES, HABITABILITY}),
    Case("🪐", finds=set(), note="no words"),
    Case("深度学习", finds={CHINESE}),
    Case("深度学习 🪐 综述", finds={CHINESE}),
    Case("\u202eflares\u200b", finds={FLARES, HABITABILITY}),
    Case("flares;;;,,,!!!", finds={FLARES, HABITABILITY}),
    Case("logic AND gates", finds={GATES}),
]


def test_the_table_is_long_enough() -> None:
    assert len({case.query for case in CASES}) >= 120


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.query[:60].encode("ascii", "replace").decode())
def test_a_query_finds_the_intended_papers(sky: Library, case: Case) -> None:
    page = sky.search(case.query, limit=100)
    reading: dict[str, Any] = page["interpreted_query"]
    notes = " ".join(reading["ignored"])
    if case.finds is not None:
        assert set(list_titles(page)) == case.finds, reading
        assert page["total"] == len(case.finds)
    if case.first is not None:
        assert list_titles(page)[: len(case.first)] == case.first, reading
    for name in ("filters", "terms", "dropped", "sort"):
        if (expected := getattr(case, name)) is not None:
            assert reading.get(name) == expected, reading
    if case.note is not None:
        assert case.note in notes if case.note else not notes, notes
