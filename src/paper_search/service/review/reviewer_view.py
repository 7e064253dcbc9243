"""Show papers to one reviewer, blind to the decisions of others until the own decision."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from paper_search.domain.review_models import (
    BY_REVIEWER,
    DEFAULT_REVIEWER,
    EXCLUSIONS_BY_JUDGE,
    Exclusion,
    ExclusionReason,
    PaperDecision,
    ReviewDecision,
    ReviewStatus,
    find_judge_of_decisions,
    select_counting_decisions,
)
from paper_search.models import Paper, PaperCollection
from paper_search.service.checkpoint_replies import Status
from paper_search.service.review.review_replies import DecisionFields, ReviewDecisionReply
from paper_search.workflow.rounds import add_inclusion_counts
from uraniborg.kernel.actors import Actor, describe_actor


@dataclass(frozen=True, slots=True)
class ReviewerView:
    """A reviewer, and by name the marks of all reviewers and who made them. In a complete session nothing is hidden."""

    reviewer: str
    marks: Mapping[str, Mapping[str, PaperDecision]]
    is_complete: bool = False
    actors: Mapping[str, Actor] = field(default_factory=dict[str, Actor])

    def get_own_decision(self, paper: Paper) -> PaperDecision | None:
        """Return the reviewer's mark or earlier decision, or None."""
        if mark := self.marks.get(self.reviewer, {}).get(paper.id):
            return mark
        return next((decision for decision in paper.decisions if self._is_own(decision)), None)

    def _is_own(self, decision: ReviewDecision) -> bool:
        if decision.by_agent and (decision.actor is None or describe_actor(decision.actor) != self.reviewer):
            return False  # an agent may name any reviewer
        return decision.reviewer == self.reviewer

    def list_other_decisions(self, paper: Paper) -> list[ReviewDecision]:
        """Return the decisions of the other reviewers, also those that this reviewer may not see yet."""
        marked = {
            name or DEFAULT_REVIEWER: self._build_decision(name, mark)
            for name, marks in self.marks.items()
            if name != self.reviewer and (mark := marks.get(paper.id))
        }
        sent = [
            decision for decision in paper.decisions if not (self._is_own(decision) or _is_replaced(decision, marked))
        ]
        return [*sent, *marked.values()]

    def _build_decision(self, reviewer: str, mark: PaperDecision) -> ReviewDecision:
        actor = self.actors.get(reviewer)
        return ReviewDecision(
            status=mark.status,
            reason=mark.reason,
            reviewer=reviewer or DEFAULT_REVIEWER,
            by_agent=actor is not None and not actor.is_person,
            actor=actor,
        )

    def is_hidden(self, paper: Paper) -> bool:
        """Return True if the reviewer may not see the decisions of others about the paper yet.

        A paper that an earlier round excluded is not hidden: the search log lists it with its reason.
        """
        return not (self.is_complete or _is_excluded(paper)) and self.get_own_decision(paper) is None

    def get_status(self, paper: Paper) -> ReviewStatus:
        """Return the status of the paper for the reviewer; in a complete session that of all reviewers."""
        if self.is_complete:
            return paper.status
        if own := self.get_own_decision(paper):
            return own.status
        return ReviewStatus.EXCLUDE if _is_excluded(paper) else ReviewStatus.UNDECIDED

    def build_decision_fields(self, paper: Paper) -> DecisionFields:
        """Return the status, the reviewer's own decision, and the decisions of others as far as they may be seen."""
        own, others, is_hidden = self.get_own_decision(paper), self.list_other_decisions(paper), self.is_hidden(paper)
        statuses = {decision.status for decision in others if decision.status is not ReviewStatus.UNDECIDED}
        return {
            "status": self.get_status(paper).value,
            "reason": own.reason if own else _find_refusal_reason(paper),
            "is_marked": paper.id in self.marks.get(self.reviewer, {}),
            "others": [] if is_hidden else [_build_decision_reply(other) for other in others],
            "others_hidden": len(others) if is_hidden else 0,
            "differs": bool(own and not is_hidden and statuses - {own.status}),
        }

    def apply_to(self, collection: PaperCollection) -> PaperCollection:
        """Return the collection as it is with the decisions that the reviewer can see: excluded papers leave it."""
        if self.is_complete:
            return collection
        seen = [self._apply_to_paper(paper) for paper in list_reviewed_papers(collection)]
        papers = [paper for paper in seen if not _is_excluded(paper)]
        excluded = [paper for paper in seen if _is_excluded(paper)]
        automatic = [one for one in collection.metadata.exclusions if one.reason not in BY_REVIEWER]
        exclusions = [*automatic, *map(_build_exclusion, excluded)]
        logs = add_inclusion_counts(collection.metadata.round_logs, papers, exclusions)
        metadata = collection.metadata.model_copy(update={"round_logs": logs, "exclusions": exclusions})
        return collection.model_copy(update={"metadata": metadata, "papers": papers, "excluded_papers": excluded})

    def _apply_to_paper(self, paper: Paper) -> Paper:
        own = self.get_own_decision(paper)
        if own is None:
            return paper if not paper.decisions or _is_excluded(paper) else paper.model_copy(update={"decisions": []})
        if own in paper.decisions and not any(paper.id in marks for marks in self.marks.values()):
            return paper  # with the times of its decisions
        mine = self._build_decision(self.reviewer, own)
        return paper.model_copy(update={"decisions": [*self.list_other_decisions(paper), mine]})


