"""Tests of merges and splits by reviewers: in the pool, over rounds, and in the search log."""

import asyncio
import json
import re
from collections import Counter
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paper_search.domain.review_models import PaperDecision, ReviewStatus, Sender, UserFeedback
from paper_search.errors import InvalidDecision
from paper_search.export import export
from paper_search.export.prisma_flow import DUPLICATE_BY_AGENT, DUPLICATE_BY_PERSON, build_prisma_flow
from paper_search.models import Paper, PaperCollection, RawPaper, RoundLog, SourceRecord
from paper_search.skills.deduplicator import Deduplicator
from paper_search.testing import ScriptedDecisions
from paper_search.workflow import Decision, DecisionAction
from paper_search.workflow.duplicate_corrections import DuplicateCorrections
from paper_search.workflow.paper_pool import Pool
from paper_search.workflow.rounds import add_inclusion_counts, build_round_log, recount_duplicates
from paper_search.workflow.skill_interfaces import PlainRecordMerger, RecordMerger, SearchOutcome
from tests.paper_search.workflow.runs import APPROVE, RoundsSource, get_review, make_workflow
from tests.paper_search.workflow.samples import make_record, make_strategy
from uraniborg.kernel.actors import Actor

AT = datetime(2026, 1, 1, tzinfo=UTC)
TITLE = "Tidal heating of icy moons"
OTHER = "Tidal heating in the mantles of moons"


def make_found(name: str, title: str = TITLE, source: str = "alpha", **fields: Any) -> RawPaper:
    return make_record(title, source, records=[SourceRecord(source=source, record_id=name)], **fields)


TWINS = [make_found("a1"), make_found("b1", source="beta", doi="10.1000/moons.1")]
STRANGER = make_found("c1", OTHER, doi="10.1000/moons.2")


def search_rounds(*rounds: list[RawPaper], decisions: list[Decision]) -> tuple[PaperCollection, ScriptedDecisions]:
    handler = ScriptedDecisions(decisions)
    sources = [RoundsSource("alpha", rounds)]
    return asyncio.run(make_workflow(handler, sources).run("tidal heating of icy moons")), handler


def decide(action: str, **feedback: Any) -> Decision:
    return Decision(action=DecisionAction(action), revised_data=feedback)


def list_records(collection: PaperCollection) -> list[list[str]]:
    return sorted(sorted(record.record_id for record in paper.records) for paper in collection.papers)


def find_paper(collection: PaperCollection, record_id: str) -> Paper:
    return next(paper for paper in collection.papers if any(one.record_id == record_id for one in paper.records))


def get_id(record_id: str, *papers: RawPaper) -> str:
    """Return the id that the paper with this record has at the first review of these papers."""
    result, _ = search_rounds(list(papers), decisions=[APPROVE, APPROVE])
    return find_paper(result, record_id).id


def check_sums(collection: PaperCollection) -> None:
    flow = build_prisma_flow(collection)
    for box in (flow, *flow.rounds):
        assert sum(box.identified.values()) == sum(box.removed.values()) + box.screened
        assert box.screened == sum(box.excluded.values()) + box.included
        assert min([0, *box.removed.values(), *box.excluded.values()]) == 0
    for stage in collection.metadata.stage_counts:
        assert stage.count_in >= stage.count_out >= 0


def test_a_split_makes_each_record_a_paper_and_moves_it_from_the_duplicates_to_the_screened_records() -> None:
    paper_id = get_id("a1", *TWINS)
    before, _ = search_rounds(TWINS, decisions=[APPROVE, APPROVE])
    after, _ = search_rounds(TWINS, decisions=[APPROVE, decide("approve", split=[paper_id], reviewer="mira")])
    assert (list_records(before), list_records(after)) == ([["a1", "b1"]], [["a1"], ["b1"]])
    assert [build_prisma_flow(result).screened for result in (before, after)] == [1, 2]
    check_sums(after)
    (correction,) = after.metadata.corrections
    assert (correction.kind, correction.papers, correction.reviewer) == ("split", [paper_id], "mira")
    assert correction.at is not None
    assert {paper.relevance_reason for paper in after.papers} > {"Score of the paper that it was split from."}


