"""`max_results` is the number of papers that a person gets, if the sources have as many distinct ones."""

from collections.abc import Sequence

import pytest

from paper_search.models import RawPaper, SearchStrategy
from paper_search.sources.interfaces import SearchSource
from paper_search.testing import EmulatedBooleanSource, EmulatedLiterature, EmulatedRankedSource, FakeSource
from tests.paper_search.workflow.runs import QUERY, make_workflow
from tests.paper_search.workflow.samples import make_record

SYLLABLES = ("ba", "cre", "di", "fo", "gu", "la", "me", "ni", "po", "ru")


def make_title(number: int) -> str:
    name = "".join(SYLLABLES[number // step % 10] for step in (1, 10, 100))
    return f"Tidal heating of the icy moons of {name.title()}"


def make_papers(count: int, source: str = "alpha") -> list[RawPaper]:
    return [make_record(make_title(number), source, doi=f"10.1000/moons.{number}") for number in range(count)]


def add_repeats(papers: Sequence[RawPaper], **changes: object) -> list[RawPaper]:
    """Return the papers, every fourth of them twice in a row, the second time as another record."""
    listed: list[RawPaper] = []
    for number, paper in enumerate(papers):
        listed.append(paper)
        if number % 4 == 0:
            fields = paper.model_dump(exclude={"id", "records", "retraction"})
            listed.append(RawPaper.model_validate({**fields, **changes, "records": []}))
    return listed


class CountingSource(SearchSource):
    """A source with a kind that returns as many papers as a call asks for."""

    kind = "ranked"

    def __init__(self, name: str, papers: Sequence[RawPaper]) -> None:
        self._name = name
        self._papers = list(papers)

    @property
    def source_name(self) -> str:
        return self._name

    async def search_advanced(self, strategy: SearchStrategy) -> list[RawPaper]:
        return self._papers[: strategy.filters.max_results]


async def count_results(sources: Sequence[SearchSource], wanted: int = 100) -> int:
    return len((await make_workflow(None, sources, max_results=wanted).run(QUERY)).papers)


async def test_two_sources_with_the_same_papers_give_as_many_as_wanted() -> None:
    assert await count_results([FakeSource(name, make_papers(150, name)) for name in ("alpha", "beta")]) == 100


async def test_overlapping_queries_of_two_kinds_of_sources_give_as_many_as_wanted() -> None:
    literature = EmulatedLiterature(make_papers(150))
    assert await count_results([EmulatedBooleanSource(literature), EmulatedRankedSource(literature)]) == 100


@pytest.mark.parametrize("source", [FakeSource, CountingSource])
@pytest.mark.parametrize(
    "changes",
    [{"title": "Heating of icy satellites by tides"}, {"doi": None, "identifiers": {}}],
    ids=["same DOI", "same title"],
)
async def test_records_of_one_paper_in_one_source_do_not_use_up_the_limit(
    source: type[FakeSource] | type[CountingSource], changes: dict[str, object]
) -> None:
    papers = add_repeats(make_papers(120), **changes)
    assert len(papers) == 150
    assert await count_results([source("alpha", papers)]) == 100


async def test_fewer_papers_than_wanted_are_all_returned() -> None:
    assert await count_results([FakeSource("alpha", add_repeats(make_papers(80)))]) == 80
