"""The output of the commands for people, line by line. `--json` prints the same facts for programs."""

from typing import Any, cast

import pytest

from paper_library.cli.terminal_output import (
    BuildProgress,
    print_build_report,
    print_difference,
    print_paper,
    print_results,
    print_verdict,
)
from paper_library.domain.entries import BuildProblem, BuildReport, Merge, PaperChange
from paper_library.domain.replies import Hit, SearchPage, StoredMetadata
from paper_library.store import verification
from paper_library.store.verification import ShelfComparison, ShelfVerdict
from uraniborg.kernel.actors import Actor
from uraniborg.kernel.terminal.progress import Progress

Capture = pytest.CaptureFixture[str]
ADA = Actor(kind="person", name="Ada", authenticated="account")


def make_hit(number: int, **fields: Any) -> Hit:
    known: Hit = {
        "paper_id": f"paper{number}",
        "title": f"Comet {number}",
        "year": None,
        "venue": "",
        "snippet_markdown": "",
        "authors": [],
        "score": 1.0,
        "matched_fields": [],
        "section": None,
        "offset": None,
    }
    return cast("Hit", {**known, **fields})


def make_page(*results: Hit, **fields: Any) -> SearchPage:
    known: SearchPage = {
        "results": list(results),
        "total": len(results),
        "limit": 10,
        "offset": 0,
        "next_offset": None,
        "interpreted_query": {"terms": ["comet"], "filters": {}, "ignored": []},
    }
    return cast("SearchPage", {**known, **fields})


def make_metadata(**fields: Any) -> StoredMetadata:
    known: StoredMetadata = {
        "paper_id": "brahe1573",
        "title": "On the [new] star",
        "authors": ["Tycho Brahe", "Sophie Brahe"],
        "year": None,
        "month": None,
        "venue": "",
        "abstract": "",
        "identifiers": {},
        "keywords": [],
        "tags": [],
        "institutions": [],
        "kind": "article",
        "language": "",
        "preferred_summary_template": "default",
        "available_summary_templates": ["default"],
        "translations": [],
        "translation_chars": {},
        "has_source": False,
        "source_chars": 0,
        "outline": [],
        "has_bibtex": True,
    }
    return cast("StoredMetadata", {**known, **fields})


def read_lines(capsys: Capture) -> list[str]:
    return capsys.readouterr().out.splitlines()


def test_results_are_numbered_from_the_offset_with_authors_passage_and_id(capsys: Capture) -> None:
    page = make_page(
        make_hit(1, year=1577, venue="De mundi", authors=["Tycho Brahe", "Sophie Brahe"], retracted=True),
        make_hit(2, title="[bold]Two[/bold]", snippet_markdown="the **comet** of \\*1577"),
        offset=20,
    )
    print_results(page)
    assert read_lines(capsys) == [
        "21. Comet 1 (1577) retracted",
        "   Tycho Brahe, Sophie Brahe · De mundi",
        "   paper1",
        "22. [bold]Two[/bold]",
        "   the comet of *1577",
        "   paper2",
    ]


def test_filters_notes_a_spelling_and_the_next_page_follow_the_results(capsys: Capture) -> None:
    read = {"terms": ["comte"], "filters": {"year": ["1577", "1578"], "venue": ["De mundi"]}, "ignored": ["a", "b"]}
    page = make_page(make_hit(1), interpreted_query=read, did_you_mean="comet", total=1_234, next_offset=1)
    print_results(page)
    assert read_lines(capsys)[2:] == [
        "Did you mean: comet?",
        "Filtered by year 1577, 1578; venue De mundi",
        "Note: a",
        "Note: b",
        "1,234 papers in total; continue with --offset 1.",
    ]


def test_what_no_offset_reaches_is_said_in_place_of_the_next_offset(capsys: Capture) -> None:
    print_results(make_page(make_hit(1), total=20_000, next_offset=1, more="Narrow the query."))
    assert read_lines(capsys)[2:] == ["Narrow the query."]


