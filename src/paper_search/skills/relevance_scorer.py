"""Skill: score papers by rule, and then with a language model if one is configured."""

import asyncio
from collections import Counter
from typing import Annotated, TypedDict

from pydantic import BaseModel, Field, FiniteFloat, OnErrorOmit

from paper_search.domain.large_work import call_in_thread_if_large
from paper_search.domain.query.identifier_queries import describe_missing_works, read_identifiers
from paper_search.domain.relevance.scores import score_papers
from paper_search.domain.relevance.secondary_evidence import read_marks
from paper_search.models import PaperTag, ParsedIntent, RawPaper, RelevanceHints, ScoredPaper
from paper_search.service.llm.provider import LLMProvider, ask_model
from paper_search.workflow.skill_interfaces import ScoredPapers
from uraniborg.kernel.clock import Clock, SystemClock
from uraniborg.kernel.json_values import JsonObject

_TITLE_CHARACTERS = 200
_ABSTRACT_CHARACTERS = 600
_REASON_CHARACTERS = 300
_MARKED_TITLES = 10


class _Verdict(BaseModel):
    """What a model says about one paper."""

    paper_id: str
    relevance_score: Annotated[FiniteFloat, Field(strict=True)]
    relevance_reason: str | None = None
    tags: list[OnErrorOmit[PaperTag]] | None = None

    def apply(self, scored: ScoredPaper) -> ScoredPaper:
        """Return the paper with the model's score, and with its reason and tags if there are any."""
        score = min(1.0, max(0.0, self.relevance_score))
        reason = " ".join((self.relevance_reason or "").split())[:_REASON_CHARACTERS] or scored.relevance_reason
        tags = list(dict.fromkeys(self.tags or ())) or scored.tags
        return scored.model_copy(update={"relevance_score": score, "relevance_reason": reason, "tags": tags})


class _Verdicts(BaseModel):
    """The answer of a model. An invalid verdict counts as none."""

    results: list[OnErrorOmit[_Verdict]]


class _PaperToScore(TypedDict):
    paper_id: str
    title: str
    abstract: str
    year: int | None


class _ScoringData(TypedDict):
    """What a model knows when it scores a batch of papers."""

    intent: JsonObject
    marked_relevant: list[str]
    marked_irrelevant: list[str]
    wishes: list[str]
    papers: list[_PaperToScore]


class RelevanceScorer:
    """Scores papers against an intent. A paper without a valid score of the model keeps its score by rule."""

    def __init__(
        self, llm: LLMProvider | None = None, batch_size: int = 25, max_concurrency: int = 5, clock: Clock | None = None
    ) -> None:
        self._llm = llm
        self._batch_size = max(1, batch_size)
        self._max_concurrency = max(1, max_concurrency)
        self._clock = clock or SystemClock()

    async def score(
        self, papers: list[RawPaper], intent: ParsedIntent, hints: RelevanceHints | None = None
    ) -> ScoredPapers:
        """Return every paper in the order given, with a score from 0 to 1, a reason and tags. Never raises."""
        hints = hints or RelevanceHints()
        identifiers = read_identifiers(intent.topic)[: intent.constraints.max_results]
        year = self._clock.now().year
        by_rule = await call_in_thread_if_large(len(papers), score_papers, papers, intent, hints, year)
        llm = self._llm
        if llm is None or identifiers:
            return ScoredPapers(by_rule, describe_missing_works(identifiers, papers))
        pinned = {paper.id for paper, mark in zip(papers, read_marks(papers, hints), strict=True) if mark is not None}
        slots = asyncio.Semaphore(self._max_concurrency)

        async def score_batch(batch: list[ScoredPaper]) -> tuple[list[ScoredPaper], str]:
            async with slots:
                answer, problem = await ask_model(llm, "score_papers", None, _describe(batch, intent, hints), _Verdicts)
            verdicts = {one.paper_id.strip(): one for one in reversed(answer.results if answer else [])}
            if any(one.paper.id not in verdicts for one in batch):
                problem = problem or "The language model left papers out"
            judged = verdicts.keys() - pinned
            return [verdicts[one.paper.id].apply(one) if one.paper.id in judged else one for one in batch], problem

        starts = range(0, len(by_rule), self._batch_size)
        batches = [by_rule[start : start + self._batch_size] for start in starts]
        done = await asyncio.gather(*map(score_batch, batches))
        problems = Counter(problem for _, problem in done if problem)
        notes = [
            f"{problem} for {count} of {len(batches)} batches of papers, so those were scored by rule."
            for problem, count in problems.items()
        ]
        return ScoredPapers([scored for batch, _ in done for scored in batch], notes)


def _describe(batch: list[ScoredPaper], intent: ParsedIntent, hints: RelevanceHints) -> _ScoringData:
    return {
        "intent": intent.model_dump(mode="json", exclude={"notes"}),
        "marked_relevant": [work.title[:_TITLE_CHARACTERS] for work in hints.relevant[:_MARKED_TITLES]],
        "marked_irrelevant": [work.title[:_TITLE_CHARACTERS] for work in hints.irrelevant[:_MARKED_TITLES]],
        "wishes": hints.free_text,
        "papers": [
            {
                "paper_id": paper.id,
                "title": paper.title[:_TITLE_CHARACTERS],
                "abstract": (paper.abstract or paper.snippet or "")[:_ABSTRACT_CHARACTERS],
                "year": paper.year,
            }
            for paper in (scored.paper for scored in batch)
        ],
    }
