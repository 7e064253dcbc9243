"""Recall of a search: the share of the papers included by finished reviews that a plan finds, beside BM25.

All collections together are one literature behind two emulated sources: a Boolean one, which returns matches newest
first and refuses too broad a query, and one that ranks by words. Searches run through the whole engine.

python bench/bench_search_recall.py                     all rows, the mean of all questions
python bench/bench_search_recall.py --each              also a line for each question
python bench/bench_search_recall.py --rows boolean      some rows: both, boolean, marks
python bench/bench_search_recall.py --reviews FOLDER    other reviews, in the same format
"""

import argparse
import asyncio
import gzip
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from statistics import mean
from time import perf_counter
from typing import Any

from ratios import record_ratio

from paper_search.models import Paper, RawPaper, Work
from paper_search.skills.deduplicator import Deduplicator
from paper_search.skills.intent_parser import IntentParser
from paper_search.skills.query_builder import QueryBuilder
from paper_search.skills.relevance_scorer import RelevanceScorer
from paper_search.skills.result_organizer import ResultOrganizer
from paper_search.skills.searcher import Searcher
from paper_search.testing import EmulatedBooleanSource, EmulatedLiterature, EmulatedRankedSource
from paper_search.workflow.checkpoints import Checkpoint, CheckpointKind, Decision, DecisionAction, ResultPayload
from paper_search.workflow.engine import SearchWorkflow
from uraniborg.kernel.language.words import split_words

SHARED_DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
COLLECTIONS = ("ir/scifact", "ir/cacm", "ir/cranfield")
UNATTENDED, ROUND, CHECKED_ROUNDS = 400, 100, (4, 10)

Record = tuple[str, RawPaper]
"""A record of the literature with the id that it has in its collection."""
Found = tuple[int, list[str]]
"""The number of papers of a result, and the ids of the records that these stand for."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question with the ids of the papers that its review included."""

    review: str
    text: str
    included: frozenset[str]


def main() -> None:
    arguments = parse_arguments()
    folder = arguments.reviews or SHARED_DATA / "reviews"
    started = perf_counter()
    records, included = read_literature(folder)
    papers = [paper for _, paper in records]
    questions = [
        Question(row["review"], row["question"], frozenset(included[row["review"]]))
        for row in read_lines(folder / "questions.jsonl")
    ]
    literature, register = EmulatedLiterature(papers), Register(records)
    print(f"{len(papers):,} papers indexed in {perf_counter() - started:.0f} s, {len(questions)} questions.\n")
    print(f"{'mean of the questions':<44} {'recall':>7} {'papers':>7} {'at 0':>5}")
    peer = print_row(
        "the question by BM25 (bm25s), 400 papers", rank_by_bm25s(records, questions), questions, arguments.each
    )
    rows: dict[str, Sequence[str]] = {"both": ("boolean", "ranked"), "boolean": ("boolean",)}
    for row, kinds in rows.items():
        if row in arguments.rows:
            found = [asyncio.run(search_unattended(literature, register, kinds, question)) for question in questions]
            label = f"{' and '.join(kinds)} source, unattended, {UNATTENDED}"
            recall = print_row(label, found, questions, arguments.each)
            record_ratio(f"{row}, unattended: ours to BM25", recall / peer)
            record_ratio(f"{row}, unattended: recall", recall)
    if "marks" in arguments.rows:
        reviews = [asyncio.run(search_with_marks(literature, register, question)) for question in questions]
        for rounds in CHECKED_ROUNDS:
            label = f"both sources, with marks, {rounds} rounds of {ROUND}"
            recall = print_row(label, [found[rounds - 1] for found in reviews], questions, arguments.each)
            record_ratio(f"marks, {rounds} rounds: ours to BM25", recall / peer)
            record_ratio(f"marks, {rounds} rounds: recall", recall)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--each", action="store_true", help="print a line for each question")
    parser.add_argument("--rows", nargs="+", choices=("both", "boolean", "marks"), default=["both", "boolean", "marks"])
    parser.add_argument("--reviews", type=Path, metavar="FOLDER", help="a folder with reviews and questions.jsonl")
    return parser.parse_args()


def read_literature(folder: Path) -> tuple[list["Record"], dict[str, set[str]]]:
    """Return all records, and for each review the ids of the records that it included."""
    records: list[Record] = []
    included: dict[str, set[str]] = {}
    for path in sorted(folder.glob("*.jsonl.gz")):
        review = path.name.removesuffix(".jsonl.gz")
        for row in read_lines(path):
            records.append((f"{review}:{row['id']}", make_paper(row)))
            if row["included"]:
                included.setdefault(review, set()).add(records[-1][0])
    for name in COLLECTIONS:
        rows = read_lines(SHARED_DATA / name / "corpus.jsonl.gz")
        records += [(f"{name}:{row['id']}", make_paper(row)) for row in rows]
    part = SHARED_DATA / "corpus" / "acl_anthology.part0.jsonl.gz"
    return records + [(f"acl:{row['id']}", make_paper(row)) for row in read_lines(part)], included


