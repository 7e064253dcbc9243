"""The questions of the inbox as the API and the commands send them, each kind with the payload of its part."""

from collections.abc import Sequence
from typing import Annotated, Any, Final, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from paper_search.domain.source_descriptions import SOURCE_LABELS
from paper_search.service.checkpoint_replies import AskedPlan, AskedReview
from pflow.service.approvals import ApprovalPayload
from uraniborg.kernel.shared_fields import ActorFields
from uraniborg.kernel.store.inbox import EntryPage, Inbox, InboxEntry, Position, State
from uraniborg.kernel.store.inbox_entries import QuestionFields

_TITLE_CHARS: Final = 300


class StrategyPayload(AskedPlan):
    """A strategy that a search proposes."""

    source_labels: Annotated[dict[str, str], Field(description="The names of sources as people know them.")]


class StrategyQuestion(QuestionFields):
    """A search asks whether its strategy is right."""

    kind: Literal["strategy_confirmation"]
    payload: StrategyPayload


class ReviewQuestion(QuestionFields):
    """A search asks which papers to keep."""

    kind: Literal["result_review"]
    payload: AskedReview


class ApprovalQuestion(QuestionFields):
    """A run of a workflow waits for approval."""

    kind: Literal["approval"]
    payload: ApprovalPayload


AnyQuestion = Annotated[StrategyQuestion | ReviewQuestion | ApprovalQuestion, Field(discriminator="kind")]
NextPage = Annotated[str | None, Field(description="The value of `before` for the next page.")]
PendingCounts = Annotated[dict[str, int], Field(description="How many questions of each part wait.")]


class InboxPage(TypedDict):
    """A page of the inbox."""

    entries: list[AnyQuestion]
    next: NextPage
    pending: PendingCounts


class QuestionSummary(TypedDict):
    """A question in a list."""

    id: str
    part: str
    kind: str
    subject: Annotated[str, Field(description="The id of the session, or of the approval.")]
    title: Annotated[str, Field(description="The beginning of the question.")]
    created_at: str
    state: State
    papers: NotRequired[Annotated[int, Field(description="How many papers a review has.")]]
    workflow: NotRequired[Annotated[str, Field(description="The workflow that waits for approval.")]]
    action: NotRequired[str]
    note: NotRequired[Annotated[str | None, Field(description="The beginning of the note of the decision.")]]
    door: NotRequired[str]
    decided_by: NotRequired[str]
    actor: NotRequired[ActorFields]
    decided_at: NotRequired[str]


class QuestionSummaryPage(TypedDict):
    """A page of questions in short."""

    entries: list[QuestionSummary]
    next: NextPage
    pending: PendingCounts


def list_questions(
    inbox: Inbox, state: State | None, part: str | None, before: Position | None, limit: int
) -> InboxPage:
    """Return a page of the questions, the one that changed last first."""
    page = inbox.list_entries(state, part, before, limit)
    return {
        "entries": [describe_question(entry) for entry in page.entries],
        "next": _format_next(page),
        "pending": inbox.count_pending(),
    }


def summarize_questions(inbox: Inbox, state: State | None, before: Position | None, limit: int) -> QuestionSummaryPage:
    """Return a page of the questions without their payloads, in the same order."""
    page = inbox.list_entries(state, None, before, limit)
    return {
        "entries": [_summarize_entry(entry) for entry in page.entries],
        "next": _format_next(page),
        "pending": inbox.count_pending(),
    }


def describe_question(entry: InboxEntry) -> AnyQuestion:
    """Return the question with its payload, and its decision if there is one."""
    fields: Any = entry.model_dump(mode="json", exclude_none=True)
    if entry.kind == "strategy_confirmation":
        fields["payload"]["source_labels"] = dict(SOURCE_LABELS)
    return fields


def describe_approvals(entries: Sequence[InboxEntry]) -> list[ApprovalQuestion]:
    """Return the questions of workflows, with their decisions."""
    fields: Any = [entry.model_dump(mode="json", exclude_none=True) for entry in entries]
    return fields


def _summarize_entry(entry: InboxEntry) -> QuestionSummary:
    """Return the entry with the parts of payload and decision that a list shows."""
    payload = entry.payload
    summary: Any = entry.model_dump(mode="json", exclude_none=True, exclude={"payload", "decision"})
    summary["title"] = str(payload.get("query") or payload.get("question") or entry.subject)[:_TITLE_CHARS]
    if isinstance(papers := payload.get("total_papers"), int):
        summary["papers"] = papers
    if workflow := payload.get("workflow"):
        summary["workflow"] = str(workflow)[:_TITLE_CHARS]
    if entry.decision is not None:
        summary["action"] = entry.decision.action
        summary["note"] = entry.decision.note and entry.decision.note[:_TITLE_CHARS]
    return summary


def _format_next(page: EntryPage) -> str | None:
    return None if page.next is None else str(page.next)
