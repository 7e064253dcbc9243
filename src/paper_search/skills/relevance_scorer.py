"""The skill that scores papers by rule, and then with a language model if one is configured."""

import asyncio
import json
from collections.abc import Sequence, Set
from contextlib import suppress
from typing import cast

from pydantic import BaseModel, FiniteFloat, ValidationError

from paper_search.errors import LLMError
from paper_search.identifier_queries import describe_missing_works, read_identifiers
from paper_search.large_work import call_in_thread_if_large
from paper_search.llm.base import LLMProvider
from paper_search.llm.questions import read_prompt
from paper_search.models import PaperTag, ParsedIntent, RawPaper, RelevanceHints, ScoredPaper
from paper_search.relevance.feedback_similarity import read_marks
from paper_search.relevance.scores import score_papers
from paper_search.workflow.skill_interfaces import ScoredPapers
from uraniborg.kernel.clock import Clock, SystemClock

_TITLE_CHARACTERS = 200
_ABSTRACT_CHARACTERS = 600
_REASON_CHARACTERS = 300
_MARKED_TITLES = 10
"""How many titles of marked papers a prompt holds at most."""


class RelevanceScorer:
    """Scores papers against an intent. A paper without a valid score of the model keeps its score by rule."""

    def __init__(
        self,
        llm: LLMProvider | None = None,
        batch_size: int = 25,
        max_concurrency: int = 5,
        clock: Clock | None = None,
    ) -> None:
        self._llm = llm
        self._batch_size = max(1, batch_size)
        self._max_concurrency = max(1, max_concurrency)
        self._clock = clock or SystemClock()

    async def score(
        self, papers: list[RawPaper], intent: ParsedIntent, hints: RelevanceHints | None = None
    ) -> ScoredPapers:
        """Return every paper with a score from 0 to 1, a reason and tags, in the order given. Never raises.

        The notes say where the model failed and which identifiers of the query were not found.
        """
        identifiers = read_identifiers(intent.topic)[: intent.constraints.max_results]
        notes = describe_missing_works(identifiers, papers)
        if not papers:
            return ScoredPapers([], notes)
        known_hints = hints or RelevanceHints()
        year = self._clock.now().year
        by_rule = await call_in_thread_if_large(len(papers), score_papers, papers, intent, known_hints, year)
        if self._llm is None or identifiers:
            return ScoredPapers(by_rule, notes)
        marked = read_marks(papers, known_hints)
        pinned = {scored.paper.id for scored, mark in zip(by_rule, marked, strict=True) if mark is not None}
        batches = [by_rule[start : start + self._batch_size] for start in range(0, len(by_rule), self._batch_size)]
        slots = asyncio.Semaphore(self._max_concurrency)
        done = await asyncio.gather(
            *(self._score_batch(self._llm, slots, batch, intent, known_hints, pinned) for batch in batches)
        )
        problems = [problem for _, problem in done if problem]
        return ScoredPapers(
            [scored for batch, _ in done for scored in batch], _summarize_problems(problems, len(batches))
        )

    async def _score_batch(
        self,
        llm: LLMProvider,
        slots: asyncio.Semaphore,
        batch: Sequence[ScoredPaper],
        intent: ParsedIntent,
        hints: RelevanceHints,
        pinned: Set[str],
    ) -> tuple[list[ScoredPaper], str | None]:
        """Return the batch with the model's scores, and the problem if there was one. `pinned` papers keep theirs."""
        try:
            async with slots:
                answer = await llm.complete_json(read_prompt("score_papers"), _build_prompt(batch, intent, hints))
        except LLMError as error:
            return list(batch), f"the model failed ({error.code})"
        verdicts = _read_verdicts(answer)
        judged = {paper_id: verdict for paper_id, verdict in verdicts.items() if paper_id not in pinned}
        scored = [judged[one.paper.id].apply(one) if one.paper.id in judged else one for one in batch]
        missing = any(paper.paper.id not in verdicts for paper in batch)
        return scored, "the model left papers out" if missing else None


def _build_prompt(batch: Sequence[ScoredPaper], intent: ParsedIntent, hints: RelevanceHints) -> str:
    return json.dumps(
        {
            "intent": intent.model_dump(mode="json", exclude={"notes"}),
            "marked_relevant": [work.title[:_TITLE_CHARACTERS] for work in hints.relevant[:_MARKED_TITLES]],
            "marked_irrelevant": [work.title[:_TITLE_CHARACTERS] for work in hints.irrelevant[:_MARKED_TITLES]],
            "wishes": hints.free_text,
            "papers": [
                {
                    "paper_id": scored.paper.id,
                    "title": scored.paper.title[:_TITLE_CHARACTERS],
                    "abstract": (scored.paper.abstract or scored.paper.snippet or "")[:_ABSTRACT_CHARACTERS],
                    "year": scored.paper.year,
                }
                for scored in batch
            ],
        },
        ensure_ascii=False,
    )


class _Verdict(BaseModel, strict=True):
    """What a model says about one paper."""

    paper_id: str
    relevance_score: FiniteFloat
    relevance_reason: object = None
    tags: object = None

    def apply(self, scored: ScoredPaper) -> ScoredPaper:
        """Return the paper with the model's score, and with its reason and tags where they are usable."""
        reason = " ".join(self.relevance_reason.split()) if isinstance(self.relevance_reason, str) else ""
        given = cast("list[object]", self.tags) if isinstance(self.tags, list) else []
        tags = [tag for tag in PaperTag if tag.value in given]
        update = {
            "relevance_score": min(1.0, max(0.0, self.relevance_score)),
            "relevance_reason": reason[:_REASON_CHARACTERS] or scored.relevance_reason,
            "tags": sorted(tags, key=given.index) or scored.tags,
        }
        return scored.model_copy(update=update)


def _read_verdicts(answer: object) -> dict[str, _Verdict]:
    """Return the valid entries of an answer by paper id; the first entry of a paper counts."""
    results = cast("dict[str, object]", answer).get("results") if isinstance(answer, dict) else None
    found: dict[str, _Verdict] = {}
    for entry in cast("list[object]", results) if isinstance(results, list) else []:
        with suppress(ValidationError):
            verdict = _Verdict.model_validate(entry)
            found.setdefault(verdict.paper_id.strip(), verdict)
    return found


def _summarize_problems(problems: list[str], batches: int) -> list[str]:
    return [
        f"For {problems.count(problem)} of {batches} batches of papers {problem}, so those papers were scored by rule."
        for problem in dict.fromkeys(problems)
    ]
