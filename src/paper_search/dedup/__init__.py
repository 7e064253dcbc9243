"""Deduplication as pure functions: records of one paper are found and merged."""

from paper_search.dedup.deduplication import Deduplication, deduplicate, merge_duplicates

__all__ = ["Deduplication", "deduplicate", "merge_duplicates"]
