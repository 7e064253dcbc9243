"""Tests of the dialog: every key works as documented, and marks become decisions."""

from typing import Any

import pytest

from paper_search.cli import review_text
from paper_search.cli.terminal_review import PaperReview, ask_about_strategy
from paper_search.domain.review_models import Exclusion, ExclusionReason, PaperDecision, ReviewDecision, ReviewStatus
from paper_search.store.saved_marks import ReviewerMarks
from paper_search.testing import ScriptedScreen, ScriptExhausted
from paper_search.workflow import Checkpoint, Decision, DecisionAction, ResultPayload, StrategyPayload
from tests.paper_search.workflow.samples import make_paper, make_review_checkpoint, make_strategy_checkpoint

TITLES = ("Icy moons", "Dusty rings", "Hot springs")


def run_review(
    keys: str, *lines: str | None, marks: ReviewerMarks | None = None, titles: tuple[str, ...] = TITLES
) -> "ReviewRun":
    return ReviewRun(make_review_checkpoint(*titles), keys, lines, marks)


class ReviewRun:
    """One run of a review, with the displayed text and the saved marks."""

    def __init__(
        self, checkpoint: Checkpoint, keys: str, lines: tuple[str | None, ...], marks: ReviewerMarks | None
    ) -> None:
        self.checkpoint = checkpoint
        self.screen = ScriptedScreen(keys, lines)
        self.saved: list[ReviewerMarks] = []
        given = marks or ReviewerMarks(checkpoint_id=checkpoint.checkpoint_id)
        asking = PaperReview(checkpoint, given, self.screen, lambda m: self.saved.append(m.model_copy(deep=True)))
        self.decision: Decision | None = asking.ask_for_decision("Ada")

    @property
    def ids(self) -> list[str]:
        payload = self.checkpoint.payload
        assert isinstance(payload, ResultPayload)
        return [found.id for found in payload.collection.papers]

    @property
    def statuses(self) -> dict[str, dict[str, str]]:
        assert self.decision is not None
        data: dict[str, Any] = self.decision.revised_data or {}
        return data.get("decisions", {})


def test_a_strategy_is_approved_with_one_key() -> None:
    screen = ScriptedScreen("a")
    decision = ask_about_strategy(make_strategy_checkpoint(), screen)
    assert decision == Decision(action=DecisionAction.APPROVE)
    assert "tidal AND heating" in screen.written


def test_a_strategy_is_edited_as_json_in_the_editor() -> None:
    screen = ScriptedScreen("e", edits=['{"sources": ["alpha"]}'])
    decision = ask_about_strategy(make_strategy_checkpoint(), screen)
    assert decision is not None
    assert (decision.action, decision.revised_data) == (DecisionAction.EDIT, '{"sources": ["alpha"]}')
    assert '"boolean_query": "tidal AND heating"' in screen.written


def test_a_rejected_strategy_carries_the_feedback_of_the_person() -> None:
    decision = ask_about_strategy(make_strategy_checkpoint(), ScriptedScreen("r", ["nothing on Enceladus"]))
    assert decision is not None
    assert (decision.action, decision.note) == (DecisionAction.REJECT, "nothing on Enceladus")


@pytest.mark.parametrize("key", ["q", "\x03", "\x04"])
def test_a_person_can_leave_either_question(key: str) -> None:
    assert ask_about_strategy(make_strategy_checkpoint(), ScriptedScreen(key)) is None
    assert run_review(key).decision is None


def test_any_other_key_displays_the_help_and_asks_again() -> None:
    screen = ScriptedScreen("x?a")
    assert ask_about_strategy(make_strategy_checkpoint(), screen) is not None
    assert screen.written.count(review_text.STRATEGY_HELP) == 2
    assert run_review("za").screen.written.count(review_text.PAPER_HELP) == 1


def test_each_paper_is_marked_with_one_key_and_an_optional_reason() -> None:
    review = run_review("imea", "too hot")
    first, second, third = review.ids
    assert review.decision is not None
    assert review.decision.action is DecisionAction.APPROVE
    assert review.statuses == {
        first: {"status": "include"},
        second: {"status": "maybe"},
        third: {"status": "exclude", "reason": "too hot"},
    }
    assert review.decision.revised_data["reviewer"] == "Ada"
    assert "1 include, 1 exclude, 1 maybe, 0 undecided" in review.screen.written


def test_upper_case_keys_ask_for_an_optional_reason() -> None:
    review = run_review("IMea", "a classic", "", "")
    first, second, third = review.ids
    assert review.statuses == {
        first: {"status": "include", "reason": "a classic"},
        second: {"status": "maybe"},
        third: {"status": "exclude"},
    }


def test_going_back_and_undecided_remove_a_mark() -> None:
    review = run_review("ibua")
    assert review.statuses == {review.ids[0]: {"status": "undecided"}}


def test_next_moves_without_marking_and_stays_on_the_last_paper() -> None:
    review = run_review("n nnia")
    assert review.statuses == {review.ids[2]: {"status": "include"}}
    assert "That was the last paper." in review.screen.written
    assert run_review("bbia").statuses.keys() == {review.ids[0]}


