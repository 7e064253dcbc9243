"""Build a shelf: read the inputs, merge entries into papers, write them, replace the old shelf."""

import gc
import re
import sqlite3
import time
from collections.abc import Generator, Sequence
from contextlib import closing, contextmanager, nullcontext
from pathlib import Path
from typing import Final

import orjson

from paper_library.domain.entries import BuildProblem, BuildReport, Merge
from paper_library.domain.id_evidence import make_record
from paper_library.domain.merging import CitationKeyAssigner, MergedPaper, merge_entries
from paper_library.errors import NothingToShelve, ShelfUnwritable
from paper_library.service.build.entry_collection import EntryCollection, PaperGroup, make_free_id
from paper_library.service.build.input_files import find_input_files
from paper_library.service.build.prepared_papers import OriginalFiles, PreparedPaper, SummaryFolder, prepare_paper
from paper_library.service.build.shelf_writer import ShelfWriter, stage_replacement
from paper_library.service.build.stored_entries import EntrySpool, OldShelf
from paper_library.store.id_register import IdRegister, get_register_path
from paper_library.store.layout import BUILT_BY, MANIFEST, SCHEMA_VERSION, Manifest, read_builder, read_manifest
from paper_library.store.verification import find_differing_fields
from uraniborg.kernel.actors import Actor, get_process_actor
from uraniborg.kernel.change_feed import ChangeFeed
from uraniborg.kernel.clock import SystemClock
from uraniborg.kernel.errors import InvalidInput, UraniborgError
from uraniborg.kernel.files import display_path, write_atomic
from uraniborg.kernel.progress import ReportPhase
from uraniborg.kernel.version import version

_PROGRESS_INTERVAL: Final = 500
_MANY_PAPERS: Final = 10_000
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
    try:
        with _disable_garbage_collection():
            builder = _Builder(inputs, target, summaries, update, progress or _ignore_progress, prune=prune)
            report = builder.build(actor or get_process_actor())
    except (OSError, sqlite3.OperationalError, ValueError) as exc:
        # The index reports disk errors as ValueError.
        if isinstance(exc, ValueError) and not _DISK_ERROR.search(str(exc)):
            raise
        reason = exc.strerror if isinstance(exc, OSError) and exc.strerror else "disk error"
        raise ShelfUnwritable(
            f"The shelf {display_path(target)} could not be written: {reason}.",
            hint="The old shelf is unchanged. Check the free disk space and the permissions of the folder.",
        ) from exc
    ChangeFeed().publish("shelf", str(target.resolve()), build_id=report.build_id, papers=report.papers)
    return report


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


