"""Building a shelf: read everything, find out what belongs together, write it down, put it in place."""

import gc
import re
import sqlite3
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from paper_library.build.entry import Entry, Problem
from paper_library.build.inputs import Input, find_inputs
from paper_library.build.matching import Matcher
from paper_library.build.merging import Paper, merged, precedence
from paper_library.build.metadata import described
from paper_library.build.publishing import staged
from paper_library.build.report import Merge, Report
from paper_library.build.spool import Spool
from paper_library.build.summaries import Summaries
from paper_library.build.writing import ShelfWriter
from paper_library.errors import NothingToShelve, ShelfUnwritable
from paper_library.identity import paper_id
from paper_library.store.layout import MANIFEST, SCHEMA_VERSION
from paper_library.store.manifest import Manifest
from uraniborg.kernel.clock import SystemClock
from uraniborg.kernel.files import shown, write_atomic
from uraniborg.kernel.text import fold
from uraniborg.kernel.version import version

Progress = Callable[[str, int, int], None]
"""Told the phase, how much of it is done, and of how much."""
_TOLD_EVERY = 500
_TITLE_COMPARED = 200
_MANY = 10_000
_DISK = re.compile(r"io(?:::| )?error|os error|index writer was killed", re.IGNORECASE)


def build_shelf(
    inputs: Sequence[Path],
    target: Path,
    *,
    summaries: Path | None = None,
    update: Path | None = None,
    progress: Progress | None = None,
) -> Report:
    """Make the shelf `target` of all that is in `inputs`, and of the shelf `update` if one is given.

    What stands at `target` stays as it is until the new shelf is complete. One broken input does not stop the build;
    the report tells of it. Raises InputNotFound, ShelfExists, Locked, what opening `update` raises, and ShelfUnwritable
    when the disk refuses.
    """
    try:
        with _no_search_for_cycles():
            return _build(inputs, target, summaries, update, progress or _quiet)
    except (OSError, sqlite3.OperationalError, ValueError) as exc:
        # The index speaks of the disk in its own way.
        if isinstance(exc, ValueError) and not _DISK.search(str(exc)):
            raise
        reason = exc.strerror if isinstance(exc, OSError) and exc.strerror else "the disk refused it"
        raise ShelfUnwritable(
            f"The shelf {shown(target)} could not be written: {reason}.",
            hint="Nothing was changed. See that there is room, and that you may write there.",
        ) from exc


