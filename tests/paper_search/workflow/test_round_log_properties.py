"""For any answers and decisions, the search log adds up and no paper is lost."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from paper_search.domain.query.query_texts import select_queries
from paper_search.domain.review_models import ExclusionReason, ReviewStatus
from paper_search.errors import NonRetryableError, RetryableError
from paper_search.models import Author, PaperCollection, RawPaper, SearchStrategy, SourceReport, SourceStatus
from paper_search.sources.interfaces import SourceResult
from paper_search.testing import ScriptedDecisions
from paper_search.workflow import Checkpoint, Decision, DecisionAction, ResultPayload
from tests.paper_search.workflow.runs import QUERY, RoundsSource, make_workflow
from tests.paper_search.workflow.samples import make_record

ROUNDS = 4
NAMES = ["alpha", "beta", "gamma"]
SUBJECTS = ["Tidal heating of icy moons", "Tidal heating of moons", "Heating of icy moons", "A census of geckos"]
STATUSES = [status.value for status in ReviewStatus]


DOI, PREPRINT, BOTH, NEITHER, UNTITLED = range(5)
Form = tuple[int, int]
Answer = list[Form] | Exception


def make_form_record(form: Form, source: str) -> RawPaper:
    """One form in which sources describe a work; only a record with both ids unites two papers."""
    work, kind = form
    subject, letter = SUBJECTS[work % len(SUBJECTS)], "ABCDE"[work]
    title = f"{subject}, case {letter}" if kind != PREPRINT else f"{letter} and {subject.lower()}"
    return make_record(
        title if kind != UNTITLED else "",
        source,
        authors=[] if kind == PREPRINT else [Author(name="Tycho Brahe")],
        doi=f"10.1000/{work}" if kind in (DOI, BOTH) else None,
        identifiers={"arxiv": f"2101.{work:05}"} if kind in (PREPRINT, BOTH) else {},
        year=1995 + 5 * work,
        language="fr" if work == 4 else None,
        records=[],
    )


forms = st.tuples(st.integers(0, 4), st.sampled_from([DOI, PREPRINT, BOTH, DOI, PREPRINT, BOTH, NEITHER, UNTITLED]))
answers = st.lists(forms, max_size=10)
failures = st.sampled_from(
    [NonRetryableError("refused"), RetryableError("slow down", rate_limited=True), ValueError("odd")]
)
edits: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {},
    optional={
        "filters": st.fixed_dictionaries(
            {
                "max_results": st.integers(1, 12),
                "year_from": st.sampled_from([None, 2000]),
                "year_to": st.sampled_from([None, 2015]),
            },
            optional={"language": st.just("en")},
        ),
        "sources": st.lists(st.sampled_from(NAMES), min_size=1, unique=True),
        "queries": st.sampled_from(
            [
                [{"keywords": ["moons"], "boolean_query": "moons"}],
                [{"keywords": ["moons"], "boolean_query": 'moons NOT "case B"'}],
            ]
        ),
    },
)
texts = st.sampled_from([None, "wider", "fewer results", "also geckos, no sourdough", "since 2005", "newer"])


class CountingSource(RoundsSource):
    """A source that returns a report, like HTTP sources."""

    async def search_with_report(self, strategy: SearchStrategy) -> SourceResult:
        papers = await self.search_advanced(strategy)
        limited = papers[: strategy.filters.max_results]
        removed = {"over_source_limit": len(papers) - len(limited), "duplicate": 2}
        report = SourceReport(
            name=self.source_name,
            status=SourceStatus.OK if limited else SourceStatus.EMPTY,
            returned=len(limited),
            removed=removed,
            requests=[f"https://{self.source_name}.example/{len(self.asked)}"],
        )
        return SourceResult(limited, report)


class Person:
    """Decides each checkpoint with values from Hypothesis, and stores the checkpoints."""

    def __init__(self, data: st.DataObject) -> None:
        self._data = data
        self.reviews: list[PaperCollection] = []

    async def handle(self, checkpoint: Checkpoint) -> Decision:
        draw = self._data.draw
        if isinstance(checkpoint.payload, ResultPayload):
            action = draw(st.sampled_from([*["reject"] * 5, "edit", "approve"]))
            note = draw(texts) if action != "approve" else None
            return Decision(action=DecisionAction(action), revised_data=self._decisions(checkpoint.payload), note=note)
        if draw(st.booleans()) and (edit := draw(edits)):
            return Decision(action=DecisionAction.EDIT, revised_data=edit)
        action = draw(st.sampled_from([*["approve"] * 5, "reject"]))
        return Decision(action=DecisionAction(action), note=draw(texts))

    def _decisions(self, payload: ResultPayload) -> dict[str, Any]:
        self.reviews.append(payload.collection)
        known = [paper.id for paper in payload.collection.papers]
        known += [other for paper in payload.collection.papers for other in paper.other_ids]
        known += [exclusion.paper_id for exclusion in payload.collection.metadata.exclusions]
        if not known:
            return {}
        chosen = self._data.draw(st.dictionaries(st.sampled_from(known), st.sampled_from(STATUSES), max_size=5))
        return {"decisions": chosen, "reviewer": self._data.draw(st.sampled_from(["mira", "noor"]))}


def make_sources(rounds: Sequence[dict[str, Answer]]) -> list[RoundsSource]:
    def answer(given: Answer, name: str) -> list[RawPaper] | Exception:
        return given if isinstance(given, Exception) else [make_form_record(form, name) for form in given]

    kinds = {"gamma": CountingSource}
    return [kinds.get(name, RoundsSource)(name, [answer(given[name], name) for given in rounds]) for name in NAMES]


def check_log(collection: PaperCollection) -> None:
    """Check that every count is the sum of its parts, by source, by round and in total."""
    facts = collection.metadata
    for log in facts.round_logs:
        for report in log.sources:
            assert report.received == report.returned + sum(report.removed.values())
        assert log.identified == sum(report.received for report in log.sources)
        duplicates = log.duplicates_within_round + log.duplicates_of_earlier_rounds
        assert log.identified == sum(log.removed_before_screening.values()) + duplicates + log.screened
        assert log.screened == sum(log.excluded.values()) + log.included
    assert sum(log.screened for log in facts.round_logs) == len(facts.exclusions) + len(collection.papers)
    assert sum(log.included for log in facts.round_logs) == len(collection.papers)
    by_reason: Counter[str] = Counter()
    for log in facts.round_logs:
        by_reason.update(log.excluded)
    assert by_reason == Counter(exclusion.reason.value for exclusion in facts.exclusions)
    ids = [paper.id for paper in collection.papers] + [exclusion.paper_id for exclusion in facts.exclusions]
    assert len(set(ids)) == len(ids)
    for exclusion in facts.exclusions:
        if exclusion.reason is ExclusionReason.BELOW_THRESHOLD:
            assert exclusion.score is not None
            assert exclusion.threshold is not None
            assert exclusion.score < exclusion.threshold
        assert (exclusion.reviewer is not None) == (exclusion.reason is ExclusionReason.BY_PERSON)
    for before, after in pairwise(facts.stage_counts):
        assert before.round != after.round or before.count_out == after.count_in


def check_growth(earlier: PaperCollection, later: PaperCollection) -> None:
    """Check that a paper leaves the result only by a decision or a merge."""
    present = {name for paper in later.papers for name in (paper.id, *paper.other_ids)}
    refused = {
        name
        for exclusion in later.metadata.exclusions
        if exclusion.reason is ExclusionReason.BY_PERSON
        for name in (exclusion.paper_id, *exclusion.other_ids)
    }
    assert {paper.id for paper in earlier.papers} <= present | refused


@given(
    rounds=st.lists(st.fixed_dictionaries(dict.fromkeys(NAMES, answers | failures)), min_size=ROUNDS, max_size=ROUNDS),
    data=st.data(),
)
def test_the_log_of_any_session_adds_up_and_no_paper_is_lost(
    rounds: list[dict[str, Answer]], data: st.DataObject
) -> None:
    sources, person = make_sources(rounds), Person(data)
    limit = data.draw(st.integers(1, 6))
    result = asyncio.run(make_workflow(person, sources, max_iterations=ROUNDS, max_results=limit).run(QUERY))
    seen = [*person.reviews, result]
    for collection in seen:
        check_log(collection)
    for earlier, later in pairwise(seen):
        check_growth(earlier, later)
    for source in sources:
        asked = [
            log.strategy for log in result.metadata.round_logs if source.source_name in _list_sources(log.strategy)
        ]
        selects = isinstance(source, CountingSource)  # a source that reports receives all queries and selects its own
        received = [one.queries if selects else select_queries(None, one.queries) for one in asked]
        assert [strategy.queries for strategy in source.asked] == received
    requests = [address for log in result.metadata.round_logs for report in log.sources for address in report.requests]
    assert len(requests) == len(set(requests))


def _list_sources(strategy: SearchStrategy) -> list[str]:
    return strategy.sources or NAMES


def test_a_record_without_title_and_identifiers_that_a_source_sends_again_stays_one_paper() -> None:
    rounds: list[dict[str, Answer]] = [{"alpha": [], "beta": [], "gamma": [(0, UNTITLED)]} for _ in range(ROUNDS)]
    person = ScriptedDecisions(["approve", "reject"] * ROUNDS)
    result = asyncio.run(make_workflow(person, make_sources(rounds), max_iterations=ROUNDS).run(QUERY))
    check_log(result)
    assert len(result.papers) == 1
    assert [log.duplicates_of_earlier_rounds for log in result.metadata.round_logs] == [0, 1, 1, 1]
