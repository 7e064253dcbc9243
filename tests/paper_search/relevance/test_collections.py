"""On test collections, the scorer's order of what a plain BM25 found is no worse than BM25's own."""

from pathlib import Path

import pytest

from bench.bench_scoring import Collection, rerank


@pytest.mark.parametrize(("name", "every"), [("cranfield", 3), ("cacm", 1), ("scifact", 3)])
async def test_reranking_does_not_lower_ndcg(shared_data: Path, name: str, every: int) -> None:
    before, after = await rerank(Collection.read(shared_data / "ir" / name), every)
    assert after >= before > 0.3
