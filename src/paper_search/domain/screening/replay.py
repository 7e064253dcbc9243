"""Replay a finished screening: present its papers in an order, reveal each mark, and measure the order."""

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, NotRequired, TypedDict, get_args

import numpy as np

from paper_search.domain.relevance.scores import score_papers
from paper_search.domain.screening.learned_order import LearnedOrder
from paper_search.domain.screening.sparse_rows import build_citation_rows, build_word_rows
from paper_search.domain.screening.stop_rule import find_stop
from paper_search.models import ParsedIntent, RawPaper, RelevanceHints
from uraniborg.kernel.progress_callbacks import ReportCount

Order = Literal["learned", "question", "random"]
ORDERS: Final[tuple[Order, ...]] = get_args(Order)


@dataclass(frozen=True, slots=True)
class ScreenedPaper:
    """A paper of a finished screening."""

    id: str
    title: str
    abstract: str
    included: bool
    year: int | None = None
    references: tuple[str, ...] = ()


class StopReply(TypedDict):
    """Where the rule of the bound stopped, and what would have been found then."""

    screened: int
    share: float
    recall: float


class ReplayReply(TypedDict):
    """How well an order put included papers first; the two papers that were known before are not counted."""

    order: Order
    seed: int
    papers: int
    included: int
    priors: list[str]
    loss: float
    wss95: float
    recall_10: float
    recall_20: float
    atd: float
    stop: StopReply
    undecided: int
    """Records without a label, which were left out."""
    question: NotRequired[str]
    plot: NotRequired[str]


def order_by_learning(
    papers: Sequence[ScreenedPaper], priors: Sequence[int], seed: int = 0, report: ReportCount | None = None
) -> list[int]:
    """Return the papers without `priors` in the order in which a learning screening presents them.

    The seed orders papers of equal score: files often list included papers first.
    """
    words = build_word_rows(f"{paper.title} {paper.abstract}" for paper in papers)
    has_references = any(paper.references for paper in papers)
    references = [paper.references for paper in papers]
    citations = build_citation_rows([paper.id for paper in papers], references) if has_references else None
    order = LearnedOrder(words, citations)
    for row in priors:
        order.add_mark(row, included=papers[row].included)
    undecided = np.array(order_randomly(papers, priors, seed), dtype=np.int64)
    presented: list[int] = []
    while len(undecided):
        position = int(order.score_papers()[undecided].argmax())
        row = int(undecided[position])
        undecided = np.delete(undecided, position)
        presented.append(row)
        order.add_mark(row, included=papers[row].included)
        if report:
            report(len(presented), len(papers) - len(priors))
    return presented


def order_randomly(papers: Sequence[ScreenedPaper], priors: Sequence[int], seed: int) -> list[int]:
    """Return the papers without `priors`, shuffled by the seed."""
    rows = [row for row in range(len(papers)) if row not in priors]
    random.Random(seed).shuffle(rows)  # noqa: S311 - repeatable, not secret
    return rows


def draw_priors(papers: Sequence[ScreenedPaper], seed: int) -> list[int]:
    """Return one included and one excluded paper.

    Raise ValueError if all papers are included, or none is.
    """
    included = [row for row, paper in enumerate(papers) if paper.included]
    excluded = [row for row, paper in enumerate(papers) if not paper.included]
    if len(included) < 2 or not excluded:
        raise ValueError("A replay needs at least two included papers and one excluded paper.")
    numbers = random.Random(seed)  # noqa: S311 - repeatable, not secret
    return [numbers.choice(included), numbers.choice(excluded)]


def measure_order(marks: Sequence[bool]) -> dict[str, float]:
    """Return the figures of an order of marks: loss, WSS@95, recall after 10 and 20 %, mean rank of the included."""
    total, included = len(marks), sum(marks)
    ranks = [rank for rank, mark in enumerate(marks, 1) if mark]
    area = sum(total - rank + 1 for rank in ranks)
    best = included * (total - (included - 1) / 2)
    screened = ranks[math.ceil(0.95 * included) - 1]
    return {
        "loss": (best - area) / (included * (total - included)) if included < total else 0.0,
        "wss95": 0.95 - screened / total,
        "recall_10": sum(rank <= 0.1 * total for rank in ranks) / included,
        "recall_20": sum(rank <= 0.2 * total for rank in ranks) / included,
        "atd": sum(ranks) / included / total,
    }


def summarize_replay(
    papers: Sequence[ScreenedPaper],
    presented: Sequence[int],
    priors: Sequence[int],
    order: Order,
    seed: int,
    undecided: int = 0,
) -> ReplayReply:
    """Return the figures of the papers as they were presented."""
    marks = [papers[row].included for row in presented]
    figures = measure_order(marks)
    stopped = find_stop(marks, len(marks))
    return {
        "order": order,
        "seed": seed,
        "papers": len(papers),
        "included": sum(paper.included for paper in papers),
        "priors": [papers[row].id for row in priors],
        "loss": figures["loss"],
        "wss95": figures["wss95"],
        "recall_10": figures["recall_10"],
        "recall_20": figures["recall_20"],
        "atd": figures["atd"],
        "stop": {
            "screened": stopped,
            "share": stopped / len(marks),
            "recall": sum(marks[:stopped]) / sum(marks),
        },
        "undecided": undecided,
    }


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
