"""The state of one run."""

from paper_search.models import UserFeedback
from paper_search.workflow import WorkflowState
from tests.paper_search.workflow.samples import paper, strategy


def test_a_new_state_has_made_no_round_and_kept_no_paper() -> None:
    state = WorkflowState()
    assert (state.current_iteration, state.decisions_taken, state.is_complete) == (0, 0, False)
    assert state.previous_strategies == []
    assert state.latest_feedback is None


def test_recording_a_round_counts_it_and_keeps_its_strategy() -> None:
    state = WorkflowState()
    state.record_iteration(strategy("a"), 4)
    state.record_iteration(strategy("b"), 7)
    assert state.current_iteration == 2
    assert [record.iteration for record in state.history] == [0, 1]
    assert [record.result_count for record in state.history] == [4, 7]
    assert [s.queries[0].boolean_query for s in state.previous_strategies] == ["a", "b"]


def test_only_the_last_rounds_feedback_is_the_latest() -> None:
    state = WorkflowState()
    state.record_iteration(strategy(), 1, UserFeedback(free_text_feedback="more moons"))
    assert state.latest_feedback == UserFeedback(free_text_feedback="more moons")
    state.record_iteration(strategy(), 1)
    assert state.latest_feedback is None


def test_a_paper_is_accumulated_once() -> None:
    state = WorkflowState()
    state.add_accumulated([paper("Io"), paper("Europa")])
    state.add_accumulated([paper("Io")])
    assert [kept.title for kept in state.accumulated_papers] == ["Io", "Europa"]


def test_the_last_word_on_a_paper_counts() -> None:
    state = WorkflowState()
    state.add_accumulated([paper("Io")])
    state.add_rejected([paper("Io")])
    assert (state.accumulated_papers, [p.title for p in state.rejected_papers]) == ([], ["Io"])
    state.add_accumulated([paper("Io")])
    assert (state.rejected_papers, [p.title for p in state.accumulated_papers]) == ([], ["Io"])


def test_hints_gather_papers_and_words_of_all_rounds() -> None:
    state = WorkflowState()
    state.record_iteration(strategy(), 1, UserFeedback(free_text_feedback="more moons"))
    state.record_iteration(strategy(), 1, UserFeedback())
    state.record_iteration(strategy(), 1, UserFeedback(free_text_feedback="fewer stars"))
    state.add_accumulated([paper("Io")])
    state.add_rejected([paper("Sirius")])
    hints = state.hints
    assert [w.title for w in hints.relevant] == ["Io"]
    assert [w.title for w in hints.irrelevant] == ["Sirius"]
    assert hints.free_text == ["more moons", "fewer stars"]


def test_state_survives_a_trip_through_json() -> None:
    state = WorkflowState()
    state.record_iteration(strategy(), 1, UserFeedback(marked_relevant=["x"]))
    state.add_accumulated([paper("Io")])
    assert WorkflowState.model_validate_json(state.model_dump_json()) == state


def test_two_states_share_nothing() -> None:
    first, second = WorkflowState(), WorkflowState()
    first.add_accumulated([paper("Io")])
    assert second.accumulated_papers == []