def test_searching_again_sends_the_marks_and_the_words() -> None:
    review = run_review("ir", "more on tides")
    assert review.decision is not None
    assert review.decision.action is DecisionAction.REJECT
    assert review.decision.revised_data["free_text_feedback"] == "more on tides"
    assert review.statuses == {review.ids[0]: {"status": "include"}}


def test_approving_without_marks_sends_no_data() -> None:
    assert run_review("a").decision == Decision(action=DecisionAction.APPROVE)


def test_every_mark_is_saved_before_the_next_key() -> None:
    review = run_review("imq")
    assert [len(marks.decisions) for marks in review.saved] == [1, 2]
    assert review.saved[-1].position == 2


def test_a_resumed_review_starts_at_the_last_paper_with_its_marks() -> None:
    first = run_review("iq").saved[-1]
    review = run_review("ia", marks=first)
    assert list(review.statuses) == review.ids[:2]
    assert "2/3" in review.screen.written


def test_a_position_beyond_the_last_paper_is_moved_to_it() -> None:
    review = run_review("ia", marks=ReviewerMarks(checkpoint_id="old", position=99))
    assert list(review.statuses) == [review.ids[2]]


def test_the_list_displays_a_line_for_each_paper_with_its_mark() -> None:
    review = run_review("ila")
    lines = review.screen.written.splitlines()
    assert "   1 + 2020 Icy moons" in lines
    assert "   2   2020 Dusty rings" in lines


def test_a_review_without_papers_can_be_approved_or_repeated() -> None:
    review = run_review("inlea", titles=())
    assert review.decision == Decision(action=DecisionAction.APPROVE)
    assert "No papers to review." in review.screen.written


def test_a_paper_page_displays_earlier_decisions() -> None:
    earlier = ReviewDecision(status=ReviewStatus.EXCLUDE, reviewer="Grace", reason="off topic")
    page = review_text.format_paper(make_paper("Icy moons", decisions=[earlier]), None, "1/1", 80)
    assert "exclude (Grace: off topic)" in page
    mark = PaperDecision(status=ReviewStatus.MAYBE)
    marked = review_text.format_paper(make_paper("Icy moons", decisions=[earlier]), mark, "1/1", 80)
    assert marked.splitlines()[0].rstrip("─ ") == "1/1  maybe"


@pytest.mark.parametrize("width", [40, 80, 100])
def test_no_line_of_a_page_is_wider_than_the_terminal(width: int) -> None:
    long = make_paper("Tidal heating " * 30, abstract="Moons of giant planets. " * 200, relevance_reason="Tides. " * 40)
    page = review_text.format_paper(long, None, "1/1", width)
    listed = review_text.format_paper_list([long], {}, width)
    payload = make_strategy_checkpoint().payload
    assert isinstance(payload, StrategyPayload)
    lines = [page, listed, review_text.format_strategy(payload.intent, payload.strategy, width)]
    assert max(len(line) for text in lines for line in text.splitlines()) <= width


def test_the_scripted_screen_raises_when_its_script_is_too_short() -> None:
    with pytest.raises(ScriptExhausted, match="no key left"):
        run_review("")


def test_a_cancelled_question_decides_nothing() -> None:
    screen = ScriptedScreen("rra", [None, None])
    assert ask_about_strategy(make_strategy_checkpoint(), screen) == Decision(action=DecisionAction.APPROVE)
    assert run_review("ra", None).decision == Decision(action=DecisionAction.APPROVE)
    review = run_review("eia", None)
    assert review.statuses == {review.ids[0]: {"status": "include"}}


def test_an_empty_line_rejects_without_words() -> None:
    decision = ask_about_strategy(make_strategy_checkpoint(), ScriptedScreen("r", [""]))
    assert decision == Decision(action=DecisionAction.REJECT)


def make_excluded_checkpoint() -> Checkpoint:
    checkpoint = make_review_checkpoint(*TITLES)
    assert isinstance(checkpoint.payload, ResultPayload)
    checkpoint.payload.collection.metadata.exclusions = [
        Exclusion(paper_id="p_old", title="Cold seas", reason=ExclusionReason.BY_PERSON),
        Exclusion(paper_id="p_low", title="Warm winds", reason=ExclusionReason.BELOW_THRESHOLD, score=0.1),
        Exclusion(paper_id="p_gone", title="Same as another", reason=ExclusionReason.MERGED),
    ]
    return checkpoint


def test_excluded_papers_are_listed_and_one_can_be_included_again() -> None:
    review = ReviewRun(make_excluded_checkpoint(), "xa", ("1",), None)
    assert "   1   by person: Cold seas" in review.screen.written
    assert "   2   below threshold: Warm winds" in review.screen.written
    assert "Same as another" not in review.screen.written
    assert review.statuses == {"p_old": {"status": "include"}}
    assert [marks.decisions.keys() for marks in review.saved] == [{"p_old"}]


@pytest.mark.parametrize("line", ["", "0", "3", "x", None])
def test_any_other_answer_includes_no_paper(line: str | None) -> None:
    assert ReviewRun(make_excluded_checkpoint(), "xa", (line,), None).statuses == {}


def test_without_excluded_papers_the_list_is_reported_as_empty() -> None:
    assert "No paper is excluded." in run_review("xa").screen.written
