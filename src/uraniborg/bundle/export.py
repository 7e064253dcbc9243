"""Export chosen work: collect it from all parts and return the files of a bundle."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from universe.claims import PaperTextReader
from uraniborg.bundle.pieces import BundleFile, BundlePiece, Chosen
from uraniborg.bundle.ro_crate_files import add_frame, find_newest_day, make_methods_file
from uraniborg.bundle.search_and_workflow_pieces import collect_searches, collect_shelves, collect_workflows
from uraniborg.bundle.universe_pieces import collect_measurements, collect_universes
from uraniborg.kernel.clock import SystemClock, format_iso
from uraniborg.kernel.progress_callbacks import ReportItem


@dataclass(frozen=True)
class ExportSelection:
    """The work to export."""

    searches: Sequence[Chosen] = ()
    shelves: Sequence[Chosen] = ()
    workflows: Sequence[Chosen] = ()
    runs: Sequence[Chosen] = ()
    universes: Sequence[Chosen] = ()
    jobs: Sequence[Chosen] = ()

    @property
    def is_empty(self) -> bool:
        """True if nothing is chosen."""
        return not (self.searches or self.shelves or self.workflows or self.runs or self.universes or self.jobs)


async def collect_files(
    selection: ExportSelection,
    *,
    title: str,
    folder: Path,
    text_of: PaperTextReader | None = None,
    more: BundlePiece | None = None,
    steps: Sequence[str] = (),
    report: ReportItem = lambda _: None,
) -> list[BundleFile]:
    """Return all files of a bundle. The same work gives the same files.

    `folder` is where relative names of workflows start. `more` is added to the chosen work, and `steps` to the page of
    the bundle. Raise the errors of the parts for ids that do not exist and for work that has no result yet.
    """
    pieces: list[BundlePiece] = []
    report("searches")
    pieces += await collect_searches(selection.searches)
    report("shelves")
    pieces += await asyncio.to_thread(collect_shelves, selection.shelves)
    report("workflows")
    pieces += await asyncio.to_thread(collect_workflows, selection.workflows, selection.runs, folder)
    if more is not None:
        pieces.append(more)
    report("universes")
    pieces += await collect_universes(selection.universes, text_of)
    report("measurements")
    pieces += await collect_measurements(selection.jobs)
    files = [make_methods_file(title, pieces), *(file for piece in pieces for file in piece.files)]
    day = find_newest_day(pieces) or format_iso(SystemClock().now())[:10]
    return add_frame(files, title=title, date=day, steps=steps)