class _Builder:
    """One build."""

    def __init__(
        self,
        inputs: Sequence[Path],
        target: Path,
        summaries: Path | None,
        update: Path | None,
        progress: ReportPhase,
        *,
        prune: bool,
    ) -> None:
        self._target = target
        self._update = update
        self._prune = prune
        self._progress = progress
        self._report = BuildReport(shelf=display_path(target), updated=display_path(update) if update else "")
        self._files, problems = find_input_files(inputs, excluded=[target, *([summaries] if summaries else [])])
        for problem in problems:
            self._report.add_problem(problem)
        self._summaries = SummaryFolder(summaries)
        self._retains_summaries = not (prune and summaries)
        self._register = IdRegister()

    def build(self, actor: Actor) -> BuildReport:
        started = time.monotonic()
        report = self._report
        report.actor = actor
        with stage_replacement(self._target) as folder, closing(EntrySpool(folder / "spool")) as spool:
            with closing(OldShelf(self._update)) if self._update else nullcontext() as old:
                self._load_known_ids(old)
                entries = EntryCollection(spool, self._register, report)
                entries.read_inputs(self._files, self._progress)
                if old:
                    entries.retain_old_entries(old, prune=self._prune)
                groups = entries.group_entries_into_papers(old, prune=self._prune)
                writer = ShelfWriter(folder)
                try:
                    self._write_and_register_papers(entries, groups, writer, old)
                    self._progress("index", 0, 0)
                    report.build_id = writer.finish_and_get_build_id()
                except BaseException:
                    writer.close_incomplete_database()
                    raise
            (folder / "spool").unlink()
            report.papers = writer.papers
            manifest, is_same = self._make_or_reuse_manifest(writer)
            write_atomic(folder / MANIFEST, manifest.to_json())
            if builder := read_builder(self._target) if is_same else actor:
                write_atomic(folder / BUILT_BY, builder.model_dump_json())
            self._register.write_file(get_register_path(self._target), folder)
        for problem in self._summaries.list_unused_as_problems():
            report.add_problem(problem)
        report.seconds = round(time.monotonic() - started, 3)
        return report

    def _load_known_ids(self, old: OldShelf | None) -> None:
        """Read the known ids from the registers, and from shelves without a register."""
        own = get_register_path(self._target)
        others = [path for path in (get_register_path(self._update),) if path != own] if self._update else []
        for path in (*others, own):
            for problem in self._register.load_file(path, rename_if_damaged=path == own):
                self._report.add_problem(problem)
        if old:
            self._register.add_or_merge_records(old.make_records(retains_papers=not self._prune))
        elif not len(self._register) and (self._target / MANIFEST).is_file():
            try:
                with closing(OldShelf(self._target)) as existing:
                    self._register.add_or_merge_records(existing.make_records(retains_papers=False))
            except UraniborgError as exc:
                reason = f"Papers get new ids where their keys do not give the old ones: {exc.message}"
                self._report.add_problem(BuildProblem(display_path(self._target), "broken", reason))

    def _make_or_reuse_manifest(self, writer: ShelfWriter) -> tuple[Manifest, bool]:
        """Return the manifest, or that of the existing shelf and True if the contents are the same."""
        new = Manifest(
            SCHEMA_VERSION,
            self._report.build_id,
            writer.papers,
            writer.compute_file_digests(),
            f"uraniborg {version()}",
            SystemClock().now().isoformat(),
        )
        try:
            old = read_manifest(self._target)
        except UraniborgError:
            return new, False
        is_same = (old.schema_version, old.files, old.software) == (new.schema_version, new.files, new.software)
        return (old, True) if is_same else (new, False)

    def _write_and_register_papers(
        self, entries: EntryCollection, groups: Sequence[PaperGroup], writer: ShelfWriter, old: OldShelf | None
    ) -> None:
        report, total = self._report, len(groups)
        taken_ids = {record.paper_id for record in self._register}
        remembered = {group.paper_id: self._register[group.paper_id].key for group in groups if group.paper_id}
        keys = CitationKeyAssigner(entries.matcher.list_bibkeys(), remembered)
        comparison = UpdateComparison(old, report) if old else None
        originals = OriginalFiles(self._files, old)
        for done, group in enumerate(groups):
            paper = merge_entries(entries.spool.read_entries(group.numbers))
            if not paper.entry.title:
                report.add_problem(_make_untitled_problem(paper))
                continue
            self._assign_id_and_old_id_keys(paper, group, taken_ids)
            keys.assign_key(paper)
            if old and paper.paper_id in old.numbers:
                self._retain_old_summaries_and_translations(paper, old)
            for problem in self._summaries.add_summaries_to(paper):
                report.add_problem(problem)
            original = originals.read_original(paper)
            prepared = prepare_paper(paper, omit_default_summary=total > _MANY_PAPERS, original=original)
            if comparison:
                comparison.report_change(prepared, group, has_old_entries=entries.has_old_entry(group))
            writer.add_paper(prepared)
            record = make_record(paper.paper_id, paper.citation_key, paper.entry, paper.keys, paper.entries)
            self._register.record_paper(record, group.absorbed)
            report.with_source += bool(paper.entry.source)
            report.with_abstract += bool(paper.entry.abstract)
            if len(group.numbers) > 1:
                reasons = [reason for number in group.numbers if (reason := entries.matcher.get_merge_reason(number))]
                merge = Merge(paper.paper_id, paper.entry.title, paper.origins, list(dict.fromkeys(reasons)))
                report.add_merge(merge, len(group.numbers))
            if done % _PROGRESS_INTERVAL == 0:
                self._progress("write", done, total)
        self._progress("write", total, total)
        if not writer.papers:
            raise _make_no_papers_error(report)

    def _assign_id_and_old_id_keys(self, paper: MergedPaper, group: PaperGroup, taken_ids: set[str]) -> None:
        """Set the known id of the paper, or an id that follows from its keys."""
        if group.paper_id:
            paper.paper_id = group.paper_id
        elif paper.paper_id in taken_ids:
            paper.paper_id = make_free_id(paper.keys, paper.origins, taken_ids)
        taken_ids.add(paper.paper_id)
        known = [self._register[one] for one in (group.paper_id, *group.absorbed) if one]
        others = [f"id:{absorbed}" for absorbed in group.absorbed]
        others += [key for record in known for key in record.keys if key.startswith("id:")]
        paper.keys += [key for key in dict.fromkeys(others) if key not in paper.keys]

    def _retain_old_summaries_and_translations(self, paper: MergedPaper, old: OldShelf) -> None:
        """Add the summaries and translations of the old shelf that no input has now."""
        no = old.numbers[paper.paper_id]
        for template, summary in old.read_added_summaries(no).items() if self._retains_summaries else ():
            if template not in paper.entry.summaries:
                paper.entry.summaries[template] = summary
                paper.added_summaries.add(template)
        for lang, text in old.read_translations(no).items() if not self._prune else ():
            if lang not in paper.entry.translations:
                paper.entry.translations = {**paper.entry.translations, lang: text}


