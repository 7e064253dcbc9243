"""Tests of the Markdown export: one row per paper and six cells per row."""

import re

import pytest
from hypothesis import given
from markdown_it import MarkdownIt

from paper_search.editorial_notices import NoticeStatus
from paper_search.export import export_markdown
from paper_search.models import Author, PaperCollection
from tests.paper_search.export.samples import (
    CONCERN,
    CORRECTION,
    RETRACTION,
    collection,
    collections,
    hostile_text,
    paper,
    untimed,
)
from tests.requirements import requirement

HEADER = "| # | Title | Authors | Year | Venue | Score |"
SEPARATOR = "|---|-------|---------|------|-------|-------|"


def split_cells(row: str) -> list[str]:
    """Return the cells of a row, split at unescaped pipes."""
    return [part.strip() for part in re.split(r"(?<!\\)(?:\\\\)*\|", row)[1:-1]]


def render_cells(row: str) -> list[str]:
    """Return the displayed text of each cell; fail if a cell contains anything but text."""
    inline = [
        token for token in MarkdownIt().enable("table").parse(f"{HEADER}\n{SEPARATOR}\n{row}") if token.type == "inline"
    ]
    assert len(inline) == 12
    for token in inline[6:]:
        assert {child.type for child in token.children or []} <= {"text", "text_special"}
    return ["".join(child.content for child in token.children or []) for token in inline[6:]]


@requirement("PS-C4", "PS-X5")
def test_the_table_has_the_stated_header_separator_and_rows() -> None:
    made = paper("Perovskite solar cells", "Wang Lei", "Alice Smith", year=2023, venue="Light", relevance_score=0.876)
    assert export_markdown(collection(made, paper("Other"))).split("\n") == [
        HEADER,
        SEPARATOR,
        "| 1 | Perovskite solar cells | Wang Lei, Alice Smith | 2023 | Light | 0.88 |",
        "| 2 | Other | - | - | - | 0.00 |",
    ]


@requirement("PS-X5")
def test_an_empty_collection_gives_header_and_separator_only() -> None:
    assert export_markdown(collection()) == f"{HEADER}\n{SEPARATOR}"


@requirement("PS-X5")
@pytest.mark.parametrize(
    ("names", "listed"),
    [
        ((), "-"),
        (("",), "-"),
        (("A",), "A"),
        (("A", "B", "C"), "A, B, C"),
        (("A", "B", "C", "D"), "A et al."),
        (tuple(f"N{n}" for n in range(300)), "N0 et al."),
    ],
)
def test_up_to_three_authors_are_listed_and_more_are_shortened(names: tuple[str, ...], listed: str) -> None:
    assert split_cells(export_markdown(collection(paper("T", *names))).split("\n")[2])[2] == listed


@pytest.mark.parametrize(
    "title",
    [
        "a | b",
        "a \\| b",
        "ends in \\",
        "`code` | `more",
        "<script>alert(1)</script>",
        "<b>bold</b> & &lt; &#124;",
        "![tracker](https://example.org/x.png)",
        "[click](javascript:alert(1))",
        "<https://example.org>",
        "*star* **bold** _under_ __init__ ~~gone~~ snake_case A*",
        "p < 0.05",
    ],
)
def test_markup_in_a_title_is_escaped(title: str) -> None:
    row = export_markdown(collection(paper(title, "Ada | Brook", venue="V | W"))).split("\n")[2]
    assert render_cells(row) == ["1", title, "Ada | Brook", "-", "V | W", "0.00"]


@pytest.mark.parametrize(
    "title", ["two\nlines", "two\r\nlines", "two\u2028lines", "two\x0b\x00 \tlines", "two\x85lines"]
)
def test_line_breaks_and_control_characters_become_spaces(title: str) -> None:
    assert render_cells(export_markdown(collection(paper(title))).splitlines()[2])[1] in ("two lines", "twolines")


def test_ordinary_titles_are_not_touched() -> None:
    for title in ("Graphene & beyond: a 100% review (2D), part #2", "x_1 and y_2", "α–β “quoted”", "תאים"):
        assert f"| {title} |" in export_markdown(collection(paper(title)))


def test_direction_overrides_cannot_reorder_a_row() -> None:
    assert "\u202e" not in export_markdown(collection(paper("a\u202eb")))


def test_lone_surrogates_can_be_printed() -> None:
    made = paper("a\ud800b")
    assert "a\ufffdb" in export_markdown(collection(made)).encode("utf-8").decode("utf-8")


@requirement("PS-X5")
@untimed
@given(collections)
def test_any_collection_gives_one_row_of_six_cells_per_paper(made: PaperCollection) -> None:
    header, separator, *rows = export_markdown(made).splitlines()
    assert (header, separator) == (HEADER, SEPARATOR)
    assert len(rows) == len(made.papers)
    assert all(len(split_cells(row)) == 6 and len(render_cells(row)) == 6 for row in rows)


@untimed
@given(hostile_text)
def test_no_title_changes_the_other_cells(title: str) -> None:
    row = export_markdown(collection(paper(title, year=2001, venue="Light", relevance_score=0.5))).splitlines()[2]
    number, _, authors, year, venue, score = render_cells(row)
    assert (number, authors, year, venue, score) == ("1", "-", "2001", "Light", "0.50")


def test_a_retracted_paper_is_marked_in_its_title_cell_and_the_columns_stay() -> None:
    papers = [
        paper("Cells | light", "Ada Brook", notices=[RETRACTION]),
        paper("RETRACTED: Cells", notices=[RETRACTION]),
        paper("Cells", notices=[RETRACTION.model_copy(update={"status": NoticeStatus.PARTIALLY_RETRACTED})]),
        paper("Cells", notices=[CONCERN, CORRECTION]),
    ]
    header, separator, *rows = export_markdown(collection(*papers)).split("\n")
    assert (header, separator) == (HEADER, SEPARATOR)
    assert [render_cells(row)[1] for row in rows] == [
        "RETRACTED: Cells | light",
        "RETRACTED: Cells",
        "PARTIALLY RETRACTED: Cells",
        "Cells",
    ]


@pytest.mark.parametrize(
    ("editors", "listed"),
    [
        (["Tom Reed"], "Tom Reed (ed.)"),
        (["Tom Reed", "Eda Kiln"], "Tom Reed, Eda Kiln (eds.)"),
        (["A", "B", "C", "D"], "A et al. (eds.)"),
        ([""], "-"),
    ],
)
def test_editors_replace_missing_authors_and_are_marked(editors: list[str], listed: str) -> None:
    people = [Author(name=name) for name in editors]
    assert split_cells(export_markdown(collection(paper("T", editors=people))).split("\n")[2])[2] == listed
    assert split_cells(export_markdown(collection(paper("T", "Ada", editors=people))).split("\n")[2])[2] == "Ada"
