"""Order screened papers by a question, as a search ranks its papers."""

from collections.abc import Sequence

from paper_search.domain.relevance.scores import score_papers
from paper_search.domain.screening.replay import ScreenedPaper
from paper_search.models import ParsedIntent, RawPaper, RelevanceHints


def order_by_question(
    papers: Sequence[ScreenedPaper], priors: Sequence[int], intent: ParsedIntent, this_year: int
) -> list[int]:
    """Return the papers without `priors`, the best matches of the intent first.

    Papers count as recent by the newest of them, or by `this_year` if none has a year, so that a replay of an old
    review is the same in every year.
    """
    records = [
        RawPaper(
            id=f"{row:09}", source="screening", title=paper.title, abstract=paper.abstract or None, year=paper.year
        )
        for row, paper in enumerate(papers)
    ]
    newest = max((paper.year for paper in papers if paper.year), default=this_year)
    scored = score_papers(records, intent, RelevanceHints(), newest)
    return sorted((row for row in range(len(papers)) if row not in priors), key=lambda row: scored[row].sort_key)
