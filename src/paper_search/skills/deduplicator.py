"""Skill: merge the records of each paper."""

from collections.abc import Sequence

from paper_search.domain.dedup import assign_distinct_ids, deduplicate, merge_as_one
from paper_search.domain.dedup.record_merging import name_records
from paper_search.domain.large_work import call_in_thread_if_large
from paper_search.models import RawPaper
from paper_search.workflow.skill_interfaces import DistinctPapers


class Deduplicator:
    """Recognises records of one paper by identifiers, titles, authors and years, and merges them with provenance."""

    merge_as_one = staticmethod(merge_as_one)
    assign_distinct_ids = staticmethod(assign_distinct_ids)
    name_records = staticmethod(name_records)

    async def deduplicate(self, papers: Sequence[RawPaper]) -> DistinctPapers:
        """Return every paper once, in the order of first appearance, with the reasons for the merges."""
        done = await call_in_thread_if_large(len(papers), deduplicate, list(papers))
        return DistinctPapers(done.papers, done.merged, done.members)