def read_lines(path: Path) -> Iterator[dict[str, Any]]:
    open_text: Callable[..., Any] = gzip.open if path.suffix == ".gz" else open
    with open_text(path, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def make_paper(row: Mapping[str, Any]) -> RawPaper:
    year = row.get("year")
    return RawPaper(
        title=row["title"] or "Untitled",
        abstract=row.get("abstract") or None,
        year=int(year) if year else None,
        doi=row.get("doi") or None,
        source="literature",
    )


def rank_by_bm25s(records: Sequence["Record"], questions: Sequence[Question]) -> list["Found"]:
    bm25s, stemmer = import_module("bm25s"), import_module("Stemmer").Stemmer("english")
    texts = [f"{paper.title}\n{paper.abstract or ''}" for _, paper in records]
    index = bm25s.BM25(k1=0.9, b=0.4)
    index.index(bm25s.tokenize(texts, stopwords="en", stemmer=stemmer, show_progress=False), show_progress=False)
    words = bm25s.tokenize([one.text for one in questions], stopwords="en", stemmer=stemmer, show_progress=False)
    found, _ = index.retrieve(words, k=UNATTENDED, show_progress=False)
    return [(len(row), [records[position][0] for position in row]) for row in found]


async def search_unattended(
    literature: EmulatedLiterature, register: "Register", kinds: Sequence[str], question: Question
) -> "Found":
    result = await build_workflow(literature, kinds, UNATTENDED).run(question.text)
    return len(result.papers), register.list_all_records(result.papers)


async def search_with_marks(literature: EmulatedLiterature, register: "Register", question: Question) -> list["Found"]:
    """Return what the person has seen after each round."""
    reviewer = SimulatedReviewer(question.included, register, CHECKED_ROUNDS[-1])
    workflow = build_workflow(literature, ("boolean", "ranked"), ROUND, reviewer)
    await workflow.run(question.text)
    return reviewer.seen


class SimulatedReviewer:
    """Approves every plan and marks every paper of a result as the finished review did."""

    def __init__(self, included: frozenset[str], register: "Register", rounds: int) -> None:
        self._included = included
        self._register = register
        self._rounds = rounds
        self.seen: list[Found] = []

    async def handle(self, checkpoint: Checkpoint) -> Decision:
        if checkpoint.kind is CheckpointKind.STRATEGY_CONFIRMATION:
            return Decision(action=DecisionAction.APPROVE)
        assert isinstance(checkpoint.payload, ResultPayload)
        collection = checkpoint.payload.collection
        listed = [*collection.papers, *collection.excluded_papers]
        self.seen.append((len(listed), self._register.list_all_records(listed)))
        marks = {paper.id: self._judge(paper) for paper in collection.papers if not paper.decisions}
        action = DecisionAction.APPROVE if len(self.seen) >= self._rounds else DecisionAction.REJECT
        return Decision(action=action, revised_data={"decisions": marks})

    def _judge(self, paper: Paper) -> str:
        return "include" if self._included & self._register.list_records(paper) else "exclude"


def build_workflow(
    literature: EmulatedLiterature, kinds: Sequence[str], max_results: int, handler: SimulatedReviewer | None = None
) -> SearchWorkflow:
    made = {"boolean": EmulatedBooleanSource, "ranked": EmulatedRankedSource}
    sources = [made[kind](literature) for kind in kinds]
    return SearchWorkflow(
        IntentParser(),
        QueryBuilder(available_sources=[source.source_name for source in sources]),
        Searcher(sources),
        Deduplicator(),
        RelevanceScorer(),
        ResultOrganizer(),
        checkpoint_handler=handler,
        max_iterations=CHECKED_ROUNDS[-1],
        max_results=max_results,
    )


class Register:
    """Tells which records of the literature a paper of a result stands for: those with its title or its DOI."""

    def __init__(self, records: Sequence["Record"]) -> None:
        self._records: dict[str, list[str]] = {}
        for record_id, paper in records:
            for key in self._list_keys(paper):
                self._records.setdefault(key, []).append(record_id)

    def list_records(self, paper: Paper) -> set[str]:
        return {one for key in self._list_keys(paper) for one in self._records.get(key, ())}

    def list_all_records(self, papers: Sequence[Paper]) -> list[str]:
        return sorted({one for paper in papers for one in self.list_records(paper)})

    @staticmethod
    def _list_keys(work: Work) -> list[str]:
        title = " ".join(split_words(work.title))
        return [key for key in (title, (work.doi or "").casefold()) if key and key != "untitled"]


def print_row(label: str, found: Sequence["Found"], questions: Sequence[Question], each: bool) -> float:
    """Print the mean recall, the mean number of papers and the number of questions without any; return the recall."""
    recalls = [len(one.included & set(ids)) / len(one.included) for one, (_, ids) in zip(questions, found, strict=True)]
    papers = mean(count for count, _ in found)
    print(f"{label:<44} {mean(recalls):>7.3f} {papers:>7.0f} {recalls.count(0.0):>5}", flush=True)
    for one, recall, (count, _) in zip(questions, recalls, found, strict=True) if each else ():
        print(f"    {recall:.2f} {count:>5}  {one.text[:100]}")
    return mean(recalls)


if __name__ == "__main__":
    main()
