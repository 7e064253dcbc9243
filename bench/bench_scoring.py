"""Scoring: CPU time against bm25s on the same tokens, and nDCG@10 of re-ranking what a plain BM25 found."""

import asyncio
import gzip
import json
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from statistics import mean, median
from time import process_time
from typing import Any

from ratios import record_ratio

from paper_search.domain.relevance.bm25 import weigh_terms
from paper_search.domain.relevance.scores import compute_text_strengths
from paper_search.domain.relevance.weighted_terms import Candidate, CandidatePool, build_weighted_query
from paper_search.models import Author, IntentType, ParsedIntent, RawPaper
from paper_search.skills.relevance_scorer import RelevanceScorer
from uraniborg.kernel.language.words import extract_terms

SHARED_DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
COLLECTIONS = ("cranfield", "cacm", "scifact")
K1, B, DEPTH, CUT = 0.9, 0.4, 100, 10
CANDIDATES, ROUNDS = 1_000, 15
TOPIC = "effect of early diet on the development of immune cells and inflammation in the gut"

Grades = dict[str, int]


@dataclass(frozen=True, slots=True)
class Collection:
    papers: list[RawPaper]
    queries: dict[str, str]
    grades: dict[str, Grades]
    sources: dict[str, str]
    """The document a query was written from, where that is known; it counts neither way."""

    @classmethod
    def read(cls, folder: Path) -> "Collection":
        with gzip.open(folder / "corpus.jsonl.gz", "rt", encoding="utf-8") as lines:
            papers = [paper(json.loads(line)) for line in lines]
        queries = [json.loads(line) for line in (folder / "queries.jsonl").read_text(encoding="utf-8").splitlines()]
        grades: dict[str, Grades] = defaultdict(dict)
        for query, document, grade in rows(folder / "qrels.tsv"):
            grades[query][document] = int(grade)
        sources = {query: document for query, document, *_ in rows(folder / "source_docs.tsv")}
        return cls(papers, {query["id"]: query["text"] for query in queries}, dict(grades), sources)


def rows(path: Path) -> Iterator[list[str]]:
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    return (line.split("\t") for line in lines[1:])


def paper(row: dict[str, Any]) -> RawPaper:
    return RawPaper(
        id=row["id"],
        title=row["title"] or "",
        abstract=row.get("abstract") or None,
        authors=[Author(name=name) for name in row.get("authors", ())],
        year=row.get("year"),
        venue=row.get("venue"),
        source="collection",
    )


class PlainBM25:
    """BM25 as every textbook has it, over title and abstract as one text."""

    def __init__(self, texts: Iterable[Sequence[str]]) -> None:
        self._postings: dict[str, list[tuple[int, int]]] = defaultdict(list)
        self._lengths: list[int] = []
        for index, text in enumerate(texts):
            self._lengths.append(len(text))
            for term, count in Counter(text).items():
                self._postings[term].append((index, count))
        self._average = mean(self._lengths)

    def best(self, query: Sequence[str]) -> list[int]:
        scores: dict[int, float] = defaultdict(float)
        for term in query:
            holders = self._postings.get(term, [])
            compute_rarity = math.log(1 + (len(self._lengths) - len(holders) + 0.5) / (len(holders) + 0.5))
            for index, count in holders:
                length = 1 - B + B * self._lengths[index] / self._average
                scores[index] += compute_rarity * count * (K1 + 1) / (count + K1 * length)
        return sorted(scores, key=lambda index: (-scores[index], index))


def ndcg(ranked: Sequence[str], grades: Mapping[str, int]) -> float:
    gained = sum(grades.get(name, 0) / math.log2(place + 2) for place, name in enumerate(ranked[:CUT]))
    ideal = sorted(grades.values(), reverse=True)[:CUT]
    return gained / sum(grade / math.log2(place + 2) for place, grade in enumerate(ideal))


def intent_of(text: str) -> ParsedIntent:
    return ParsedIntent(topic=text, concepts=[], intent_type=IntentType.METHOD)


