"""Sample papers and intents for the relevance tests."""

from paper_search.domain.relevance.scores import score_papers
from paper_search.models import Author, IntentType, ParsedIntent, RawPaper, RelevanceHints, ScoredPaper

THIS_YEAR = 2025


def make_paper(title: str, abstract: str | None = None, **fields: object) -> RawPaper:
    return RawPaper.model_validate({"title": title, "abstract": abstract, "source": "made_up", **fields})


def make_authors(*names: str) -> list[Author]:
    return [Author(name=name) for name in names]


def make_intent(topic: str, *concepts: str, **fields: object) -> ParsedIntent:
    return ParsedIntent.model_validate(
        {"topic": topic, "concepts": list(concepts), "intent_type": IntentType.METHOD, **fields}
    )


def score_pool(
    papers: list[RawPaper], wanted: ParsedIntent, hints: RelevanceHints | None = None, this_year: int = THIS_YEAR
) -> list[ScoredPaper]:
    return score_papers(papers, wanted, hints or RelevanceHints(), this_year)


def list_scores(papers: list[RawPaper], wanted: ParsedIntent, hints: RelevanceHints | None = None) -> list[float]:
    return [one.relevance_score for one in score_pool(papers, wanted, hints)]
