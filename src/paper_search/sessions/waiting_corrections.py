"""Show people the merges and splits of a review: those that wait, and those that were made."""

from collections.abc import Mapping

from paper_search.models import PaperCollection
from paper_search.review_models import PaperMerge
from paper_search.review_replies import CorrectionReply
from paper_search.sessions.saved_marks import UNNAMED_REVIEWER, Corrections
from uraniborg.kernel.actors import Actor


def describe_corrections(
    waiting: Corrections, collection: PaperCollection, actors: Mapping[str, Actor]
) -> list[CorrectionReply]:
    """Return the changes that wait, then those that were made, each with the title of its first paper."""
    listed = [*collection.papers, *collection.excluded_papers, *collection.removed_papers]
    titles = {name: paper.title for paper in listed for name in (*paper.other_ids, paper.id)}
    changes: list[CorrectionReply] = [
        {
            "kind": "merge" if isinstance(change, PaperMerge) else "split",
            "papers": papers,
            "records": [] if isinstance(change, PaperMerge) else change.records,
            "title": titles.get(papers[0], ""),
            "reviewer": change.reviewer,
            "actor": actor and actor.model_dump(),
            "at": None,
            "is_sent": False,
        }
        for change in (*waiting.merge, *waiting.split)
        for papers in [change.papers if isinstance(change, PaperMerge) else [change.paper]]
        for actor in [actors.get(change.reviewer or UNNAMED_REVIEWER)]
    ]
    return changes + [
        {
            "kind": made.kind,
            "papers": made.papers,
            "records": made.records,
            "title": made.title,
            "reviewer": made.reviewer,
            "actor": made.actor and made.actor.model_dump(),
            "at": made.at,
            "is_sent": True,
        }
        for made in collection.metadata.corrections
    ]
