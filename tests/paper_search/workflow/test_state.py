"""The state of one run."""

from datetime import UTC, datetime

from paper_search.domain.review_models import PaperDecision, ReviewStatus
from paper_search.models import UserFeedback
from paper_search.workflow import WorkflowState
from paper_search.workflow.duplicate_corrections import DuplicateCorrections
from paper_search.workflow.skill_interfaces import PlainRecordMerger
from tests.paper_search.workflow.samples import make_record, make_strategy

AT = datetime(2026, 1, 1, tzinfo=UTC)


def test_a_new_state_has_no_round_and_no_paper() -> None:
    state = WorkflowState()
    assert (state.current_iteration, state.decisions_taken, state.is_complete) == (0, 0, False)
    assert state.previous_strategies == []
    assert state.latest_feedback is None


def test_recording_a_round_counts_it_and_keeps_its_strategy() -> None:
    state = WorkflowState()
    state.record_iteration(make_strategy("a"), 4)
    state.record_iteration(make_strategy("b"), 7)
    assert state.current_iteration == 2
    assert [record.iteration for record in state.history] == [0, 1]
    assert [record.result_count for record in state.history] == [4, 7]
    assert [s.queries[0].boolean_query for s in state.previous_strategies] == ["a", "b"]


def test_only_the_last_rounds_feedback_is_the_latest() -> None:
    state = WorkflowState()
    state.record_iteration(make_strategy(), 1, UserFeedback(free_text_feedback="more moons"))
    assert state.latest_feedback == UserFeedback(free_text_feedback="more moons")
    state.record_iteration(make_strategy(), 1)
    assert state.latest_feedback is None


def test_papers_are_grouped_by_their_status() -> None:
    state = make_state("Io", "Europa", "Sirius")
    io, _, sirius = (entry.id for entry in state.pool.entries)
    state.add_decisions(UserFeedback(marked_relevant=[io], marked_irrelevant=[sirius]), AT)
    assert [paper.title for paper in state.accumulated_papers] == ["Io"]
    assert [paper.title for paper in state.rejected_papers] == ["Sirius"]


def test_a_reviewers_later_decision_replaces_the_earlier_one() -> None:
    state = make_state("Io")
    (io,) = (entry.id for entry in state.pool.entries)
    state.add_decisions(UserFeedback(marked_relevant=[io]), AT)
    state.add_decisions(UserFeedback(marked_irrelevant=[io]), AT)
    assert (state.accumulated_papers, [paper.title for paper in state.rejected_papers]) == ([], ["Io"])
    state.add_decisions(UserFeedback(decisions={io: PaperDecision(status=ReviewStatus.INCLUDE, reason="tides")}), AT)
    (paper,) = state.accumulated_papers
    assert state.rejected_papers == []
    assert [(decision.reviewer, decision.at, decision.reason) for decision in paper.decisions] == [
        ("reviewer", AT, "tides")
    ]


def test_hints_contain_papers_and_texts_of_all_rounds() -> None:
    state = make_state("Io", "Sirius")
    io, sirius = (entry.id for entry in state.pool.entries)
    state.record_iteration(make_strategy(), 1, UserFeedback(free_text_feedback="more moons", note="in orbit"))
    state.record_iteration(make_strategy(), 1, UserFeedback())
    state.record_iteration(make_strategy(), 1, UserFeedback(free_text_feedback="fewer stars"))
    state.add_decisions(UserFeedback(marked_relevant=[io], marked_irrelevant=[sirius]), AT)
    hints = state.hints
    assert [w.title for w in hints.relevant] == ["Io"]
    assert [w.title for w in hints.irrelevant] == ["Sirius"]
    assert hints.free_text == ["more moons", "in orbit", "fewer stars"]


def test_state_survives_a_trip_through_json() -> None:
    state = make_state("Io")
    state.record_iteration(make_strategy(), 1, UserFeedback(marked_relevant=["x"]))
    state.add_decisions(UserFeedback(marked_relevant=[state.pool.entries[0].id]), AT)
    assert WorkflowState.model_validate_json(state.model_dump_json()) == state


def test_two_states_share_no_data() -> None:
    first, second = make_state("Io"), WorkflowState()
    assert first.pool.entries
    assert second.pool.entries == []


def make_state(*titles: str) -> WorkflowState:
    state = WorkflowState()
    papers = [make_record(title) for title in titles]
    records = DuplicateCorrections(state.pool, PlainRecordMerger()).name_records(papers, 0)
    state.pool.add_papers(papers, [[n] for n in range(len(titles))], records)
    return state
