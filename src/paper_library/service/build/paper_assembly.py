"""Assemble the papers of a build: merge their entries, assign ids and keys, and write and report them."""

from collections.abc import Sequence
from typing import Final

import orjson

from paper_library.domain.entries import BuildProblem, BuildReport, Merge
from paper_library.domain.id_evidence import make_record
from paper_library.domain.merging import CitationKeyAssigner, MergedPaper, merge_entries
from paper_library.errors import NothingToShelve
from paper_library.service.build.entry_collection import EntryCollection, PaperGroup, make_free_id
from paper_library.service.build.input_files import InputFile
from paper_library.service.build.prepared_papers import OriginalFiles, PreparedPaper, SummaryFolder, prepare_paper
from paper_library.service.build.shelf_writer import ShelfWriter
from paper_library.service.build.stored_entries import OldShelf
from paper_library.store.id_register import IdRegister
from paper_library.store.verification import find_differing_fields
from uraniborg.kernel.progress_callbacks import ReportPhase

_PROGRESS_INTERVAL: Final = 500
_MANY_PAPERS: Final = 10_000


class PaperAssembly:
    """The papers of one build, with the summaries and translations of the old shelf that are to be retained."""

    def __init__(
        self,
        files: Sequence[InputFile],
        summaries: SummaryFolder,
        old: OldShelf | None,
        register: IdRegister,
        report: BuildReport,
        *,
        retains_summaries: bool,
        retains_translations: bool,
    ) -> None:
        self._summaries = summaries
        self._old = old
        self._register = register
        self._report = report
        self._originals = OriginalFiles(files, old)
        self._retains_summaries = retains_summaries
        self._retains_translations = retains_translations

    def write_and_register_papers(
        self, entries: EntryCollection, groups: Sequence[PaperGroup], writer: ShelfWriter, progress: ReportPhase
    ) -> None:
        """Write a paper for each group that has a title. Raise NothingToShelve if there is none."""
        report, total, old = self._report, len(groups), self._old
        taken_ids = {record.paper_id for record in self._register}
        remembered = {group.paper_id: self._register[group.paper_id].key for group in groups if group.paper_id}
        keys = CitationKeyAssigner(entries.matcher.list_bibkeys(), remembered)
        comparison = UpdateComparison(old, report) if old else None
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
            original = self._originals.read_original(paper)
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
                progress("write", done, total)
        progress("write", total, total)
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
        for lang, text in old.read_translations(no).items() if self._retains_translations else ():
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