def test_a_named_record_leaves_its_paper_and_the_others_stay_together() -> None:
    third = make_found("a2", source="gamma", doi="10.1000/moons.1")
    split = {"paper": get_id("a1", *TWINS, third), "records": [{"source": "alpha", "record_id": "a1"}]}
    result, _ = search_rounds([*TWINS, third], decisions=[APPROVE, decide("approve", split=[split])])
    assert list_records(result) == [["a1"], ["a2", "b1"]]
    check_sums(result)


def test_a_merge_by_hand_is_counted_as_a_duplicate_that_a_person_found() -> None:
    papers = [*TWINS, STRANGER]
    ids = [get_id(name, *papers) for name in ("a1", "c1")]
    result, _ = search_rounds(papers, decisions=[APPROVE, decide("approve", merge=[ids])])
    assert list_records(result) == [["a1", "b1", "c1"]]
    (paper,) = result.papers
    assert {*ids} <= {paper.id, *paper.other_ids}
    assert "merged by a person" in {record.reason for record in paper.records}
    flow = build_prisma_flow(result)
    assert flow.removed[DUPLICATE_BY_PERSON] == 1
    assert DUPLICATE_BY_AGENT not in flow.removed
    check_sums(result)
    for name in ("prisma", "prisma-svg"):
        assert "Duplicates merged by a person" in export(result, name)
    assert '"duplicate_by_person": 1' in export(result, "prisma-json")
    assert "## Merged and split by reviewers" in export(result, "prisma")


def test_later_rounds_keep_what_a_person_split_and_merged_also_if_the_records_come_again() -> None:
    papers = [*TWINS, STRANGER, make_found("d1", "A census of icy moons", doi="10.1000/moons.3")]
    corrections = {"split": [get_id("a1", *papers)], "merge": [[get_id(name, *papers) for name in ("c1", "d1")]]}
    newcomer = make_found("e1", source="delta", doi="10.1000/moons.1")
    result, handler = search_rounds(
        papers,
        [*papers, newcomer],
        papers,
        decisions=[APPROVE, decide("reject", **corrections), APPROVE, decide("reject"), APPROVE, APPROVE],
    )
    expected = [["a1"], ["b1", "e1"], ["c1", "d1"]]
    assert list_records(get_review(handler, 3)) == expected
    assert list_records(result) == expected
    check_sums(result)
    later = [log.duplicates_of_earlier_rounds for log in result.metadata.round_logs[1:]]
    assert later == [5, 4]
    assert find_paper(result, "c1").found_in_round == 0


def test_a_merge_undoes_a_split_and_a_split_undoes_a_merge() -> None:
    first = get_id("a1", *TWINS)
    split, _ = search_rounds(TWINS, decisions=[APPROVE, decide("approve", split=[first])])
    ids = [find_paper(split, name).id for name in ("a1", "b1")]
    rounds = [decide("reject", split=[first]), APPROVE, decide("reject", merge=[ids]), APPROVE]
    merged, _ = search_rounds(TWINS, [], [], decisions=[APPROVE, *rounds, APPROVE])
    assert list_records(merged) == [["a1", "b1"]]
    assert build_prisma_flow(merged).removed[DUPLICATE_BY_PERSON] == 1
    again, handler = search_rounds(
        TWINS, [], [], TWINS, decisions=[APPROVE, *rounds, decide("reject", split=ids[:1]), APPROVE, APPROVE]
    )
    assert list_records(again) == [["a1"], ["b1"]]
    assert [one.kind for one in again.metadata.corrections] == ["split", "merge", "split"]
    assert {paper.id for paper in again.papers} == set(ids)
    check_sums(again)
    assert first in {name for paper in again.papers for name in (paper.id, *paper.other_ids)}
    assert len(handler.seen) == 8


def test_former_ids_stand_for_one_paper_after_a_split_of_records_with_one_doi() -> None:
    pair = [make_found("a1", doi="10.1000/moons.1"), make_found("b1", source="beta", doi="10.1000/moons.1")]
    first = get_id("a1", *pair)
    result, _ = search_rounds(pair, decisions=[APPROVE, decide("approve", split=[first])])
    owners = [paper for paper in result.papers if first in (paper.id, *paper.other_ids)]
    assert len({paper.id for paper in result.papers}) == 2
    assert [paper.records[0].record_id for paper in owners] == ["a1"]