@contextmanager
def _no_search_for_cycles() -> Generator[None]:
    """What a build makes is kept, or freed by count; looking for more among so much takes a tenth of the time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _build(inputs: Sequence[Path], target: Path, summaries: Path | None, update: Path | None, tell: Progress) -> Report:
    started = time.monotonic()
    report = Report(shelf=shown(target))
    files, problems = find_inputs(inputs, leave_out=[target, *([summaries] if summaries else [])])
    for problem in problems:
        report.note(problem)
    extra = Summaries(summaries)
    with staged(target) as folder, closing(Spool(folder / "spool")) as spool:
        gathered = _gathered(files, update, spool, report, tell)
        writer = ShelfWriter(folder)
        try:
            _write(gathered, writer, extra, report, tell)
            tell("index", 0, 0)
            report.build_id = writer.finish()
        except BaseException:
            writer.abandon()
            raise
        (folder / "spool").unlink()
        report.papers = writer.papers
        manifest = Manifest(
            SCHEMA_VERSION,
            report.build_id,
            writer.papers,
            writer.files(),
            f"uraniborg {version()}",
            SystemClock().now().isoformat(),
        )
        write_atomic(folder / MANIFEST, manifest.as_json())
    for problem in extra.unused():
        report.note(problem)
    report.seconds = round(time.monotonic() - started, 3)
    return report


@dataclass(slots=True)
class _Gathered:
    spool: Spool
    matcher: Matcher
    titles: list[tuple[int, str]]
    """Of each entry: whose word counts, and the beginning of its title, to order the shelf by."""

    def papers(self) -> list[list[int]]:
        """The entries of each paper, in the order of the shelf."""
        return sorted(self.matcher.clusters(), key=lambda numbers: (self._title(numbers), numbers[0]))

    def _title(self, numbers: list[int]) -> str:
        titled = [number for number in numbers if self.titles[number][1]] or numbers
        return self.titles[min(titled, key=lambda number: (self.titles[number][0], number))][1]


def _gathered(files: Sequence[Input], update: Path | None, spool: Spool, report: Report, tell: Progress) -> _Gathered:
    gathered = _Gathered(spool, Matcher(), [])
    for found in _entries(files, update, report, tell):
        if isinstance(found, Problem):
            report.note(found)
            continue
        report.entries += 1
        try:
            entry, keys = gathered.spool.put(found)
        except TypeError:
            report.note(Problem(found.origin, "broken", "What goes with it is nested too deeply to be kept."))
            continue
        gathered.matcher.add(entry, keys)
        gathered.titles.append((precedence(entry)[0], fold(keys.title[:_TITLE_COMPARED])))
        if report.entries % _TOLD_EVERY == 0:
            tell("read", report.entries, 0)
    gathered.spool.flush()
    tell("read", report.entries, report.entries)
    return gathered


def _entries(files: Sequence[Input], update: Path | None, report: Report, tell: Progress) -> Iterator[Entry | Problem]:
    if update is not None:
        from paper_library.build.unbuilding import entries_of_shelf

        yield from entries_of_shelf(update)
    for file in files:
        report.files += 1
        yield from file.read()


def _write(gathered: _Gathered, writer: ShelfWriter, extra: Summaries, report: Report, tell: Progress) -> None:
    clusters = gathered.papers()
    taken: set[str] = set()
    for done, numbers in enumerate(clusters):
        paper = merged(gathered.spool.get(numbers))
        if not paper.entry.title:
            report.note(_untitled(paper))
            continue
        paper.paper_id = _free_id(paper, taken)
        taken.add(paper.paper_id)
        for problem in extra.add_to(paper):
            report.note(problem)
        writer.add(described(paper, sparing=len(clusters) > _MANY))
        report.with_source += bool(paper.entry.source)
        report.with_abstract += bool(paper.entry.abstract)
        if len(numbers) > 1:
            reasons = [reason for number in numbers if (reason := gathered.matcher.reason(number))]
            merge = Merge(paper.paper_id, paper.entry.title, paper.origins, list(dict.fromkeys(reasons)))
            report.note_merge(merge, len(numbers))
        if done % _TOLD_EVERY == 0:
            tell("write", done, len(clusters))
    tell("write", len(clusters), len(clusters))
    if not writer.papers:
        raise _nothing(report)


def _nothing(report: Report) -> NothingToShelve:
    reasons = list(dict.fromkeys(f"{problem.origin}: {problem.reason}" for problem in report.problems))
    return NothingToShelve(
        "None of the inputs made a paper, so no shelf was made; what stood there is as it was.",
        hint=" ".join(reasons[:3]) or "Name files that hold papers, or folders with such files.",
        skipped=report.skipped,
        broken=report.broken,
    )


def _free_id(paper: Paper, taken: set[str]) -> str:
    """Its id, unless another paper claims the same key: then that of its next key."""
    if paper.paper_id not in taken:
        return paper.paper_id
    others = [*paper.keys, *(f"origin:{origin}" for origin in paper.origins), f"again:{len(taken)}"]
    return next(one for key in others if (one := paper_id(key)) not in taken)


def _untitled(paper: Paper) -> Problem:
    origin = paper.origins[0] if paper.origins else "?"
    if paper.entry.translations:
        return Problem(origin, "skipped", "It is a translation, and no paper here bears its name.")
    return Problem(origin, "broken", "It has no title. Give it one.")


def _quiet(_phase: str, _done: int, _total: int) -> None: ...
