"""Made-up papers and intents for the relevance tests."""

from paper_search.models import Author, IntentType, ParsedIntent, RawPaper, RelevanceHints, ScoredPaper
from paper_search.relevance.scores import score_papers

THIS_YEAR = 2025


def paper(title: str, abstract: str | None = None, **fields: object) -> RawPaper:
    return RawPaper.model_validate({"title": title, "abstract": abstract, "source": "made_up", **fields})


def by(*names: str) -> list[Author]:
    return [Author(name=name) for name in names]


def intent(topic: str, *concepts: str, **fields: object) -> ParsedIntent:
    return ParsedIntent.model_validate(
        {"topic": topic, "concepts": list(concepts), "intent_type": IntentType.METHOD, **fields}
    )


def judged(
    papers: list[RawPaper], wanted: ParsedIntent, hints: RelevanceHints | None = None, this_year: int = THIS_YEAR
) -> list[ScoredPaper]:
    return score_papers(papers, wanted, hints or RelevanceHints(), this_year)


def scores(papers: list[RawPaper], wanted: ParsedIntent, hints: RelevanceHints | None = None) -> list[float]:
    return [one.relevance_score for one in judged(papers, wanted, hints)]
