"""Strategies that librarians paste run in the syntax of each source, and stay as they were written."""

import pytest

from paper_search.errors import InvalidDecision, InvalidQuery
from paper_search.models import SearchConstraints, SearchQuery
from paper_search.sources.europepmc import EuropePmc
from paper_search.sources.openalex import OpenAlex
from paper_search.sources.pubmed import PubMed
from paper_search.sources.query_translation import translate_queries
from paper_search.sources.response_bodies import get_params
from paper_search.testing import (
    EmulatedBooleanSource,
    EmulatedLiterature,
    EmulatedRankedSource,
    FakeSource,
    ScriptedDecisions,
)
from paper_search.workflow import StrategyPayload
from tests.paper_search.workflow.runs import APPROVE, MOONS, get_strategy, make_edit, make_reject, make_workflow
from tests.paper_search.workflow.samples import make_record

LINES = """#1 "Moons"[Mesh] OR moon*[tiab]
#2 tidal[tiab] AND heating[tiab]
#3 #1 AND #2 AND 2010:2020[dp]
"""
LONG = " OR ".join(f'"word {number} of many"[tiab]' for number in range(700))


def make_query(text: str) -> SearchQuery:
    return SearchQuery(keywords=[], boolean_query=text)


def read_request(
    source: PubMed | EuropePmc | OpenAlex, text: str, year_from: int | None = None
) -> tuple[str, dict[str, str]]:
    (request,) = source.build_requests(make_query(text), SearchConstraints(year_from=year_from), 50)
    return request.method, get_params(request)


def test_pubmed_receives_tags_headings_and_ranges_unchanged_and_lines_in_one_expression() -> None:
    method, params = read_request(PubMed(), LINES, year_from=2010)
    assert method == "GET"
    assert params["term"] == (
        '(("Moons"[Mesh] OR moon*[tiab]) AND tidal[tiab] AND heating[tiab] AND 2010:2020[dp]) AND 2010:3000[dp]'
    )


def test_europe_pmc_receives_its_own_fields() -> None:
    _, params = read_request(EuropePmc(), LINES)
    assert params["query"] == (
        '((KW:"Moons" OR TITLE_ABS:moon*) AND TITLE_ABS:tidal AND TITLE_ABS:heating '
        "AND FIRST_PDATE:[2010-01-01 TO 2020-12-31])"
    )


def test_other_boolean_sources_receive_the_words() -> None:
    _, params = read_request(OpenAlex(), LINES)
    assert params["search"] == "((Moons OR moon*) AND tidal AND heating)"


@pytest.mark.parametrize("source", [PubMed(), EuropePmc()])
def test_a_long_strategy_is_sent_whole_in_the_body_of_a_post(source: PubMed | EuropePmc) -> None:
    method, params = read_request(source, LONG)
    assert method == "POST"
    text = params.get("term") or params["query"]
    assert "word 0 of many" in text
    assert "word 699 of many" in text


def test_a_source_with_a_limit_keeps_alternatives_of_every_condition() -> None:
    blocks = [" OR ".join(f"{name}{number}[tiab]" for number in range(150)) for name in ("gout", "diet", "trial")]
    _, params = read_request(OpenAlex(), " AND ".join(f"({block})" for block in blocks))
    assert all(f"{name}0" in params["search"] for name in ("gout", "diet", "trial"))


def test_the_translations_say_what_each_source_changes() -> None:
    (views,) = translate_queries(
        ["pubmed", "europepmc", "openalex", "crossref"], [make_query(LINES)], SearchConstraints()
    )
    notes = {view["source"]: " ".join(view["notes"]) for view in views}
    assert "MeSH" not in notes["pubmed"]
    assert "MeSH headings are searched as keywords" in notes["europepmc"]
    assert "MeSH headings are searched as words" in notes["openalex"]
    assert "Not searched as words: 2010:2020[dp]" in notes["openalex"]
    assert "Only the words are sent" in notes["crossref"]


