"""Plans as one query for other databases: from the concepts of a question, and from queries that a person wrote."""

import pytest

from paper_search.domain.strategies.lint import list_query_errors
from paper_search.models import QueryBuilderInput, SearchConstraints, SearchQuery, SearchStrategy
from paper_search.skills.intent_parser import IntentParser
from paper_search.skills.query_builder import QueryBuilder
from paper_search.sources.query_translation import copy_plan, list_plan_copies


async def plan(question: str) -> SearchStrategy:
    return await QueryBuilder().build(QueryBuilderInput(intent=await IntentParser().parse(question)))


def make_plan(*texts: str, **limits: int | str) -> SearchStrategy:
    queries = [SearchQuery(keywords=[], boolean_query=text) for text in texts]
    return SearchStrategy(queries=queries, sources=[], filters=SearchConstraints.model_validate(limits))


async def test_the_concepts_of_a_question_are_searched_in_title_and_abstract() -> None:
    strategy = await plan("shift work and breast cancer since 2010, no reviews")
    text = copy_plan(strategy, "pubmed").text
    assert text.startswith('("shift work"[tiab] OR')
    assert '"breast cancer"[tiab]' in text
    assert "NOT" in text
    assert "2010:3000[dp]" in text
    assert list_query_errors(text) == []


async def test_there_is_a_copy_for_each_of_six_databases() -> None:
    copies = list_plan_copies(await plan("shift work and breast cancer"))
    assert [copy.platform for copy in copies] == ["pubmed", "ovid", "wos", "scopus", "embase", "cochrane"]
    assert all("breast" in copy.text for copy in copies)
    assert "'shift work'" in copies[4].text


async def test_concepts_that_are_off_are_not_copied() -> None:
    strategy = await plan("shift work and breast cancer")
    strategy.blocks[0].active = False
    assert "shift" not in copy_plan(strategy, "pubmed").text


@pytest.mark.parametrize(
    ("strategy", "expected"),
    [
        (make_plan("gout[ti] AND diet[ti]"), "gout[ti] AND diet[ti]"),
        (make_plan("gout[ti]", "diet AND food"), "gout[ti] OR (diet AND food)"),
        (make_plan("gout[ti]", year_from=2010, language="German"), "gout[ti] AND 2010:3000[dp] AND german[la]"),
        (make_plan("gout[ti] AND 2010:2020[dp]", year_from=2010, year_to=2020), "gout[ti] AND 2010:2020[dp]"),
        (make_plan("(gout", year_from=2010), "gout AND 2010:3000[dp]"),
    ],
)
def test_queries_of_a_person_are_copied_with_the_limits_of_the_plan(strategy: SearchStrategy, expected: str) -> None:
    assert copy_plan(strategy, "pubmed").text == expected


def test_a_plan_without_a_query_has_empty_copies() -> None:
    assert {copy.text for copy in list_plan_copies(make_plan())} == {""}
