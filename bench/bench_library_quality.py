"""How well the shelf is searched: ranking against human judgements, through the `search_papers` tool.

Claims: nDCG@10 of at least 0.441 on Cranfield (source documents dropped), 0.512 on CACM, 0.695 on SciFact, and a
Recall@100 of at least 0.47 on the ACL questions, all with one configuration. The peer in the same run is plain BM25
over title and abstract (k1 0.9, b 0.4, English stems, no stop words). Queries are cut at the tool's 500 characters.
"""

import asyncio
import json
import math
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, Final, cast

from ratios import record_ratio
from shelves import DATA, build_corpus_shelf, collection, corpus, make_temporary_folder, need_data

from paper_library.domain.limits import QUERY_CHARS
from paper_library.mcp_server import make_mcp_server
from paper_library.service.build.builder import build_shelf
from paper_library.service.library import Library
from paper_library.service.worker_threads import WorkerThreads

TARGETS: Final = {"cranfield": 0.441, "cacm": 0.512, "scifact": 0.695}
RECALL_TARGET: Final = 0.47

Rank = Callable[[str, int], list[str]]


def main() -> None:
    need_data()
    for name, target in TARGETS.items():
        documents, queries, judged = collection(name)
        shelf = make_temporary_folder() / name
        source = shelf.with_suffix(".jsonl")
        source.write_text("".join(json.dumps(document) + "\n" for document in documents))
        build_shelf([source], shelf)
        dropped = _dropped(name)
        ours, plain = (
            _compute_mean_ndcg(rank, queries, judged, dropped)
            for rank in (_make_tool_ranker(shelf), _make_bm25_ranker(documents))
        )
        print(f"  {name:<12} nDCG@10 {ours:.3f} (claim {target}); plain BM25 {plain:.3f}; {ours / plain:.2f}x")
        record_ratio(f"{name} nDCG@10 to plain BM25", ours / plain)
    _, queries, judged = collection("autoscholar_acl")
    papers = list(corpus())
    ours, plain = (
        _compute_mean_recall(rank, queries, judged)
        for rank in (_make_tool_ranker(build_corpus_shelf()[0]), _make_bm25_ranker(papers))
    )
    print(f"  {'acl':<12} Recall@100 {ours:.3f} (claim {RECALL_TARGET}); plain BM25 {plain:.3f}; {ours / plain:.2f}x")
    record_ratio("acl Recall@100 to plain BM25", ours / plain)


def _make_tool_ranker(shelf: Path) -> Rank:
    """Ranks by calling the tool as a client would; ids are those of the collection."""
    library = Library.open(shelf)
    server = make_mcp_server(library, WorkerThreads(2, query_s=60, fetch_s=60))

    def rank(query: str, count: int) -> list[str]:
        reply: Any = asyncio.run(server.call_tool("search_papers", {"query": query[:QUERY_CHARS], "limit": count}))
        assert not reply.isError, reply.content[0].text
        hits = cast("list[dict[str, Any]]", reply.structuredContent["results"])
        return [library.metadata(hit["paper_id"])["identifiers"]["id"] for hit in hits]

    return rank


def _make_bm25_ranker(documents: list[dict[str, Any]]) -> Rank:
    # Neither has types.
    bm25s: Any = import_module("bm25s")
    stemmer: Any = import_module("Stemmer").Stemmer("english")
    texts = [f"{document['title']} {document.get('abstract') or ''}" for document in documents]
    index = bm25s.BM25(k1=0.9, b=0.4)
    index.index(bm25s.tokenize(texts, stopwords="en", stemmer=stemmer, show_progress=False), show_progress=False)

    def rank(query: str, count: int) -> list[str]:
        words = bm25s.tokenize([query], stopwords="en", stemmer=stemmer, show_progress=False)
        found, _ = index.retrieve(words, k=min(count, len(documents)), show_progress=False)
        return [documents[int(place)]["id"] for place in found[0]]

    return rank


def _compute_mean_ndcg(
    rank: Rank, queries: list[dict[str, Any]], judged: dict[str, dict[str, float]], dropped: dict[str, set[str]]
) -> float:
    scores: list[float] = []
    for query in queries:
        without = dropped.get(query["id"], set())
        grades = {doc: grade for doc, grade in judged[query["id"]].items() if grade > 0 and doc not in without}
        if grades:
            found = [doc for doc in rank(query["text"], 20) if doc not in without][:10]
            scores.append(
                _compute_dcg([grades.get(doc, 0.0) for doc in found])
                / _compute_dcg(sorted(grades.values(), reverse=True)[:10])
            )
    return sum(scores) / len(scores)


def _compute_mean_recall(rank: Rank, queries: list[dict[str, Any]], judged: dict[str, dict[str, float]]) -> float:
    shares: list[float] = []
    for query in queries:
        wanted = {doc for doc, grade in judged[query["id"]].items() if grade > 0}
        if wanted:
            shares.append(len(wanted & set(rank(query["text"], 100))) / len(wanted))
    return sum(shares) / len(shares)


def _compute_dcg(grades: list[float]) -> float:
    return sum(grade / math.log2(place + 2) for place, grade in enumerate(grades))


def _dropped(name: str) -> dict[str, set[str]]:
    path = DATA / "ir" / name / "source_docs.tsv"
    found: dict[str, set[str]] = {}
    for line in path.read_text().splitlines() if path.exists() else ():
        query, document, *_ = line.split("\t")
        found.setdefault(query, set()).add(document)
    return found


if __name__ == "__main__":
    main()
