"""The skill that merges the records of each paper."""

import asyncio
from collections.abc import Sequence
from typing import Final

from paper_search.dedup import deduplicate
from paper_search.models import RawPaper
from paper_search.workflow.skill_interfaces import DistinctPapers

_INLINE_RECORDS: Final = 50
"""Up to this many records are compared in the event loop; more go to a thread."""


class Deduplicator:
    """Recognises records of one paper by identifiers, titles, authors and years, and merges them with provenance."""

    async def deduplicate(self, papers: Sequence[RawPaper]) -> DistinctPapers:
        """Return every paper once, in the order of first appearance, with the reasons for the merges."""
        records = list(papers)
        if len(records) <= _INLINE_RECORDS:
            done = deduplicate(records)
        else:
            done = await asyncio.to_thread(deduplicate, records)
        return DistinctPapers(done.papers, done.merged, done.members)
