"""The skill that leaves each paper once, without ever holding up the event loop."""

import asyncio
from collections.abc import Sequence

from paper_search.dedup import Deduplication, deduplicate
from paper_search.models import RawPaper

_AT_ONCE = 50


class Deduplicator:
    """Recognises records of one paper by identifiers, titles, authors and years, and merges them with provenance."""

    async def deduplicate(self, papers: Sequence[RawPaper]) -> list[RawPaper]:
        """Every paper once, in the order of first appearance."""
        return (await self.deduplicate_reported(papers)).papers

    async def deduplicate_reported(self, papers: Sequence[RawPaper]) -> Deduplication:
        """The same, with how many records were merged away for each reason."""
        given = list(papers)
        if len(given) <= _AT_ONCE:
            return deduplicate(given)
        return await asyncio.to_thread(deduplicate, given)
