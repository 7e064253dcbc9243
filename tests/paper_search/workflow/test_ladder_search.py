"""A search climbs its ladder over an emulated literature and finds papers that the strict query misses."""

from typing import Any

from paper_search.models import PaperCollection, RawPaper
from paper_search.testing import EmulatedBooleanSource, EmulatedLiterature, EmulatedRankedSource, ScriptedDecisions
from tests.paper_search.workflow.runs import APPROVE, EDIT, REJECT, get_strategy, make_workflow

QUESTION = "effectiveness of light therapy for jet lag"
STRICT = [f"Light therapy for jet lag in crew {number}" for number in range(3)]
LOOSE = [
    "Jet lag and therapy with bright light",
    "Bright light reduces lag after a jet flight: a therapy",
    "Lag of the body clock and light",
]
OTHERS = [
    f"{topic} of {thing}"
    for topic in ("Chemistry", "History", "Economy", "Sound")
    for thing in ("bells", "rope", "ink", "tea")
]


def make_literature() -> EmulatedLiterature:
    titles = [*STRICT, *LOOSE, *OTHERS]
    return EmulatedLiterature(
        RawPaper(title=title, abstract="", year=2000 + number, source="records", doi=f"10.1/{number}")
        for number, title in enumerate(titles)
    )


def list_titles(result: PaperCollection) -> set[str]:
    return {paper.title for paper in result.papers}


async def test_a_boolean_source_finds_more_than_the_strict_query_matches() -> None:
    literature = make_literature()
    source = EmulatedBooleanSource(literature)
    result = await make_workflow(None, [source], max_iterations=1).run(QUESTION)
    strict = result.metadata.search_strategy.queries[0]
    assert strict.boolean_query == '("jet lag" OR "jet lags") AND "light therapy"'
    matched = {literature.papers[index].title for index in literature.find_matches(strict.boolean_query)}
    assert matched == set(STRICT)
    assert list_titles(result) == {*STRICT, *LOOSE}
    assert not any("effectiveness" in text for text in source.asked)
    assert source.asked[0] == strict.boolean_query


async def test_a_ranking_source_receives_words_and_each_report_names_every_query() -> None:
    literature = make_literature()
    boolean, ranked = EmulatedBooleanSource(literature), EmulatedRankedSource(literature)
    result = await make_workflow(None, [boolean, ranked], max_iterations=1).run(QUESTION)
    assert list_titles(result) >= {*STRICT, *LOOSE}
    assert ranked.asked[0] == "light therapy jet lag"
    assert not any(" AND " in text for text in ranked.asked)
    queries = result.metadata.search_strategy.queries
    reports = {report.name: report for report in result.metadata.round_logs[0].sources}
    assert [report.text for report in reports["boolean"].queries] == [
        query.boolean_query for query in queries if query.boolean_query
    ]
    assert [report.text for report in reports["ranked"].queries] == [query.words for query in queries if query.words]


async def test_a_search_that_has_enough_papers_does_not_climb() -> None:
    source = EmulatedBooleanSource(make_literature())
    result = await make_workflow(None, [source], max_iterations=1, max_results=3).run(QUESTION)
    assert list_titles(result) == set(STRICT)
    assert len(source.asked) == 1


async def test_concepts_and_exclusions_that_a_person_took_out_of_a_plan_stay_out_of_later_ones() -> None:
    source = EmulatedRankedSource(make_literature())
    without_not: dict[str, Any] = {"queries": [{"keywords": [], "boolean_query": "light AND lag"}]}
    blocks: dict[str, Any] = {
        "blocks": [{"name": "light", "variants": ["light"]}, {"name": "therapy", "variants": ["therapy"]}]
    }
    edits = [EDIT.model_copy(update={"revised_data": data}) for data in (without_not, blocks)]
    handler = ScriptedDecisions([edits[0], REJECT, edits[1], REJECT, APPROVE, APPROVE])
    await make_workflow(handler, [source]).run("effectiveness of light therapy for jet lag without mice")
    first, last = (get_strategy(handler, index) for index in (0, 4))
    assert all("mice" in query.boolean_query + query.words for query in first.queries)
    assert [block.name for block in last.blocks] == ["light", "therapy"]
    texts = [query.boolean_query + query.words for query in last.queries]
    assert texts
    assert not any(word in text for text in texts for word in ("mice", "jet", "lag"))


async def test_the_origin_of_blocks_that_papers_taught_says_so_and_that_a_person_set_the_others() -> None:
    source = EmulatedRankedSource(make_literature())
    data = {"blocks": [{"name": "light", "variants": ["light"]}]}
    edit = EDIT.model_copy(update={"revised_data": data})
    marks = REJECT.model_copy(update={"note": "more on aviation"})
    handler = ScriptedDecisions([edit, marks, APPROVE, APPROVE])
    await make_workflow(handler, [source]).run(QUESTION)
    (origin,) = [origin for origin in get_strategy(handler, 2).origins if origin.part == "blocks"]
    assert origin.value == "light, aviation"
    assert (origin.reason, origin.by_person) == ("adds what the feedback and the papers ask for", True)


async def test_the_next_plan_orders_its_concepts_by_the_counts_of_the_sources() -> None:
    words = ("zorblat", "quendix", "frimmel")  # words that no shipped count knows, so that estimates are equal
    titles = [f"zorblat quendix {number}" for number in range(60)]
    titles += [f"{first} frimmel {number}" for number in range(2) for first in words[:2]]
    source = EmulatedBooleanSource(
        EmulatedLiterature(
            RawPaper(title=title, abstract="", year=2000, source="records", doi=f"10.1/{number}")
            for number, title in enumerate(titles)
        )
    )
    handler = ScriptedDecisions([APPROVE, REJECT, APPROVE, APPROVE])
    await make_workflow(handler, [source]).run("zorblat for quendix in frimmel")
    first, second = (get_strategy(handler, index) for index in (0, 2))
    shares = {block.name: block.share for block in first.blocks}
    assert list(shares) == list(words)
    assert len(set(shares.values())) == 1
    assert min(second.blocks, key=lambda block: block.share or 1.0).name == "frimmel"
    assert any(note.startswith("By the counts of the sources, ") for note in second.notes)