def _build_decision_reply(decision: ReviewDecision) -> ReviewDecisionReply:
    return {
        "status": decision.status.value,
        "reason": decision.reason,
        "reviewer": decision.reviewer,
        "at": decision.at,
        "by_agent": decision.by_agent,
        "actor": decision.actor and decision.actor.model_dump(),
    }


def _is_replaced(decision: ReviewDecision, marked: Mapping[str, ReviewDecision]) -> bool:
    """Return True if its reviewer has marked the paper again."""
    mark = marked.get(decision.reviewer)
    return mark is not None and mark.by_agent == decision.by_agent


def list_reviewed_papers(collection: PaperCollection) -> list[Paper]:
    """Return the papers of the result, and after them those that people and agents have excluded."""
    stored = {paper.id for paper in collection.excluded_papers}
    # Versions that did not store excluded papers still stored their exclusions.
    rebuilt = [
        _build_paper(exclusion)
        for exclusion in collection.metadata.exclusions
        if exclusion.reason in BY_REVIEWER and exclusion.paper_id not in stored
    ]
    return [*collection.papers, *collection.excluded_papers, *rebuilt]


def _is_excluded(paper: Paper) -> bool:
    return paper.status is ReviewStatus.EXCLUDE


def _find_refusal_reason(paper: Paper) -> str | None:
    """Return the last reason for which the paper is excluded, or None if it is not."""
    counting = select_counting_decisions(paper.decisions)
    reasons = [decision.reason for decision in counting if decision.status is ReviewStatus.EXCLUDE]
    return reasons[-1] if _is_excluded(paper) else None


def _build_paper(exclusion: Exclusion) -> Paper:
    refusal = ReviewDecision(
        status=ReviewStatus.EXCLUDE,
        reason=exclusion.detail,
        reviewer=exclusion.reviewer or DEFAULT_REVIEWER,
        at=exclusion.at,
        by_agent=exclusion.reason is not ExclusionReason.BY_PERSON,
    )
    return Paper(
        id=exclusion.paper_id,
        other_ids=exclusion.other_ids,
        title=exclusion.title,
        doi=exclusion.doi,
        source="",
        found_in_round=exclusion.round,
        relevance_score=exclusion.score or 0.0,
        decisions=[refusal],
    )


def _build_exclusion(paper: Paper) -> Exclusion:
    counting = select_counting_decisions(paper.decisions)
    refusal = next(decision for decision in reversed(counting) if decision.status is ReviewStatus.EXCLUDE)
    return Exclusion(
        paper_id=paper.id,
        other_ids=paper.other_ids,
        title=paper.title,
        doi=paper.doi,
        round=paper.found_in_round,
        reason=EXCLUSIONS_BY_JUDGE[find_judge_of_decisions(counting)],
        score=paper.relevance_score,
        reviewer=refusal.reviewer,
        at=refusal.at,
        detail=refusal.reason,
    )


def count_statuses(collection: PaperCollection, view: ReviewerView) -> dict[Status, int]:
    counts: dict[Status, int] = {status.value: 0 for status in ReviewStatus}
    for paper in list_reviewed_papers(collection):
        counts[view.get_status(paper).value] += 1
    return counts
