"""Print the results of commands for people: results on stdout, progress on stderr."""

from typing import TYPE_CHECKING, Final

from paper_library.domain.entries import BuildProblem, BuildReport
from paper_library.domain.markdown import unescape_markdown
from paper_library.store.verification import ShelfComparison, ShelfVerdict
from uraniborg.kernel.actors import describe_actor, read_actor
from uraniborg.kernel.bibliography.editorial_notices import describe_notices
from uraniborg.kernel.language.messages import format_first_authors, plural
from uraniborg.kernel.terminal.page import Page
from uraniborg.kernel.terminal.progress import Progress
from uraniborg.kernel.terminal.styled_text import BOLD, DIM, GREEN, RED, YELLOW, Piece, StyledText, cut_to_width

if TYPE_CHECKING:
    from paper_library.domain.replies import SearchPage, ShelfCounts, StoredMetadata

_PHASES: Final = {
    "read": "Reading entries",
    "write": "Writing papers",
    "index": "Finishing the index",
    "verify": "Reading files",
}
_PLACE: Final = ("volume", "issue", "pages")
_LINES_LISTED: Final = 20
_TITLE_COLUMNS: Final = 80


class BuildProgress(Progress):
    """The phases of a build or a verification on stderr."""

    def __init__(self, *, is_quiet: bool, as_json: bool) -> None:
        super().__init__("", is_quiet=is_quiet, as_json=as_json)

    def report_phase(self, phase: str, done: int, total: int) -> None:
        self.report_count(_PHASES[phase], done, total)


def print_build_report(report: BuildReport) -> None:
    """Print the report of a build."""
    page = Page()
    rate = f" in {report.seconds:.1f} s" if report.seconds >= 1 else ""
    counts = f"{rate}: {report.with_abstract:,} with an abstract, {report.with_source:,} with their text."
    page.write_message(
        "", StyledText(BOLD, plural(report.papers, "paper")), " on ", StyledText(BOLD, report.shelf), counts
    )
    entries = plural(report.entries, "entry", "entries")
    by = describe_actor(report.actor)
    read = f"Read {entries} in {plural(report.files, 'file')}. Build {report.build_id} by {by}."
    page.write_message(StyledText(DIM, read))
    if report.updated:
        _print_update(page, report)
    if report.titled:
        titled = StyledText(YELLOW, f"{report.titled:,} without a title")
        page.write_message("", titled, ", titled by the first sentence of the text:")
        for one in report.derived_titles[:_LINES_LISTED]:
            page.write_message("  ", f"{one['origin']}: {_shorten_title(one['title'])}")
        _print_remainder(page, report.titled)
    if report.merged:
        merged = StyledText(GREEN, f"{report.merged:,} merged")
        page.write_message("", merged, " with other entries of the same paper:")
        for merge in report.merges[:_LINES_LISTED]:
            reasons = StyledText(DIM, f" ({', '.join(merge.reasons)})")
            page.write_message("  ", _shorten_title(merge.title), reasons)
        _print_remainder(page, len(report.merges))
    for kind, count, color in (("skipped", report.skipped, YELLOW), ("broken", report.broken, RED)):
        if count:
            page.write_line(StyledText(color, f"{count:,} {kind}"))
            _print_problems(page, [problem for problem in report.problems if problem.kind == kind])


def _print_update(page: Page, report: BuildReport) -> None:
    counts = {
        "added": report.added,
        "changed": report.changed,
        "replaced": report.replaced,
        "unchanged": report.unchanged,
        "merged into others": report.merged_papers,
        "pruned": report.pruned,
    }
    changes = ", ".join(f"{count:,} {name}" for name, count in counts.items() if count) or "nothing"
    page.write_message(f"Update of {report.updated}: {changes}.")
    listed = [one for one in report.changes if one.change != "added"]
    for one in listed[:_LINES_LISTED]:
        fields = f" ({', '.join(one.fields)})" if one.fields else ""
        page.write_message("  ", f"{one.change}: {_shorten_title(one.title)}", StyledText(DIM, fields))
    _print_remainder(page, len(listed))
    if report.missing_inputs:
        names = sorted(report.missing_inputs)
        more = f" and {len(names) - 3:,} more" if len(names) > 3 else ""
        kept = f"{sum(report.missing_inputs.values()):,} from {', '.join(names[:3])}{more}"
        page.write_message(StyledText(YELLOW, f"Retained, but not in these inputs: {kept}. --prune removes them."))


def _print_problems(page: Page, problems: list[BuildProblem]) -> None:
    """Print each reason once, with its inputs."""
    by_reason: dict[str, list[str]] = {}
    for problem in problems:
        by_reason.setdefault(problem.reason, []).append(problem.origin)
    for reason, origins in list(by_reason.items())[:_LINES_LISTED]:
        more = f" and {len(origins) - 3:,} more" if len(origins) > 3 else ""
        page.write_message("  ", f"{', '.join(origins[:3])}{more}: {reason}")
    _print_remainder(page, len(by_reason))


