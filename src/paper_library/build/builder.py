"""Building a shelf: read everything, find out what belongs together, write it down, put it in place."""

import gc
import re
import sqlite3
import time
from collections.abc import Generator, Sequence
from contextlib import closing, contextmanager, nullcontext
from pathlib import Path
from typing import Final

import orjson

from paper_library.build.citation_keys import CitationKeys
from paper_library.build.entry import Problem
from paper_library.build.entry_collection import Gathering, Group
from paper_library.build.entry_storage import EntrySpool
from paper_library.build.id_assignment import free_id
from paper_library.build.id_evidence import record_of
from paper_library.build.id_register import Register, register_path
from paper_library.build.inputs import find_inputs
from paper_library.build.merge import Paper, merged
from paper_library.build.metadata import Described, described
from paper_library.build.old_shelf import OldShelf
from paper_library.build.report import Merge, Progress, Report
from paper_library.build.shelf_writer import ShelfWriter
from paper_library.build.staging import staged
from paper_library.build.summary_folder import Summaries
from paper_library.errors import NothingToShelve, ShelfUnwritable
from paper_library.store.difference import differing_fields
from paper_library.store.layout import MANIFEST, SCHEMA_VERSION
from paper_library.store.manifest import Manifest, read_manifest
from uraniborg.kernel.clock import SystemClock
from uraniborg.kernel.errors import InvalidInput, UraniborgError
from uraniborg.kernel.files import shown, write_atomic
from uraniborg.kernel.version import version

_TOLD_EVERY: Final = 500
_MANY: Final = 10_000
_DISK: Final = re.compile(r"io(?:::| )?error|os error|index writer was killed", re.IGNORECASE)


def build_shelf(
    inputs: Sequence[Path],
    target: Path,
    *,
    summaries: Path | None = None,
    update: Path | None = None,
    prune: bool = False,
    progress: Progress | None = None,
) -> Report:
    """Make the shelf `target` of all that is in `inputs`, and of the shelf `update` if one is given.

    An update replaces what the old shelf has from inputs that are read again, and keeps the rest; with `prune` it keeps
    no paper that none of the inputs has. A paper that the register beside the shelf knows keeps its id and BibTeX key.

    What stands at `target` stays as it is until the new shelf is complete. One broken input does not stop the build;
    the report tells of it. Raises InputNotFound, InvalidInput, ShelfExists, Locked, RegisterTooNew, what opening
    `update` raises, and ShelfUnwritable when the disk refuses.
    """
    if prune and update is None:
        raise InvalidInput("prune needs a shelf to update.", hint="Name one: --update OLD --prune.", argument="prune")
    try:
        with _no_search_for_cycles():
            return _Build(inputs, target, summaries, update, progress or _quiet, prune=prune).run()
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