def test_undoing_a_merge_gives_each_paper_its_own_decisions_back_and_those_made_on_both() -> None:
    pool, corrections = make_pool(TWINS[1], STRANGER)
    left, right = (entry.id for entry in pool.entries)
    pool.add_decisions({left: PaperDecision(status=ReviewStatus.INCLUDE)}, "mira", AT)
    pool.add_decisions({right: PaperDecision(status=ReviewStatus.EXCLUDE, reason="old")}, "noor", AT)
    corrections.apply(UserFeedback.model_validate({"merge": [[left, right]]}), AT, Sender(by_agent=False))
    (merged,) = pool.entries
    assert {decision.reviewer: decision.status for decision in merged.decisions} == {
        "mira": "include",
        "noor": "exclude",
    }
    pool.add_decisions({merged.id: PaperDecision(status=ReviewStatus.MAYBE)}, "tycho", AT)
    corrections.apply(UserFeedback.model_validate({"split": [merged.id]}), AT, Sender(by_agent=False))
    by_id = pool.index_by_current_and_former_id()
    assert [{one.reviewer for one in by_id[name].decisions} for name in (left, right)] == [
        {"mira", "tycho"},
        {"noor", "tycho"},
    ]


def test_of_two_decisions_of_one_reviewer_at_one_time_the_one_on_the_first_paper_counts() -> None:
    pool, corrections = make_pool(TWINS[1], STRANGER)
    left, right = (entry.id for entry in pool.entries)
    given = {left: PaperDecision(status=ReviewStatus.INCLUDE), right: PaperDecision(status=ReviewStatus.EXCLUDE)}
    pool.add_decisions(given, "mira", AT)
    corrections.apply(UserFeedback.model_validate({"merge": [[left, right]]}), AT, Sender(by_agent=True))
    assert [one.status for one in pool.entries[0].decisions] == [ReviewStatus.INCLUDE]
    assert pool.corrections[0].by_agent


BAD: list[tuple[dict[str, Any], str]] = [
    ({"merge": [["A", "p_unknown"]]}, "No such paper"),
    ({"split": ["p_unknown"]}, "No such paper"),
    ({"merge": [["A"]]}, "at least 2 papers"),
    ({"merge": [["A", "A"]]}, "named twice"),
    ({"merge": [["A", "C"], ["C", "A"]]}, "named twice"),
    ({"split": ["C"]}, "has one record"),
    ({"split": ["A", "A"]}, "split twice"),
    ({"merge": [["A", "C"]], "split": ["A"]}, "both merged and split"),
    ({"split": [{"paper": "A", "records": [{"source": "alpha", "record_id": "zz"}]}]}, "has no record alpha zz"),
    (
        {"split": [{"paper": "A", "records": [{"source": "alpha", "record_id": "a1"}] * 2}]},
        "names a record twice",
    ),
    (
        {
            "split": [
                {
                    "paper": "A",
                    "records": [{"source": "alpha", "record_id": "a1"}, {"source": "beta", "record_id": "b1"}],
                }
            ]
        },
        "no record is left",
    ),
    ({"merge": "A"}, "merge"),
]


@pytest.mark.parametrize(("feedback", "message"), BAD)
def test_bad_merges_and_splits_are_refused_with_a_remedy(feedback: dict[str, Any], message: str) -> None:
    papers = [*TWINS, STRANGER]
    names = {"A": get_id("a1", *papers), "C": get_id("c1", *papers)}

    named: dict[str, Any] = json.loads(re.sub('"([AC])"', lambda found: f'"{names[found[1]]}"', json.dumps(feedback)))
    with pytest.raises(InvalidDecision, match=message) as refusal:
        search_rounds(papers, decisions=[APPROVE, decide("approve", **named)])
    assert refusal.value.hint


def make_pool(*papers: RawPaper, merger: RecordMerger | None = None) -> tuple[Pool, DuplicateCorrections]:
    pool = Pool()
    corrections = DuplicateCorrections(pool, merger or Deduplicator())
    add_round(pool, corrections, list(papers), 0)
    return pool, corrections