def print_results(found: "SearchPage") -> None:
    """Print a page of search results."""
    page = Page()
    read = found["interpreted_query"]
    filters = [f"{name} {', '.join(map(str, values))}" for name, values in read["filters"].items()]
    if not found["results"]:
        page.write_line("No paper has these words." if read["terms"] else "No paper matches these filters.")
    for number, hit in enumerate(found["results"], found["offset"] + 1):
        year = f" ({hit['year']})" if hit["year"] else ""
        mark = StyledText(RED, " retracted" if hit.get("retracted") else "")
        page.write_message(StyledText(BOLD, f"{number}. "), StyledText(BOLD, hit["title"]), year, mark)
        names = format_first_authors(hit["authors"])
        if byline := " · ".join(part for part in (names, hit["venue"]) if part):
            page.write_message("   ", StyledText(DIM, byline))
        if hit["snippet_markdown"]:
            page.write_message("   ", *style_snippet(hit["snippet_markdown"]))
        page.write_line(StyledText(DIM, f"   {hit['paper_id']}"))
    if meant := found.get("did_you_mean"):
        page.write_message(f"Did you mean: {meant}?")
    if filters:
        page.write_message(StyledText(DIM, f"Filtered by {'; '.join(filters)}"))
    for note in read["ignored"]:
        page.write_message(StyledText(DIM, f"Note: {note}"))
    if "more" in found:
        page.write_message(StyledText(DIM, found["more"]))
    elif found["next_offset"] is not None:
        rest = f"{found['total']:,} papers in total; continue with --offset {found['next_offset']}."
        page.write_message(StyledText(DIM, rest))


def print_paper(metadata: "StoredMetadata") -> None:
    """Print the metadata of a paper."""
    page = Page()
    page.write_message(StyledText(BOLD, metadata["title"]))
    page.write_message(", ".join(metadata["authors"]))
    facts = (
        metadata["venue"],
        *(f"{name} {value}" for name in _PLACE if (value := metadata.get(name))),
        metadata.get("publisher", ""),
        str(metadata["year"] or ""),
        *(f"{name} {value}" for name, value in metadata["identifiers"].items()),
    )
    page.write_message(StyledText(DIM, " · ".join(fact for fact in facts if fact)))
    if notice := describe_notices(metadata.get("notices", [])):
        page.write_message(StyledText(RED, notice))
    if metadata["abstract"]:
        page.write_line()
        page.write_message(metadata["abstract"], keeps_lines=True)
        page.write_line()
    for name, values in (
        ("Keywords", metadata["keywords"]),
        ("Tags", metadata["tags"]),
        ("Languages", metadata["translations"]),
    ):
        if values:
            page.write_message(f"{name}: {', '.join(values)}")
    page.write_message(f"Summaries: {', '.join(metadata['available_summary_templates'])}")
    page.write_line(
        f"Text: {metadata['source_chars']:,} characters" if metadata["has_source"] else "Text: not available"
    )
    for heading in metadata["outline"][:30]:
        page.write_message("  " * heading["level"], StyledText(DIM, heading["title"]))
    page.write_line(StyledText(DIM, metadata["paper_id"]))


def print_stats(counts: "ShelfCounts") -> None:
    """Print the counts of a shelf."""
    page = Page()
    years = counts["years"]
    span = f" from {years['first']} to {years['last']}" if years["first"] else ""
    papers = StyledText(BOLD, plural(counts["papers"], "paper"))
    page.write_message("", papers, f"{span}, {counts['with_source']:,} with their text.")
    by = describe_actor(read_actor(counts["built_by"]))
    built_at = counts["built_at"][:19].replace("T", " ")
    page.write_message(StyledText(DIM, f"Build {counts['build_id']}, built {built_at} UTC by {by}."))
    rows = [
        (name, f"{count:,}", f"{100 * count / max(counts['papers'], 1):.0f} %")
        for name, count in counts["missing"].items()
    ]
    page.write_table(rows, headings=("Missing", "Papers", "Share"), indent=0)
    for name, numbers in (("Summaries", counts["summaries"]), ("Translations", counts["translations"])):
        if numbers:
            page.write_message(f"{name}: " + ", ".join(f"{key} {count:,}" for key, count in numbers.items()))
    values = ", ".join(f"{count:,} {kind}s" for kind, count in counts["values"].items())
    page.write_message(f"Different values: {values}")


def print_verdict(verdict: ShelfVerdict) -> None:
    """Print the result of a verification."""
    page = Page()
    if verdict.is_intact:
        counts = f"{plural(verdict.papers, 'paper')}, {plural(verdict.files, 'file')} verified."
        page.write_line(StyledText(GREEN, "Intact"), f": {counts}")
    else:
        counts = f"{len(verdict.problems):,} of {plural(verdict.files, 'file')}."
        page.write_line(StyledText(RED, "Damaged"), f": {counts}")
        for problem in verdict.problems[:_LINES_LISTED]:
            page.write_message("  ", problem)
        _print_remainder(page, len(verdict.problems))


def print_difference(difference: ShelfComparison) -> None:
    """Print the difference between two shelves."""
    page = Page()
    for name, changes, color in (
        ("added", difference.added, GREEN),
        ("removed", difference.removed, RED),
        ("changed", difference.changed, YELLOW),
    ):
        page.write_line(StyledText(color, f"{len(changes):,} {name}"))
        for change in changes[:_LINES_LISTED]:
            fields = f" ({', '.join(change.fields)})" if change.fields else ""
            page.write_message("  ", _shorten_title(change.title), StyledText(DIM, fields))
        _print_remainder(page, len(changes))
    page.write_line(StyledText(DIM, f"{difference.unchanged:,} unchanged"))


def _print_remainder(page: Page, count: int) -> None:
    if count > _LINES_LISTED:
        page.write_line(StyledText(DIM, f"  and {count - _LINES_LISTED:,} more; --json lists them"))


def _shorten_title(title: str) -> str:
    return cut_to_width(title, _TITLE_COLUMNS)


def style_snippet(markdown: str) -> list[Piece]:
    """Return the markdown of a snippet, with the words that were found in colour."""
    parts = map(unescape_markdown, markdown.split("**"))
    return [StyledText(YELLOW if position % 2 else "", part) for position, part in enumerate(parts)]