def test_a_search_without_results_says_if_words_or_filters_are_the_reason(capsys: Capture) -> None:
    print_results(make_page())
    print_results(make_page(interpreted_query={"terms": [], "filters": {"year": ["1"]}, "ignored": []}))
    assert read_lines(capsys) == [
        "No paper has these words.",
        "No paper matches these filters.",
        "Filtered by year 1",
    ]


def test_a_paper_is_printed_with_every_fact_that_it_has(capsys: Capture) -> None:
    metadata = make_metadata(
        year=1573,
        venue="De nova stella",
        volume="2",
        issue="1",
        pages="3-4",
        publisher="Benedictus",
        identifiers={"doi": "10.1/x", "arxiv": "1234.5678"},
        abstract="A star [was] seen.",
        keywords=["nova", "stars"],
        tags=["first"],
        translations=["da", "de"],
        has_source=True,
        source_chars=12_345,
        available_summary_templates=["default", "deep"],
        outline=[{"level": 1, "title": "Star", "offset": 0}, {"level": 3, "title": "Parallax", "offset": 9}],
        notices=[{"status": "retracted", "date": "2020"}],
    )
    print_paper(metadata)
    lines = read_lines(capsys)
    (notice,) = [line for line in lines if "etracted" in line]
    lines.remove(notice)
    assert lines == [
        "On the [new] star",
        "Tycho Brahe, Sophie Brahe",
        "De nova stella · volume 2 · issue 1 · pages 3-4 · Benedictus · 1573 · doi 10.1/x · arxiv 1234.5678",
        "",
        "A star [was] seen.",
        "",
        "Keywords: nova, stars",
        "Tags: first",
        "Languages: da, de",
        "Summaries: default, deep",
        "Text: 12,345 characters",
        "  Star",
        "      Parallax",
        "brahe1573",
    ]


def test_of_a_long_outline_the_first_30_headings_are_printed(capsys: Capture) -> None:
    outline = [{"level": 1, "title": f"Section {number}", "offset": number} for number in range(1, 32)]
    print_paper(make_metadata(outline=outline))
    lines = read_lines(capsys)
    assert lines[-5:] == ["  Section 27", "  Section 28", "  Section 29", "  Section 30", "brahe1573"]
    assert "Text: not available" in lines


def make_report(**fields: Any) -> BuildReport:
    return BuildReport(shelf="comets", build_id="b1", actor=ADA, **fields)


def test_a_build_is_reported_with_its_merges_derived_titles_and_problems(capsys: Capture) -> None:
    report = make_report(
        files=2,
        entries=5,
        papers=1_000,
        with_abstract=3,
        with_source=2,
        seconds=1.25,
        merged=2,
        merges=[Merge("p", "T" * 81, ["a", "b"], ["doi", "title"]), Merge("q", "T" * 80, ["a", "b"], [])],
        titled=1,
        derived_titles=[{"origin": "a.md", "title": "A [star]"}],
        skipped=1,
        broken=5,
        problems=[
            BuildProblem("x\ny.pdf", "skipped", "No text."),
            *(BuildProblem(f"{number}.bib", "broken", "No title.") for number in range(4)),
            BuildProblem("other.bib", "broken", "No entry."),
        ],
    )
    print_build_report(report)
    assert read_lines(capsys) == [
        "1,000 papers on comets in 1.2 s: 3 with an abstract, 2 with their text.",
        "Read 5 entries in 2 files. Build b1 by Ada.",
        "1 without a title, titled by the first sentence of the text:",
        "  a.md: A [star]",
        "2 merged with other entries of the same paper:",
        f"  {'T' * 79}… (doi, title)",
        f"  {'T' * 80} ()",
        "1 skipped",
        "  x\\ny.pdf: No text.",
        "5 broken",
        "  0.bib, 1.bib, 2.bib and 1 more: No title.",
        "  other.bib: No entry.",
    ]


