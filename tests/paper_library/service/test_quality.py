"""Ranking against human judgements: the quality of search does not fall."""

import gzip
import json
from collections import defaultdict
from math import log2
from pathlib import Path
from typing import Any

import pytest

from paper_library.domain.limits import QUERY_CHARS
from paper_library.service.build.builder import build_shelf
from paper_library.service.library import Library

COLLECTIONS = Path(__file__).parents[4] / "shared" / "data" / "ir"


def read_lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines() if path.exists() else []


def compute_gain(grades: list[float]) -> float:
    return sum(grade / log2(place + 2) for place, grade in enumerate(grades))


def compute_ndcg(library: Library, queries: list[dict[str, Any]], judged: dict[str, dict[str, float]]) -> float:
    """Return the mean nDCG@10 over the queries that have a relevant document."""
    scores: list[float] = []
    for query in queries:
        grades = judged[query["id"]]
        best = sorted((grade for grade in grades.values() if grade > 0), reverse=True)[:10]
        if best:
            hits = library.search(query["text"][:QUERY_CHARS], limit=20)["results"]
            ids = [library.metadata(hit["paper_id"])["identifiers"]["id"] for hit in hits]
            # A document with a negative grade is the query's own source, and is not counted.
            found = [grades.get(name, 0.0) for name in ids if grades.get(name, 0.0) >= 0][:10]
            scores.append(compute_gain(found) / compute_gain(best))
    return sum(scores) / len(scores)


LARGE = pytest.param("scifact", 0.695, marks=pytest.mark.soak)


@pytest.mark.skipif(not COLLECTIONS.exists(), reason="the collections are not beside this checkout")
@pytest.mark.parametrize(("name", "least"), [("cranfield", 0.441), ("cacm", 0.512), LARGE])
def test_the_ranking_quality_does_not_decrease(name: str, least: float, tmp_path: Path) -> None:
    folder = COLLECTIONS / name
    listing = tmp_path / "papers.jsonl"
    listing.write_bytes(gzip.decompress((folder / "corpus.jsonl.gz").read_bytes()))
    build_shelf([listing], tmp_path / "shelf")
    judged: dict[str, dict[str, float]] = defaultdict(dict)
    for query, document, grade in (line.split("\t")[:3] for line in read_lines(folder / "qrels.tsv")[1:]):
        judged[query][document] = float(grade)
    for query, document in (line.split("\t")[:2] for line in read_lines(folder / "source_docs.tsv")):
        judged[query][document] = -1.0
    library = Library.open(tmp_path / "shelf")
    assert compute_ndcg(library, [json.loads(line) for line in read_lines(folder / "queries.jsonl")], judged) >= least
