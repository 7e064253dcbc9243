"""On test collections, the ranking of the scorer is at least as good as plain BM25."""

import functools
from pathlib import Path

import pytest

from bench.bench_scoring import Collection, rerank
from uraniborg.kernel.language.words import extract_terms


@pytest.fixture(autouse=True)
def every_text_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read each text once: most papers are found for several queries."""
    monkeypatch.setattr("paper_search.domain.relevance.weighted_terms.extract_terms", functools.cache(extract_terms))


LARGE = pytest.param("scifact", 3, marks=pytest.mark.soak)


@pytest.mark.parametrize(("name", "every"), [("cranfield", 3), ("cacm", 1), LARGE])
async def test_reranking_does_not_lower_ndcg(shared_data: Path, name: str, every: int) -> None:
    before, after = await rerank(Collection.read(shared_data / "ir" / name), every)
    assert after >= before > 0.3
