"""Texts as trees."""

import pytest

from paper_library.text.document_tree import make_inline_tree, make_text_tree


def text(value: str) -> dict[str, str]:
    return {"type": "text", "text": value}


@pytest.mark.parametrize(
    ("markdown", "tex"),
    [("$x_1 + y_2$", "x_1 + y_2"), ("$$x$$", "x"), ("$a\\$b$", "a\\$b"), ("$x$,", "x")],
)
def test_formulas_are_not_read_as_markup(markdown: str, tex: str) -> None:
    assert make_inline_tree(markdown)[0]["tex"] == tex


@pytest.mark.parametrize("prices", ["$5 and $6", "$ 5 and 6$", "5$", "\\$x$", "$$"])
def test_prices_are_not_formulas(prices: str) -> None:
    assert all(node["type"] == "text" for node in make_inline_tree(prices))


def test_a_formula_on_several_lines_is_one_block() -> None:
    assert make_text_tree("Let\n\n$$\na\n= b\n$$\n\nbe.")[1] == {"type": "math_block", "offset": 5, "tex": "a\n= b"}


def test_positions_are_right_with_any_line_end() -> None:
    assert [node["offset"] for node in make_text_tree("a\r\n\r\nb\r\rc\n\nd", 10)] == [10, 15, 18, 21]


def test_html_marks_become_nodes_and_other_tags_are_left_out() -> None:
    assert make_inline_tree("H<sub>2</sub>O <a onclick=x>y</a>") == [
        text("H"),
        {"type": "subscript", "children": [text("2")]},
        text("O y"),
    ]


def test_deeply_nested_tags_are_bounded() -> None:
    depth, node = 0, make_inline_tree("<sub>" * 1_000 + "x")[0]
    while "children" in node:
        depth, node = depth + 1, node["children"][0]
    assert depth == 8


def test_an_empty_text_has_no_blocks() -> None:
    assert make_text_tree("") == make_inline_tree("") == []


def test_a_figure_is_its_caption_without_the_attributes_of_pandoc() -> None:
    (figure,) = make_text_tree("![Map \\label{fig:map}](map.png){ width=5in }")
    assert figure == {"type": "figure", "offset": 0, "alt": "Map", "href": None}
    assert make_inline_tree("![Map](map.png) {sic}")[-1] == text(" {sic}")


@pytest.mark.parametrize(
    "markdown", ["![Map](map.png){" + "=" * 400_000, "Map <" + "a" * 400_000 + ' title=">">'], ids=["braces", "tag"]
)
def test_a_long_text_that_looks_like_attributes_or_a_tag_is_read_before_the_test_times_out(markdown: str) -> None:
    (paragraph,) = make_text_tree(markdown)
    assert paragraph["type"] == "paragraph"
