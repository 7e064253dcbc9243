"""Citations and references in texts are plain text."""

# pyright: reportGeneralTypeIssues=false, reportUnknownArgumentType=false

import time

import pytest

from paper_library.domain.document_tree import make_inline_tree, make_text_tree
from paper_library.domain.markdown import extract_plain_text, render_safe_html
from paper_library.domain.markdown_parser import format_citation_in_text

CASES = [
    ("as [@rousseeuw1987].", "as [rousseeuw1987]."),
    ("[see @a2000, p. 3; @b:c_d]", "[see a2000, p. 3; b:c_d]"),
    ("@smith2020 shows", "smith2020 shows"),
    (r"\autoref{fig:map_a} and @tbl:x", "fig. map_a and tbl. x"),
    (r"Figure \ref{fig:map}, \ref{c}, \eqref{eq:x}", "Figure map, c, (x)"),
    (r"Results\label{sec:results}", "Results"),
    ("me@example.org, 3 @ 4, \\@a, `@b`", None),
]


@pytest.mark.parametrize(("markdown", "plain"), CASES)
def test_references_are_read_as_plain_text_in_trees_and_pages(markdown: str, plain: str | None) -> None:
    expected = plain or "me@example.org, 3 @ 4, @a, @b"
    assert "".join(node["text"] for node in make_inline_tree(markdown)) == expected
    assert render_safe_html(markdown).replace("<code>", "").replace("</code>", "") == f"<p>{expected}</p>\n"


@pytest.mark.parametrize(("markdown", "plain"), CASES[2:6])
def test_plain_texts_have_the_same_references(markdown: str, plain: str) -> None:
    assert extract_plain_text(markdown) == plain


def test_a_citation_has_the_name_that_the_caller_gives() -> None:
    (paragraph,) = make_text_tree("[@a; @b]", name_citation={"a": "Smith 2020", "b": "b"}.__getitem__)
    assert paragraph["children"] == [{"type": "text", "text": "[Smith 2020; b]"}]


@pytest.mark.parametrize(
    ("authors", "year", "text"),
    [
        (["Peter J. Rousseeuw"], 1987, "Rousseeuw 1987"),
        (["van Dyke, Jan", "Ann Lee"], None, "van Dyke and Lee"),
        (["A. One", "B. Two", "C. Three"], 2000, "One et al. 2000"),
        ([], 2000, ""),
    ],
)
def test_a_citation_in_a_text_has_family_names_and_the_year(authors: list[str], year: int | None, text: str) -> None:
    assert format_citation_in_text(authors, year) == text


@pytest.mark.parametrize("mark", ["@", "@a", " @a-", r"\ref{", r"\ref{a"])
def test_thousands_of_references_that_do_not_end_take_linear_time(mark: str) -> None:
    def measure_time(markdown: str) -> float:
        start = time.process_time()
        make_text_tree(markdown)
        extract_plain_text(markdown)
        return time.process_time() - start

    few, many = (min(measure_time(mark * number) for _ in range(3)) for number in (300, 3_000))
    assert many < 40 * (few + 0.0005)
