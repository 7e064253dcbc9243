"""`read_paper_section`: one section by its heading, complete or in pieces."""

import pytest

from tests.paper_library.mcp import inputs
from tests.paper_library.mcp.http_client import Caller

SOURCE = inputs.strip_front_matter(inputs.ATTENTION)


def cut_section(start: str, end: str | None = None) -> str:
    after = SOURCE[SOURCE.index(start) :]
    return (after[: after.index(end)] if end else after).rstrip()


@pytest.mark.parametrize(
    ("heading", "text"),
    [
        ("Introduction", cut_section("# Introduction", "# Results")),
        ("introduction", cut_section("# Introduction", "# Results")),
        ("Data", cut_section("## Data", "# Results")),
        ("  dATA ", cut_section("## Data", "# Results")),
        ("resul", cut_section("# Results")),
    ],
)
def test_a_section_ends_where_the_next_of_its_level_begins(library: Caller, heading: str, text: str) -> None:
    assert library.call_text("read_paper_section", paper_id=inputs.ATTENTION_DOI, section=heading) == text


def test_an_unknown_heading_is_refused_with_the_available_ones(library: Caller) -> None:
    error = library.call_error("read_paper_section", paper_id=inputs.ATTENTION_DOI, section="Conclusions")
    assert (error["code"], error["argument"]) == ("invalid_argument", "section")
    assert "Introduction, Data, Results" in error["hint"]


def test_a_section_of_a_translation_is_read_by_its_own_heading(library: Caller) -> None:
    text = library.call_text("read_paper_section", paper_id=inputs.ATTENTION_DOI, section="引言", lang="zh")
    assert text == inputs.ATTENTION_ZH.strip()


@pytest.mark.parametrize("paper", [inputs.SOURCELESS, "nobody"])
def test_without_a_text_there_is_no_section(library: Caller, paper: str) -> None:
    error = library.call_error("read_paper_section", paper_id=paper, section="Results")
    assert error["code"] in {"source_not_available", "paper_not_found"}


def test_a_long_section_is_continued_at_the_offset_of_the_marker(library: Caller) -> None:
    whole = inputs.make_long_text()
    wanted = whole[whole.index("# Part 2") : whole.index("# Part 3")].rstrip()
    cut = library.call_text("read_paper_section", paper_id=inputs.LONG, section="Part 2", max_chars=1_000)
    assert cut == f"{wanted[:1000]}\n\n[truncated: {len(wanted) - 1000} of {len(wanted)} characters left; " + (
        "continue with offset=1000]"
    )
    assert (
        library.call_text("read_paper_section", paper_id=inputs.LONG, section="Part 2", offset=1_000) == wanted[1_000:]
    )
    assert library.call_text("read_paper_section", paper_id=inputs.LONG, section="Part 2") == wanted
