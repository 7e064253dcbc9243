"""Deduplication quality on labelled public data sets."""

from pathlib import Path

from bench.bench_dedup import cora, dblp_acm, exact_pairs, f1, found_pairs
from paper_search.dedup import merge_duplicates


def test_dblp_and_acm_are_linked_with_an_f1_of_at_least_97_percent(shared_data: Path) -> None:
    papers, true = dblp_acm(shared_data / "dedup")
    assert f1(found_pairs(merge_duplicates(papers), across_sources=True), true) >= 0.97


def test_messy_citations_are_clustered_with_an_f1_of_at_least_82_percent(shared_data: Path) -> None:
    papers, true = cora(shared_data / "dedup")
    quality = f1(found_pairs(merge_duplicates(papers), across_sources=False), true)
    assert quality >= 0.82
    assert quality > f1(exact_pairs(papers), true) + 0.05
