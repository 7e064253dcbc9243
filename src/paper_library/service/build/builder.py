"""Build a shelf: read the inputs, merge entries into papers, write them, replace the old shelf."""

import gc
import re
import sqlite3
import time
from collections.abc import Generator, Sequence
from contextlib import closing, contextmanager, nullcontext
from pathlib import Path
from typing import Final

from paper_library.domain.entries import BuildReport
from paper_library.errors import ShelfUnwritable
from paper_library.service.build.entry_collection import EntryCollection
from paper_library.service.build.input_files import find_input_files
from paper_library.service.build.paper_assembly import PaperAssembly
from paper_library.service.build.prepared_papers import SummaryFolder
from paper_library.service.build.shelf_writer import ShelfWriter, stage_replacement
from paper_library.service.build.stored_entries import EntrySpool, OldShelf, load_known_ids
from paper_library.store.id_register import get_register_path
from uraniborg.kernel.actors import Actor, get_process_actor
from uraniborg.kernel.errors import InvalidInput
from uraniborg.kernel.progress_callbacks import ReportPhase
from uraniborg.kernel.store.change_feed import ChangeFeed
from uraniborg.kernel.store.files import display_path

_DISK_ERROR: Final = re.compile(r"io(?:::| )?error|os error|index writer was killed", re.IGNORECASE)


def build_shelf(
    inputs: Sequence[Path],
    target: Path,
    *,
    summaries: Path | None = None,
    update: Path | None = None,
    prune: bool = False,
    progress: ReportPhase | None = None,
    actor: Actor | None = None,
) -> BuildReport:
    """Build the shelf `target` from `inputs`, and from the shelf `update` if given.

    An update replaces the entries of inputs that are read again and retains the others; with `prune` it removes papers
    that none of the inputs has. A paper in the id register beside the shelf retains its id and BibTeX key.

    `actor` is who builds it, by default the program that runs this process; the shelf and the report state it.
    `target` does not change until the new shelf is complete. A broken input does not stop the build; the report lists
    it. Raise InputNotFound, InvalidInput, ShelfExists, Locked, RegisterTooNew, the errors of `Shelf.open` for `update`,
    and ShelfUnwritable for disk errors.
    """
    if prune and update is None:
        raise InvalidInput("prune requires a shelf to update.", hint="Use --update OLD --prune.", argument="prune")
    actor = actor or get_process_actor()
    with _raise_disk_errors_as_unwritable(target), _disable_garbage_collection():
        report = _build_and_replace(inputs, target, summaries, update, progress or _ignore_progress, actor, prune=prune)
    ChangeFeed().publish("shelf", str(target.resolve()), build_id=report.build_id, papers=report.papers)
    return report


def _build_and_replace(
    inputs: Sequence[Path],
    target: Path,
    summary_folder: Path | None,
    update: Path | None,
    progress: ReportPhase,
    actor: Actor,
    *,
    prune: bool,
) -> BuildReport:
    report = BuildReport(shelf=display_path(target), updated=display_path(update) if update else "", actor=actor)
    files, problems = find_input_files(inputs, excluded=[target, *([summary_folder] if summary_folder else [])])
    for problem in problems:
        report.add_problem(problem)
    summaries = SummaryFolder(summary_folder)
    started = time.monotonic()
    with stage_replacement(target) as folder, closing(EntrySpool(folder / "spool")) as spool:
        with closing(OldShelf(update)) if update else nullcontext() as old:
            register = load_known_ids(target, update, old, report, prune=prune)
            entries = EntryCollection(spool, register, report)
            entries.read_inputs(files, progress)
            if old:
                entries.retain_old_entries(old, prune=prune)
            groups = entries.group_entries_into_papers(old, prune=prune)
            writer = ShelfWriter(folder)
            with writer.close_database_on_error():
                assembly = PaperAssembly(
                    files,
                    summaries,
                    old,
                    register,
                    report,
                    retains_summaries=not (prune and summary_folder),
                    retains_translations=not prune,
                )
                assembly.write_and_register_papers(entries, groups, writer, progress)
                progress("index", 0, 0)
                report.build_id = writer.finish_and_get_build_id()
        (folder / "spool").unlink()
        report.papers = writer.papers
        writer.write_manifest(report.build_id, target, actor)
        register.write_file(get_register_path(target), folder)
    for problem in summaries.list_unused_as_problems():
        report.add_problem(problem)
    report.seconds = round(time.monotonic() - started, 3)
    return report


@contextmanager
def _raise_disk_errors_as_unwritable(target: Path) -> Generator[None]:
    try:
        yield
    except (OSError, sqlite3.OperationalError, ValueError) as exc:
        # The index reports disk errors as ValueError.
        if isinstance(exc, ValueError) and not _DISK_ERROR.search(str(exc)):
            raise
        reason = exc.strerror if isinstance(exc, OSError) and exc.strerror else "disk error"
        raise ShelfUnwritable(
            f"The shelf {display_path(target)} could not be written: {reason}.",
            hint="The old shelf is unchanged. Check the free disk space and the permissions of the folder.",
        ) from exc


@contextmanager
def _disable_garbage_collection() -> Generator[None]:
    """Disable the cyclic garbage collector, which would take a tenth of the time of a build."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _ignore_progress(_phase: str, _done: int, _total: int) -> None: ...
