"""Deduplication quality on labelled public data sets."""

from pathlib import Path

from bench.bench_dedup import compute_f1, find_exact_pairs, find_pairs, read_cora, read_dblp_acm
from paper_search.dedup import merge_duplicates


def test_dblp_and_acm_are_linked_with_an_f1_of_at_least_97_percent(shared_data: Path) -> None:
    papers, true = read_dblp_acm(shared_data / "dedup")
    assert compute_f1(find_pairs(merge_duplicates(papers), across_sources=True), true) >= 0.97


def test_messy_citations_are_clustered_with_an_f1_of_at_least_82_percent(shared_data: Path) -> None:
    papers, true = read_cora(shared_data / "dedup")
    quality = compute_f1(find_pairs(merge_duplicates(papers), across_sources=False), true)
    assert quality >= 0.82
    assert quality > compute_f1(find_exact_pairs(papers), true) + 0.05
