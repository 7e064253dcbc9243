"""Deduplication quality on labelled public data sets."""

from pathlib import Path

from bench.bench_dedup import (
    compute_f1,
    count_errors,
    find_exact_pairs,
    find_pairs,
    read_cora,
    read_dblp_acm,
    read_review,
)
from paper_search.domain.dedup import deduplicate, merge_duplicates


def test_dblp_and_acm_are_linked_with_an_f1_of_at_least_97_percent(shared_data: Path) -> None:
    papers, true = read_dblp_acm(shared_data / "dedup")
    assert compute_f1(find_pairs(merge_duplicates(papers), across_sources=True), true) >= 0.97


def test_messy_citations_are_clustered_with_an_f1_of_at_least_82_percent(shared_data: Path) -> None:
    papers, true = read_cora(shared_data / "dedup")
    quality = compute_f1(find_pairs(merge_duplicates(papers), across_sources=False), true)
    assert quality >= 0.82
    assert quality > compute_f1(find_exact_pairs(papers), true) + 0.05


def test_records_of_one_reviews_databases_have_at_most_one_wrong_merge_and_two_duplicates_left(
    shared_data: Path,
) -> None:
    papers, is_unique = read_review(shared_data / "dedup")
    wrong, left = count_errors(deduplicate(papers).members, is_unique)
    assert wrong <= 1
    assert left <= 2