def add_round(pool: Pool, corrections: DuplicateCorrections, papers: list[RawPaper], number: int) -> RoundLog:
    every = corrections.name_records(papers, number)
    found = corrections.take_known_records(every)
    records = [*(record.paper for record in found), *(entry.scored.paper for entry in pool.entries)]
    distinct = asyncio.run(Deduplicator().deduplicate(records))
    added = corrections.add_papers(distinct, distinct.members, found).add_known_records(len(every) - len(found))
    return build_round_log(number, make_strategy(), SearchOutcome(papers=papers), added, {})


def check_log_sums(pool: Pool, logs: list[RoundLog]) -> None:
    counted = recount_duplicates(logs, pool)
    for log in add_inclusion_counts(counted, pool.result, pool.list_exclusions(None)):
        kinds = (log.duplicates_within_round, log.duplicates_of_earlier_rounds)
        duplicates = (*kinds, log.duplicates_by_person, log.duplicates_by_agent, log.duplicates_by_program)
        assert min(duplicates) >= 0
        assert log.identified == sum(duplicates) + log.screened
        assert log.screened == sum(log.excluded.values()) + log.included


TITLES = [TITLE, OTHER, "A census of icy moons"]
names = st.integers(0, 11).map(lambda number: f"r{number}")


@given(st.data())
def test_any_merges_and_splits_keep_every_record_once_and_every_id_valid(data: st.DataObject) -> None:
    merger = data.draw(st.sampled_from([Deduplicator(), PlainRecordMerger()]))
    pool, corrections = make_pool(merger=merger)
    every: Counter[str] = Counter()
    logs: list[RoundLog] = []
    ids: set[str] = set()
    for number in range(3):
        chosen = data.draw(st.lists(names, max_size=8))
        every.update(chosen)
        papers = [
            make_found(name, TITLES[int(name[1:]) % 3], f"s{int(name[1:]) % 4}", doi=f"10.1000/{int(name[1:]) % 5}")
            for name in chosen
        ]
        logs.append(add_round(pool, corrections, papers, number))
        ids |= {entry.id for entry in pool.entries}
        for _ in range(data.draw(st.integers(0, 3))):
            feedback = draw_correction(data, pool)
            split_apart = set(pool.apart)
            corrections.apply(feedback, AT, Sender(by_agent=data.draw(st.booleans())))
            ids |= {entry.id for entry in pool.entries}
            assert feedback.merge or not feedback.split or pool.apart > split_apart
            check_log_sums(pool, logs)
        assert Counter(record.key[1] for entry in pool.entries for record in entry.records) == every
        assert ids <= set(pool.index_by_current_and_former_id())
        assert len({entry.id for entry in pool.entries}) == len(pool.entries)
        own = [{record.key for record in entry.records} for entry in pool.entries]
        assert not any(pair <= keys for pair in pool.apart for keys in own)


def draw_correction(data: st.DataObject, pool: Pool) -> UserFeedback:
    several = [entry for entry in pool.entries if len({record.key for record in entry.records}) > 1]
    if several and data.draw(st.booleans()):
        entry = data.draw(st.sampled_from(several))
        keys = sorted({record.key for record in entry.records})
        leaving = data.draw(st.lists(st.sampled_from(keys), max_size=len(keys) - 1, unique=True))
        named = [{"source": source, "record_id": record_id} for source, record_id in leaving]
        return UserFeedback.model_validate({"split": [{"paper": entry.id, "records": named}]})
    if len(pool.entries) < 2:
        return UserFeedback()
    every = [entry.id for entry in pool.entries]
    return UserFeedback.model_validate(
        {"merge": [data.draw(st.lists(st.sampled_from(every), min_size=2, max_size=3, unique=True))]}
    )


def test_a_merge_by_a_program_is_counted_apart_from_those_of_agents() -> None:
    program = Actor(kind="software", name="Ada", authenticated="token")
    pool, corrections = make_pool(TWINS[1], STRANGER)
    ids = [entry.id for entry in pool.entries]
    corrections.apply(UserFeedback.model_validate({"merge": [ids]}), AT, Sender(by_agent=True, actor=program))
    (merged,) = pool.entries
    assert [part.joined_by for part, _ in merged.joined_parts] == ["program"]
