"""Deduplication as pure functions: records of one paper are found and merged."""

from paper_search.domain.dedup.deduplication import (
    Deduplication,
    assign_distinct_ids,
    deduplicate,
    merge_as_one,
    merge_duplicates,
)

__all__ = ["Deduplication", "assign_distinct_ids", "deduplicate", "merge_as_one", "merge_duplicates"]
