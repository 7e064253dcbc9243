"""Deduplication as pure functions: which records are one paper, and the one paper they make."""

from paper_search.dedup.deduplication import Deduplication, deduplicate, merge_duplicates

__all__ = ["Deduplication", "deduplicate", "merge_duplicates"]