class UpdateComparison:
    """Compares the papers of a build with those of the updated shelf."""

    def __init__(self, old: OldShelf, report: BuildReport) -> None:
        self._old = old
        self._report = report

    def report_change(self, prepared: PreparedPaper, group: PaperGroup, *, has_old_entries: bool) -> None:
        """Report the change of a paper; `has_old_entries` if it has entries of the old shelf."""
        paper_id, title = prepared.paper.paper_id, prepared.paper.entry.title
        for absorbed in group.absorbed:
            if (no := self._old.numbers.get(absorbed)) is not None:
                self._report.add_change("merged", absorbed, self._old.read_metadata(no)["title"])
        no = self._old.numbers.get(paper_id)
        if no is None:
            self._report.add_change("added", paper_id, title)
        elif self._old.read_digest(no) == prepared.digest or not (fields := self._list_changed_fields(no, prepared)):
            self._report.unchanged += 1
        else:
            self._report.add_change("changed" if has_old_entries else "replaced", paper_id, title, fields)

    def _list_changed_fields(self, no: int, prepared: PreparedPaper) -> list[str]:
        fields = find_differing_fields(self._old.read_metadata(no), orjson.loads(prepared.metadata))
        if self._old.read_bibtex(no) != prepared.paper.entry.bibtex:
            fields.append("bibtex")
        texts = {(one.kind, one.name, one.sha256) for one in prepared.assets if not one.is_derived}
        return fields if fields or texts <= self._old.list_assets(no) else ["content"]


def _make_no_papers_error(report: BuildReport) -> NothingToShelve:
    reasons = list(dict.fromkeys(f"{problem.origin}: {problem.reason}" for problem in report.problems))
    return NothingToShelve(
        "The inputs contain no papers, so no shelf was built. An existing shelf is unchanged.",
        hint=" ".join(reasons[:3]) or "Name files with papers, or folders with such files.",
        skipped=report.skipped,
        broken=report.broken,
    )


def _make_untitled_problem(paper: MergedPaper) -> BuildProblem:
    origin = paper.origins[0] if paper.origins else "?"
    if paper.entry.translations:
        return BuildProblem(origin, "skipped", "The file is a translation, but no paper has its name.")
    return BuildProblem(origin, "broken", "The entry has no title. Add a title.")


def _ignore_progress(_phase: str, _done: int, _total: int) -> None: ...
