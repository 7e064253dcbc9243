"""Texts as trees."""

# pyright: reportGeneralTypeIssues=false, reportTypedDictNotRequiredAccess=false, reportUnknownVariableType=false

import json
import time
from pathlib import Path

import pytest

from paper_library.domain.document_tree import make_inline_tree, make_text_tree
from paper_library.domain.markdown import extract_plain_text, render_safe_html

# The tests of the console draw the same formulas.
ENVIRONMENTS = json.loads(
    (Path(__file__).parents[3] / "console/tests/formula_environments.json").read_text(encoding="utf-8")
)


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


@pytest.mark.parametrize("case", ENVIRONMENTS, ids=lambda case: case["markdown"].split("}")[0])
def test_a_latex_environment_is_one_formula_that_ends_a_paragraph(case: dict[str, str]) -> None:
    blocks = make_text_tree(f"We have\n{case['markdown']}\nwhere")
    assert [block["type"] for block in blocks] == ["paragraph", "math_block", "paragraph"]
    assert blocks[1] == {"type": "math_block", "offset": 8, "tex": case["tex"]}


@pytest.mark.parametrize("before", ["> ", "1. ", "- > "])
def test_an_environment_in_a_quotation_or_a_list_is_a_formula_without_the_marks_around_it(before: str) -> None:
    (block,) = make_text_tree(
        f"{before}\\begin{{align}}\n{before.replace('1.', '  ').replace('-', ' ')}a\\end{{align}}"
    )
    while block["type"] != "math_block":
        block = block["items"][0][0] if block["type"] == "list" else block["children"][0]
    assert block["tex"] == r"\begin{aligned}a\end{aligned}"


def test_an_environment_in_a_line_is_a_display_formula() -> None:
    assert make_text_tree(r"So \begin{equation} a \\ b \end{equation}.")[0]["children"] == [
        text("So "),
        {"type": "math", "tex": r"a \\ b", "display": True},
        text("."),
    ]


def test_pages_without_scripts_and_plain_texts_have_the_same_formula() -> None:
    markdown = "\\begin{equation}\\label{c}\n  a_1 \\\\ |b| _c_\n\\end{equation}\n"
    assert render_safe_html(markdown) == "<p>$$a_1 \\\\ |b| _c_$$</p>\n"
    assert extract_plain_text(f"Let $x_1$ be *x*.\n\n{markdown}") == "Let x_1 be x. a_1 \\\\ |b| _c_"


@pytest.mark.parametrize(
    "markdown",
    [
        r"\begin{equation} a",
        "\\begin{equation}\n\na\n\\end{equation}",
        r"\begin{equation} a \end{align}",
        r"\begin{tabular}",
    ],
)
def test_an_environment_that_does_not_end_is_text(markdown: str) -> None:
    assert {block["type"] for block in make_text_tree(markdown)} == {"paragraph"}


@pytest.mark.parametrize("mark", ["\\begin{equation}", "\\begin{align}\n", "> \\begin{align}\n", "$$a\n", "`$a "])
def test_thousands_of_formulas_that_do_not_end_take_linear_time(mark: str) -> None:
    def measure_time(markdown: str) -> float:
        start = time.process_time()
        make_text_tree(markdown)
        extract_plain_text(markdown)
        return time.process_time() - start

    few, many = (min(measure_time(mark * number) for _ in range(3)) for number in (300, 3_000))
    assert many < 40 * (few + 0.0005)


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
    assert figure == {"type": "figure", "offset": 0, "alt": "Map", "caption": [text("Map ")], "href": None}
    assert make_inline_tree("![Map](map.png) {sic}")[-1] == text(" {sic}")


def test_the_caption_of_a_figure_has_its_formulas() -> None:
    (figure,) = make_text_tree("![Path *in* $C_1$](map.png)")
    assert figure["alt"] == "Path in C_1"
    assert figure["caption"][-1] == {"type": "math", "tex": "C_1", "display": False}


@pytest.mark.parametrize(
    "markdown", ["![Map](map.png){" + "=" * 400_000, "Map <" + "a" * 400_000 + ' title=">">'], ids=["braces", "tag"]
)
def test_a_long_text_that_looks_like_attributes_or_a_tag_is_read_before_the_test_times_out(markdown: str) -> None:
    (paragraph,) = make_text_tree(markdown)
    assert paragraph["type"] == "paragraph"