def test_an_update_is_reported_with_its_changes_and_the_inputs_that_are_missing(capsys: Capture) -> None:
    changes = [
        PaperChange("added", "a", "Added"),
        PaperChange("changed", "b", "Changed", ["year", "venue"]),
        PaperChange("pruned", "c", "Pruned"),
    ]
    missing = {"z.bib": 1, "a.bib": 2, "b.bib": 1_000, "c.bib": 1}
    report = make_report(papers=1, updated="comets", added=1, changed=2, pruned=1, changes=changes)
    report.missing_inputs = missing
    print_build_report(report)
    assert read_lines(capsys)[2:] == [
        "Update of comets: 1 added, 2 changed, 1 pruned.",
        "  changed: Changed (year, venue)",
        "  pruned: Pruned",
        "Retained, but not in these inputs: 1,004 from a.bib, b.bib, c.bib and 1 more. --prune removes them.",
    ]
    print_build_report(make_report(papers=1, updated="comets", missing_inputs={"a.bib": 1}))
    assert read_lines(capsys) == [
        "1 paper on comets: 0 with an abstract, 0 with their text.",
        "Read 0 entries in 0 files. Build b1 by Ada.",
        "Update of comets: nothing.",
        "Retained, but not in these inputs: 1 from a.bib. --prune removes them.",
    ]


@pytest.mark.parametrize(("count", "remainder"), [(20, []), (21, ["  and 1 more; --json lists them"])])
def test_of_long_lists_20_lines_are_printed_and_the_rest_is_counted(
    capsys: Capture, count: int, remainder: list[str]
) -> None:
    titles = [f"Comet {number}" for number in range(count)]
    print_build_report(make_report(merged=count, merges=[Merge("p", title, [], ["doi"]) for title in titles]))
    assert read_lines(capsys)[3:] == [*(f"  {title} (doi)" for title in titles[:20]), *remainder]
    print_verdict(ShelfVerdict(files=30, problems=titles))
    listed = [f"  {title}" for title in titles[:20]]
    assert read_lines(capsys) == [f"Damaged: {count} of 30 files.", *listed, *remainder]
    print_difference(ShelfComparison([verification.DifferingPaper("p", title) for title in titles], [], [], 0))
    assert read_lines(capsys)[1:-3] == [*listed, *remainder]


def test_a_difference_names_what_was_added_removed_and_changed(capsys: Capture) -> None:
    print_difference(
        ShelfComparison(
            [verification.DifferingPaper("a", "Added")],
            [verification.DifferingPaper("b", "Removed")],
            [verification.DifferingPaper("c", "Changed", ("year", "venue"))],
            1_000,
        )
    )
    assert read_lines(capsys) == [
        "1 added",
        "  Added",
        "1 removed",
        "  Removed",
        "1 changed",
        "  Changed (year, venue)",
        "1,000 unchanged",
    ]


def test_an_intact_shelf_is_reported_with_its_numbers(capsys: Capture) -> None:
    print_verdict(ShelfVerdict(papers=1, files=2))
    assert read_lines(capsys) == ["Intact: 1 paper, 2 files verified."]


def test_each_phase_of_a_build_is_named_with_its_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[tuple[str, int, int]] = []

    def report_count(_: Progress, label: str, done: int, total: int) -> None:
        shown.append((label, done, total))

    monkeypatch.setattr(Progress, "report_count", report_count)
    with BuildProgress(is_quiet=True, as_json=False) as progress:
        for phase in (("read", 2, 0), ("write", 1, 2), ("index", 0, 0), ("verify", 0, 3)):
            progress.report_phase(*phase)
    assert shown == [
        ("Reading entries", 2, 0),
        ("Writing papers", 1, 2),
        ("Finishing the index", 0, 0),
        ("Reading files", 0, 3),
    ]