async def test_a_strategy_is_searched_as_it_was_pasted_with_its_limits_for_all_sources() -> None:
    source = FakeSource("alpha", MOONS)
    handler = ScriptedDecisions([APPROVE, APPROVE])
    await make_workflow(handler, [source]).run(LINES)
    assert [query.boolean_query for query in source.asked[0].queries] == [LINES.strip()]
    assert (source.asked[0].filters.year_from, source.asked[0].filters.year_to) == (2010, 2020)
    payload = handler.seen[0].payload
    assert isinstance(payload, StrategyPayload)
    assert payload.intent.topic == "Moons, tidal, heating"
    assert "2010:2020[dp] limits all sources." in payload.intent.notes


async def test_warnings_do_not_stop_a_search_and_are_in_the_checkpoint() -> None:
    handler = ScriptedDecisions([APPROVE, APPROVE])
    await make_workflow(handler).run("moons[ti] or “icy satellites”[ti] AND tides[ti]")
    payload = handler.seen[0].payload
    assert isinstance(payload, StrategyPayload)
    assert [(finding.start, finding.end) for finding in payload.findings] == [(10, 12), (13, 14), (28, 29), (34, 37)]
    assert payload.findings[0].correction == {"start": 10, "end": 12, "text": "OR"}
    assert all(finding.severity == "warning" for finding in payload.findings)


@pytest.mark.parametrize(
    "text", ["moons[ti] AND (tides[ti]", "#1 moons[ti]\n#2 #1 AND #5", "moons[tiaab] AND tides[ti]"]
)
async def test_a_broken_strategy_is_refused_with_its_position_before_any_work(text: str) -> None:
    source = FakeSource("alpha", MOONS)
    with pytest.raises(InvalidQuery, match="has an error at character") as caught:
        await make_workflow(None, [source]).run(text)
    assert caught.value.ids["problems"][0]["start"] < len(text)
    assert source.asked == []


async def test_an_edited_strategy_keeps_its_lines_tags_and_stars_in_all_rounds() -> None:
    source = FakeSource("alpha", MOONS)
    edit = make_edit(queries=[{"keywords": [], "boolean_query": LINES}])
    handler = ScriptedDecisions([edit, make_reject(), APPROVE, APPROVE])
    await make_workflow(handler, [source]).run("icy moons")
    assert [query.boolean_query for query in source.asked[0].queries] == [LINES]
    assert source.asked[1].queries[0].boolean_query == LINES


async def test_an_edit_with_a_broken_strategy_is_refused() -> None:
    edit = make_edit(queries=[{"keywords": [], "boolean_query": "moons[ti] OR"}])
    with pytest.raises(InvalidDecision, match="nothing after"):
        await make_workflow(ScriptedDecisions([edit])).run("icy moons")


async def test_what_feedback_excludes_is_added_to_the_strategy_and_its_tags_stay() -> None:
    handler = ScriptedDecisions([APPROVE, make_reject(free_text_feedback="exclude rings"), APPROVE, APPROVE])
    await make_workflow(handler).run('"Moons"[Mesh] AND tid*[tiab]')
    assert get_strategy(handler, 2).queries[0].boolean_query == '"Moons"[Mesh] AND tid*[tiab] NOT rings NOT ring'


def make_literature() -> EmulatedLiterature:
    titles = [
        "Tidal heating of moons",
        "Tidal heating of planets",
        "Moonquakes and tidal heating",
        "Muscarinic receptors in moons",
        "Moons and tidal heating in animals",
    ]
    return EmulatedLiterature([make_record(title, doi=f"10.1000/{index}") for index, title in enumerate(titles)])


@pytest.mark.parametrize("kind", [EmulatedBooleanSource, EmulatedRankedSource])
async def test_sources_of_a_kind_find_the_papers_of_a_strategy(
    kind: type[EmulatedBooleanSource | EmulatedRankedSource],
) -> None:
    source = kind(make_literature())
    text = "(moon*[tiab] AND tidal[tiab] AND heating[tiab]) NOT (animals[mh] NOT humans[mh])"
    handler = ScriptedDecisions([APPROVE, APPROVE])
    result = await make_workflow(handler, [source]).run(text)
    titles = {paper.title for paper in result.papers}
    assert {"Tidal heating of moons", "Moonquakes and tidal heating", "Moons and tidal heating in animals"} <= titles
    if kind is EmulatedBooleanSource:
        assert source.asked == ["moon* AND tidal AND heating"]
        assert "Tidal heating of planets" not in titles
        (report,) = result.metadata.sources
        assert any("Excluded only by sources with this field" in change for change in report.queries[0].changes)
