"""The program that suggests verdicts on papers: a reviewer of its own, whose marks a person may outvote."""

import re
from collections.abc import Sequence
from typing import Final

from paper_search.review_models import PaperDecision
from paper_search.sessions import SessionManager
from paper_search.sessions.session_review import SessionReview
from uraniborg.kernel.actors import Actor, describe_actor
from uraniborg.story.results import FoundPaper, ProposedMark

SCREENER: Final = Actor(kind="software", name="demo", authenticated="account")
"""The program that suggests verdicts: a reviewer of its own."""
TOPICS: Final = {
    "masses": re.compile(r"\bmass(?:es)?\b", re.IGNORECASE),
    "resonance": re.compile(r"\bresonan\w+", re.IGNORECASE),
    "stability": re.compile(r"\b(?:stable|stability|long-lived)\b", re.IGNORECASE),
}
"""The topics of the question, and the words that name them in a title or summary."""


def propose_mark(title: str, abstract: str) -> ProposedMark:
    """Return a status and its reason: include a paper whose title or summary names a topic of the question."""
    text = f"{title}\n{abstract}"
    named = [f"{topic} (“{found[0]}”)" for topic, words in TOPICS.items() if (found := words.search(text))]
    if named:
        return {"status": "include", "reason": f"Title or summary names {', '.join(named)}."}
    return {"status": "exclude", "reason": f"Title and summary name none of {', '.join(TOPICS)}."}


async def suggest_marks(manager: SessionManager, session_id: str, papers: Sequence[FoundPaper]) -> None:
    """Store the proposed mark of each paper as a mark of the program, for the review to come."""
    marks = {paper["id"]: PaperDecision.model_validate(paper["proposed"]) for paper in papers}
    await SessionReview(manager).mark_papers(session_id, marks, describe_actor(SCREENER), SCREENER)
