"""The step of the review: a program suggests a verdict on each paper, and the person approves, with their own verdicts.

The marks of the program stay its own: the search log counts a paper as judged by a person only if the person marked it.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Final

from paper_search.domain.review_models import (
    PaperDecision,
    ReviewStatus,
    find_judge_of_decisions,
    select_counting_decisions,
)
from paper_search.models import Paper
from paper_search.service.review.reviewer_view import list_reviewed_papers
from paper_search.service.review.session_review import SessionReview
from uraniborg.kernel.actors import describe_actor
from uraniborg.kernel.errors import InvalidInput
from uraniborg.kernel.json_values import JsonObject
from uraniborg.kernel.language.messages import plural
from uraniborg.kernel.store.inbox import InboxDecision, describe_decision
from uraniborg.part_services import open_sessions
from uraniborg.story.agents import start_agent
from uraniborg.story.results import FoundPaper, JudgedPaper, Results, ReviewResult, StepInputs
from uraniborg.story.search_steps import decide_or_get
from uraniborg.story.steps import AskedValue, DeclaredStep, Description, StepContext

_VERDICTS: Final = tuple(status.value for status in ReviewStatus if status is not ReviewStatus.UNDECIDED)


def read_marks(given: JsonObject, papers: Sequence[FoundPaper]) -> dict[str, PaperDecision | None]:
    """Return the marks that a person gives, by paper id; a key may be the number of a paper. Raise InvalidInput."""
    ids = {str(number): paper["id"] for number, paper in enumerate(papers, 1)}
    known = set(ids.values())
    marks: dict[str, PaperDecision | None] = {}
    for key, mark in given.items():
        paper_id = key if key in known else ids.get(key)
        if paper_id is None:
            raise InvalidInput(
                f"'{key[:80]}' is not a paper of this search.",
                hint=f"Use the ids of its papers, or their numbers from 1 to {len(papers)}.",
                argument="marks",
            )
        status = mark.get("status") if isinstance(mark, dict) else mark
        if status not in _VERDICTS:
            raise InvalidInput(
                f"'{str(status)[:80]}' is not a verdict.", hint=f"Use {', '.join(_VERDICTS)}.", argument="marks"
            )
        marks[paper_id] = PaperDecision.model_validate(mark)
    return marks


async def run_review(context: StepContext, inputs: StepInputs) -> ReviewResult:
    """Store the marks of the person, approve the review, and let the agent's search end."""
    session_id, found = context.results["ask"]["session_id"], context.results["approve"]
    if marks := read_marks(inputs["marks"], found["papers"]):
        async with open_sessions() as manager:
            await SessionReview(manager).mark_papers(session_id, marks, describe_actor(context.actor), context.actor)
    entry = await decide_or_get(found["checkpoint_id"], InboxDecision(action="approve"), context)
    async with start_agent() as agent:
        await agent.wait_until(session_id, lambda reply: reply["is_complete"])
    async with open_sessions() as manager:
        result = await manager.get_result(session_id)
    listed = {paper["id"] for paper in found["papers"]}
    papers = [_describe_verdict(paper) for paper in list_reviewed_papers(result) if paper.id in listed]
    return {"decision": describe_decision(entry), "papers": papers}


def _describe_verdict(paper: Paper) -> JudgedPaper:
    """Return the verdict on a paper, with its last reason and who judged."""
    counting = select_counting_decisions(paper.decisions)
    return {
        "id": paper.id,
        "title": paper.title,
        "year": paper.year,
        "doi": paper.doi,
        "status": paper.status.value,
        "reason": next((one.reason for one in reversed(counting) if one.reason), None),
        "reviewer": counting[-1].reviewer if counting else None,
        "judge": find_judge_of_decisions(counting) if counting else None,
    }


def list_kept_ids(results: Results) -> list[str]:
    """Return the ids of the papers that the review includes."""
    return [paper["id"] for paper in results["review"]["papers"] if paper["status"] == ReviewStatus.INCLUDE]


def preview_review(results: Results) -> Description:
    papers = results["approve"]["papers"]
    kept = sum(paper["proposed"]["status"] == "include" for paper in papers)
    return Description(
        f"{plural(len(papers), 'paper waits', 'papers wait')} for your review. By the words of titles and summaries, "
        f"a program suggests to include {kept} and to exclude {len(papers) - kept}; the search log says that these are "
        "marks of a program. A paper that you mark yourself counts as judged by you.",
        [
            (f"{number} {paper['proposed']['status']}", f"{_name_paper(paper)}. {paper['proposed']['reason']}")
            for number, paper in enumerate(papers, 1)
        ],
        links=_link_review(results),
    )


def _link_review(results: Results) -> list[tuple[str, str]]:
    return [("the review", f"/searches/{results['ask']['session_id']}/review")]


def _name_paper(paper: FoundPaper | JudgedPaper) -> str:
    return f"{paper['title']} ({paper['year']})" if paper["year"] else paper["title"]


def describe_review(results: Results) -> Description:
    papers = results["review"]["papers"]
    kept = [paper for paper in papers if paper["status"] == "include"]
    rest = [paper for paper in papers if paper["status"] != "include"]
    return Description(
        f"You approved the review, which keeps {len(kept)} of {plural(len(papers), 'paper')}. "
        f"{_describe_judges(papers)}",
        [
            *(("keep", _describe_reason(paper)) for paper in kept),
            ("left out", f"{plural(len(rest), 'paper')}, for example {_describe_reason(rest[0])}")
            if rest
            else ("left out", "none"),
            ("decision", results["review"]["decision"]),
        ],
        links=_link_review(results),
    )


def _describe_reason(paper: JudgedPaper) -> str:
    reviewer = f" By {reviewer}." if (reviewer := paper.get("reviewer")) else ""
    return f"{_name_paper(paper)}. {paper['reason'] or 'No reason.'}{reviewer}"


def _describe_judges(papers: Sequence[JudgedPaper]) -> str:
    """Return who judged the papers, as the search log counts them."""
    # Stories of earlier versions recorded all verdicts as those of the person.
    judges = Counter(paper.get("judge", "person") for paper in papers)
    own, by_program = judges["person"], judges["program"]
    if own == len(papers):
        return "You judged each of them; the search log records your verdicts."
    if not own:
        return f"You judged none of them: the search log says that a program judged {by_program}."
    return f"You judged {own} of them: the search log says that a program judged the other {by_program}."


REVIEW: Final = DeclaredStep(
    "review", "You review the papers", "you", "Approve the review", run_review, preview_review, describe_review,
    (AskedValue("marks", "object", "Your own marks, by paper id or number, such as {\"3\": \"exclude\"} or "
           "{\"3\": {\"status\": \"exclude\", \"reason\": \"…\"}}. Papers without one have the mark of the program "
           "alone.", lambda _results: {}),),
)  # fmt: skip
