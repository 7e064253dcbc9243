"""Ask with single keys: approve a strategy, mark papers, finish or search again."""

from collections.abc import Callable

from paper_search.models import Paper
from paper_search.review_models import ExclusionReason, PaperDecision, ReviewStatus
from paper_search.sessions.inbox_decisions import EDIT_EXAMPLE
from paper_search.sessions.saved_marks import Marks
from paper_search.terminal import review_text
from paper_search.workflow.checkpoints import Checkpoint, Decision, DecisionAction, ResultPayload, StrategyPayload
from uraniborg.kernel.errors import InvalidInput
from uraniborg.kernel.terminal.keys import BACKWARD_KEYS, END_KEYS, FORWARD_KEYS, Screen

_MARKS = {
    "i": ReviewStatus.INCLUDE,
    "m": ReviewStatus.MAYBE,
    "e": ReviewStatus.EXCLUDE,
    "u": ReviewStatus.UNDECIDED,
}
_NEXT = ("n", *FORWARD_KEYS)
_BACK = ("b", "p", *BACKWARD_KEYS)
_QUIT = ("q", *END_KEYS)


def ask_about_strategy(checkpoint: Checkpoint, screen: Screen, refused_edit: str | None = None) -> Decision | None:
    """Return the decision about a strategy; None if the person quits. An edit starts from a refused one, if given."""
    assert isinstance(checkpoint.payload, StrategyPayload)
    strategy = checkpoint.payload.strategy
    screen.write(f"\nRound {checkpoint.round + 1}: search like this?\n")
    screen.write(review_text.format_strategy(checkpoint.payload.intent, strategy, screen.width))
    while True:
        screen.write(f"\n{review_text.STRATEGY_KEYS}")
        key = screen.read_key().lower()
        if key == "a":
            return Decision(action=DecisionAction.APPROVE)
        if key == "e":
            try:
                proposed = strategy.model_dump_json(indent=2, exclude={"notes", "origins"})
                edited = screen.edit_text(refused_edit or proposed)
            except InvalidInput as problem:
                screen.write(f"{problem.message} {problem.hint}")
                continue
            return Decision(action=DecisionAction.EDIT, revised_data=edited)
        if key == "r":
            if (words := screen.read_line("What is missing or wrong")) is not None:
                return Decision(action=DecisionAction.REJECT, note=words or None)
            continue
        if key in _QUIT:
            return None
        screen.write(f"{review_text.STRATEGY_HELP}\nAn edit may name only what changes, for example: {EDIT_EXAMPLE}")


class PaperReview:
    """The dialog that marks the papers of one checkpoint, one at a time. `save` is called after each mark."""

    def __init__(self, checkpoint: Checkpoint, marks: Marks, screen: Screen, save: Callable[[Marks], None]) -> None:
        assert isinstance(checkpoint.payload, ResultPayload)
        self._papers = checkpoint.payload.collection.papers
        exclusions = checkpoint.payload.collection.metadata.exclusions
        self._excluded = [exclusion for exclusion in exclusions if exclusion.reason is not ExclusionReason.MERGED]
        self._round = checkpoint.round
        self._marks = marks
        self._screen = screen
        self._save = save

    def ask_for_decision(self, reviewer: str | None) -> Decision | None:
        """Return the decision about the papers, with all marks; None if the person quits."""
        self._screen.write(
            f"\nRound {self._round + 1}: {review_text.format_mark_counts(self._papers, self._marks.decisions)}"
        )
        if not self._papers:
            self._screen.write("No papers to review.")
        self._show_paper()
        while True:
            key = self._screen.read_key()
            if key.lower() == "a":
                return self._build_decision(DecisionAction.APPROVE, reviewer)
            if key.lower() == "r":
                if (words := self._screen.read_line("What is missing or wrong")) is not None:
                    return self._build_decision(DecisionAction.REJECT, reviewer, words)
                self._show_paper()
                continue
            if key.lower() in _QUIT:
                return None
            self._handle_key(key)

    def _handle_key(self, key: str) -> None:
        if key.lower() in _MARKS and self._papers:
            self._mark_paper_and_advance(self._paper, key)
        elif key in _NEXT:
            self._move_by_and_save(1)
        elif key in _BACK:
            self._move_by_and_save(-1)
        elif key.lower() == "x":
            self._ask_and_include_excluded()
        elif key.lower() == "l":
            self._screen.write(
                "\n" + review_text.format_paper_list(self._papers, self._marks.decisions, self._screen.width)
            )
        else:
            self._screen.write(review_text.PAPER_HELP)

    @property
    def _paper(self) -> Paper:
        return self._papers[self._marks.position]

    def _mark_paper_and_advance(self, paper: Paper, key: str) -> None:
        status = _MARKS[key.lower()]
        with_reason = key == "e" or (key.isupper() and status is not ReviewStatus.UNDECIDED)
        reason = self._screen.read_line(f"Why {status.value}? (Enter for no reason)") if with_reason else ""
        if reason is None:
            self._show_paper()
            return
        self._marks.decisions[paper.id] = PaperDecision(status=status, reason=reason or None)
        self._move_by_and_save(1)

    def _ask_and_include_excluded(self) -> None:
        """List the papers that are not in the result, and include the one that the person names."""
        self._screen.write(
            "\n" + review_text.format_exclusions(self._excluded, self._marks.decisions, self._screen.width)
        )
        number = self._screen.read_line("Number of a paper to include (Enter for none)") if self._excluded else None
        if number and number.isdigit() and 1 <= int(number) <= len(self._excluded):
            self._marks.decisions[self._excluded[int(number) - 1].paper_id] = PaperDecision(status=ReviewStatus.INCLUDE)
            self._save(self._marks)
        self._show_paper()

    def _move_by_and_save(self, step: int) -> None:
        last = len(self._papers) - 1
        position = self._marks.position + step
        self._marks.position = min(max(position, 0), max(last, 0))
        self._save(self._marks)
        if position > last:
            counts = review_text.format_mark_counts(self._papers, self._marks.decisions)
            self._screen.write(f"\nThat was the last paper. {counts}.")
        self._show_paper()

    def _show_paper(self) -> None:
        if self._papers:
            position = min(self._marks.position, len(self._papers) - 1)
            self._marks.position = position
            paper = self._papers[position]
            decision = self._marks.decisions.get(paper.id)
            number = f"{position + 1}/{len(self._papers)}"
            self._screen.write("\n" + review_text.format_paper(paper, decision, number, self._screen.width))
        self._screen.write(f"\n{review_text.PAPER_KEYS}")

    def _build_decision(self, action: DecisionAction, reviewer: str | None, feedback: str = "") -> Decision:
        decisions = {name: mark.model_dump(exclude_none=True) for name, mark in self._marks.decisions.items()}
        data = {"decisions": decisions, "reviewer": reviewer if decisions else None, "free_text_feedback": feedback}
        return Decision(action=action, revised_data={name: value for name, value in data.items() if value} or None)