async def rerank(collection: Collection, every: int = 1) -> tuple[float, float]:
    """Mean nDCG@10 of the plain ranking and of the same papers in the scorer's order, over every n-th query."""
    papers, scorer = collection.papers, RelevanceScorer()
    plain = PlainBM25(extract_terms(f"{one.title} {one.abstract or ''}") for one in papers)
    before: list[float] = []
    after: list[float] = []
    for name, text in list(collection.queries.items())[::every]:
        source = collection.sources.get(name)
        grades = {doc: grade for doc, grade in collection.grades.get(name, {}).items() if doc != source}
        if not any(grades.values()):
            continue
        found = [papers[index] for index in plain.best(extract_terms(text)) if papers[index].id != source][:DEPTH]
        scored = await scorer.score(found, intent_of(text))
        scored.sort(key=lambda one: (-one.relevance_score, one.paper.id))
        before.append(ndcg([one.id for one in found], grades))
        after.append(ndcg([one.paper.id for one in scored], grades))
    return mean(before), mean(after)


def cpu_ms(work: Callable[[], object]) -> float:
    started = process_time()
    work()
    return 1_000 * (process_time() - started)


def candidates(papers: Sequence[RawPaper]) -> list[RawPaper]:
    plain = PlainBM25(extract_terms(f"{one.title} {one.abstract or ''}") for one in papers)
    return [papers[index] for index in plain.best(extract_terms(TOPIC))][:CANDIDATES]


def compare_speed(pool: list[RawPaper]) -> None:
    """Interleaved runs, so that whatever else the machine does meets both alike."""
    query, asked = build_weighted_query(intent_of(TOPIC)), extract_terms(TOPIC)
    titles, bodies = [extract_terms(one.title) for one in pool], [extract_terms(one.abstract or "") for one in pool]
    tokens = [title + body for title, body in zip(titles, bodies, strict=True)]
    texts = [f"{one.title} {one.abstract or ''}" for one in pool]
    bm25s, stemmer = import_module("bm25s"), import_module("Stemmer").Stemmer("english")

    def ours() -> None:
        counted = CandidatePool([Candidate(title, body) for title, body in zip(titles, bodies, strict=True)])
        compute_text_strengths(counted, query, weigh_terms(counted, query.asked))

    def theirs() -> None:
        index = bm25s.BM25(k1=K1, b=B)
        index.index(tokens, show_progress=False)
        index.get_scores(asked)

    def theirs_from_text() -> None:
        index = bm25s.BM25(k1=K1, b=B)
        index.index(bm25s.tokenize(texts, stopwords="en", stemmer=stemmer, show_progress=False), show_progress=False)
        words = bm25s.tokenize([TOPIC], stopwords="en", stemmer=stemmer, return_ids=False, show_progress=False)
        index.get_scores(words[0])

    async def score_pool() -> None:
        await RelevanceScorer().score(pool, intent_of(TOPIC))

    def ours_from_text() -> None:
        asyncio.run(score_pool())

    times = [[cpu_ms(work) for work in (ours, theirs, ours_from_text, theirs_from_text)] for _ in range(ROUNDS)]
    mine, peer, mine_text, peer_text = (median(column) for column in zip(*times, strict=True))
    print(f"{len(pool)} candidates, median CPU ms of {ROUNDS} interleaved runs")
    print(f"  from tokens:  ours {mine:6.1f}   bm25s {peer:6.1f}   ratio {mine / peer:.2f}  (target <= 1)")
    print(f"  from text:    ours {mine_text:6.1f}   bm25s {peer_text:6.1f}   ratio {mine_text / peer_text:.2f}")
    record_ratio("from tokens: ours to bm25s", mine / peer)
    record_ratio("from text: ours to bm25s", mine_text / peer_text)
    print("  (from text no target: ours also writes a reason and tags for each paper)")


def main() -> None:
    folder = SHARED_DATA / "ir"
    if not folder.is_dir():
        print(f"skipped: the test collections are not at {folder}")
        return
    compare_speed(candidates(Collection.read(folder / "scifact").papers))
    print(f"nDCG@{CUT} of the best {DEPTH} of a plain BM25 (k1 {K1}, b {B}), and of the same papers re-ranked")
    for name in COLLECTIONS:
        before, after = asyncio.run(rerank(Collection.read(folder / name)))
        print(f"  {name:10} {before:.4f} -> {after:.4f}   {after / before - 1:+.1%}")
        record_ratio(f"{name} nDCG to plain BM25", after / before)


if __name__ == "__main__":
    main()