class _Build:
    """One build, from its inputs to the shelf in its place."""

    def __init__(
        self,
        inputs: Sequence[Path],
        target: Path,
        summaries: Path | None,
        update: Path | None,
        tell: Progress,
        *,
        prune: bool,
    ) -> None:
        self._target = target
        self._update = update
        self._prune = prune
        self._tell = tell
        self._report = Report(shelf=shown(target), updated=shown(update) if update else "")
        self._files, problems = find_inputs(inputs, leave_out=[target, *([summaries] if summaries else [])])
        for problem in problems:
            self._report.note(problem)
        self._summaries = Summaries(summaries)
        self._carries_summaries = not (prune and summaries)
        self._register = Register()

    def run(self) -> Report:
        started = time.monotonic()
        report = self._report
        with staged(self._target) as folder, closing(EntrySpool(folder / "spool")) as spool:
            with closing(OldShelf(self._update)) if self._update else nullcontext() as old:
                self._read_register(old)
                gathering = Gathering(spool, self._register, report)
                gathering.read(self._files, self._tell)
                if old:
                    gathering.retain(old, prune=self._prune)
                groups = gathering.groups(old, prune=self._prune)
                writer = ShelfWriter(folder)
                try:
                    self._write(gathering, groups, writer, old)
                    self._tell("index", 0, 0)
                    report.build_id = writer.finish()
                except BaseException:
                    writer.abandon()
                    raise
            (folder / "spool").unlink()
            report.papers = writer.papers
            write_atomic(folder / MANIFEST, self._manifest(writer).as_json())
            self._register.write(register_path(self._target), folder)
        for problem in self._summaries.unused():
            report.note(problem)
        report.seconds = round(time.monotonic() - started, 3)
        return report

    def _read_register(self, old: OldShelf | None) -> None:
        """Learn the ids of all papers that had one: from the registers, and from shelves that have none yet."""
        own = register_path(self._target)
        others = [path for path in (register_path(self._update),) if path != own] if self._update else []
        for path in (*others, own):
            for problem in self._register.read(path, is_own=path == own):
                self._report.note(problem)
        if old:
            self._register.add(old.records(is_kept=not self._prune))
        elif not len(self._register) and (self._target / MANIFEST).is_file():
            try:
                with closing(OldShelf(self._target)) as there:
                    self._register.add(there.records(is_kept=False))
            except UraniborgError as exc:
                reason = f"Its papers get new ids where keys do not give the old ones: {exc.message}"
                self._report.note(Problem(shown(self._target), "broken", reason))

    def _manifest(self, writer: ShelfWriter) -> Manifest:
        """Return the manifest; a shelf that is the one that stood there was built when that one was."""
        made = Manifest(
            SCHEMA_VERSION,
            self._report.build_id,
            writer.papers,
            writer.files(),
            f"uraniborg {version()}",
            SystemClock().now().isoformat(),
        )
        try:
            there = read_manifest(self._target)
        except UraniborgError:
            return made
        same = (there.schema_version, there.files, there.software) == (made.schema_version, made.files, made.software)
        return there if same else made

    def _write(self, gathering: Gathering, groups: Sequence[Group], writer: ShelfWriter, old: OldShelf | None) -> None:
        report, total = self._report, len(groups)
        taken = {record.paper_id for record in self._register}
        remembered = {group.paper_id: self._register[group.paper_id].key for group in groups if group.paper_id}
        keys = CitationKeys(gathering.matcher.bibkeys(), remembered)
        comparison = Comparison(old, report) if old else None
        for done, group in enumerate(groups):
            paper = merged(gathering.spool.read(group.numbers))
            if not paper.entry.title:
                report.note(_untitled(paper))
                continue
            self._identify(paper, group, taken)
            keys.assign_key(paper)
            if old and paper.paper_id in old.numbers:
                self._carry_texts(paper, old)
            for problem in self._summaries.add_to(paper):
                report.note(problem)
            made = described(paper, sparing=total > _MANY)
            if comparison:
                comparison.note(made, group, is_old=gathering.is_old(group))
            writer.add(made)
            record = record_of(paper.paper_id, paper.citation_key, paper.entry, paper.keys, paper.entries)
            self._register.renew(record, group.absorbed)
            report.with_source += bool(paper.entry.source)
            report.with_abstract += bool(paper.entry.abstract)
            if len(group.numbers) > 1:
                reasons = [reason for number in group.numbers if (reason := gathering.matcher.reason(number))]
                merge = Merge(paper.paper_id, paper.entry.title, paper.origins, list(dict.fromkeys(reasons)))
                report.note_merge(merge, len(group.numbers))
            if done % _TOLD_EVERY == 0:
                self._tell("write", done, total)
        self._tell("write", total, total)
        if not writer.papers:
            raise _nothing(report)

    def _identify(self, paper: Paper, group: Group, taken: set[str]) -> None:
        """Give the paper the id it had, else one that follows from its keys."""
        if group.paper_id:
            paper.paper_id = group.paper_id
        elif paper.paper_id in taken:
            paper.paper_id = free_id(paper.keys, paper.origins, taken)
        taken.add(paper.paper_id)
        known = [self._register[one] for one in (group.paper_id, *group.absorbed) if one]
        others = [f"id:{absorbed}" for absorbed in group.absorbed]
        others += [key for record in known for key in record.keys if key.startswith("id:")]
        paper.keys += [key for key in dict.fromkeys(others) if key not in paper.keys]

    def _carry_texts(self, paper: Paper, old: OldShelf) -> None:
        """Give the paper summaries that came with no entry, and translations whose files were not read now."""
        no = old.numbers[paper.paper_id]
        for template, summary in old.added_summaries(no).items() if self._carries_summaries else ():
            if template not in paper.entry.summaries:
                paper.entry.summaries[template] = summary
                paper.added_summaries.add(template)
        for lang, text in old.translations(no).items() if not self._prune else ():
            if lang not in paper.entry.translations:
                paper.entry.translations = {**paper.entry.translations, lang: text}


class Comparison:
    """Compares the papers of a build with those of the shelf that it updates."""

    def __init__(self, old: OldShelf, report: Report) -> None:
        self._old = old
        self._report = report

    def note(self, made: Described, group: Group, *, is_old: bool) -> None:
        """Report what became of a paper; `is_old` if entries of the old shelf are part of it."""
        paper_id, title = made.paper.paper_id, made.paper.entry.title
        for absorbed in group.absorbed:
            if (no := self._old.numbers.get(absorbed)) is not None:
                self._report.note_change("merged", absorbed, self._old.metadata(no)["title"])
        no = self._old.numbers.get(paper_id)
        if no is None:
            self._report.note_change("added", paper_id, title)
        elif self._old.digest(no) == made.digest or not (fields := self._differing(no, made)):
            self._report.unchanged += 1
        else:
            self._report.note_change("changed" if is_old else "replaced", paper_id, title, fields)

    def _differing(self, no: int, made: Described) -> list[str]:
        fields = differing_fields(self._old.metadata(no), orjson.loads(made.metadata))
        if self._old.bibtex(no) != made.paper.entry.bibtex:
            fields.append("bibtex")
        texts = {(one.kind, one.name, one.sha256) for one in made.assets if not one.is_derived}
        return fields if fields or texts <= self._old.assets(no) else ["content"]


def _nothing(report: Report) -> NothingToShelve:
    reasons = list(dict.fromkeys(f"{problem.origin}: {problem.reason}" for problem in report.problems))
    return NothingToShelve(
        "None of the inputs made a paper, so no shelf was made; what stood there is as it was.",
        hint=" ".join(reasons[:3]) or "Name files that hold papers, or folders with such files.",
        skipped=report.skipped,
        broken=report.broken,
    )


def _untitled(paper: Paper) -> Problem:
    origin = paper.origins[0] if paper.origins else "?"
    if paper.entry.translations:
        return Problem(origin, "skipped", "It is a translation, and no paper here bears its name.")
    return Problem(origin, "broken", "It has no title. Give it one.")


def _quiet(_phase: str, _done: int, _total: int) -> None: ...
