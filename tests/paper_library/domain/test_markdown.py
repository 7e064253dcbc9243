"""Markdown: plain text, headings, and HTML without active content."""

import re
import time
from html.parser import HTMLParser
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from paper_library.domain.markdown import (
    escape_line_start,
    escape_markdown,
    extract_plain_text,
    find_headings,
    render_safe_html,
    strip_text_marks,
)

NAMES = st.lists(st.sampled_from(["Fish", "deep", "C#", "β", "鱼", "x1"]), min_size=1, max_size=3).map(" ".join)
OTHER_BLOCKS = (
    *("- item\n---", "> quoted\n---", "#hashtag", "#", "---", "* * *", "- item\n- item", "####### seven"),
    "| a | b |\n|---|---|\n| 1 | 2 |",
)
MANY_FORMS = (
    "{name}\n===",
    "{name}\n---",
    "{name}\n=====  ",
    "```python\n# {name}\n{name}\n===\n```",
    "~~~\n# {name}\n```\n~~~",
    "````\n```\n# {name}\n````",
    "text\n\n    # {name}",
    "{name} and\n{name} #hash",
    *(f"{'#' * level} {{name}}{end}" for level in range(1, 7) for end in ("", " #", " ###  ")),
)


def _format_name(form: str, name: str) -> str:
    return form.format(name=name)


BLOCKS = st.builds(_format_name, st.sampled_from(MANY_FORMS), NAMES) | st.sampled_from(OTHER_BLOCKS)
DOCUMENTS = st.lists(BLOCKS, max_size=8).map("\n\n".join)


def _parse_by_reference(document: str) -> list[tuple[int, str, str]]:
    """Return level, text and first line of each heading from the reference parser."""
    lines = document.split("\n")
    tokens = MarkdownIt("commonmark").parse(document)
    return [
        (int(token.tag[1]), inline.content, lines[token.map[0]])
        for token, inline in pairwise(tokens)
        if token.type == "heading_open" and token.map and inline.content
    ]


@given(DOCUMENTS, st.sampled_from(["", "intro\n\n", "\n\n"]))
def test_the_outline_has_the_commonmark_headings_with_their_offsets(document: str, before: str) -> None:
    text = before + document
    found = [(one.level, one.title, text[one.offset :].split("\n")[0]) for one in find_headings(text)]
    assert found == _parse_by_reference(text)


@given(st.text(st.sampled_from("#=-~`*_[]()<>!|\\ \t\r\n\x0c\u2028ab1.鱼"), max_size=80))
def test_the_offsets_of_an_outline_are_inside_the_text(text: str) -> None:
    for heading in find_headings(text):
        assert 0 <= heading.offset < len(text)
        assert 1 <= heading.level <= 6
        assert heading.title
        assert heading.offset == 0 or text[: heading.offset].splitlines(keepends=True)[-1][-1].isspace()


def test_windows_line_ends_do_not_shift_headings() -> None:
    text = "a\r\n\r\n# One\r\n\r\nTwo\r\n---\r\n"
    assert [(one.title, text[one.offset :][:3]) for one in find_headings(text)] == [("One", "# O"), ("Two", "Two")]


@pytest.mark.parametrize(
    "document",
    [
        pytest.param("```x = 1``` is code\n\n# Real\n", id="code in a line"),
        pytest.param("<!--\n# hidden\n-->\n", id="a comment"),
        pytest.param("## 1. Introduction\n", id="a numbered section"),
        pytest.param("# Energies > 5 GeV\n\n# > 5 GeV\n", id="a sign at the beginning"),
    ],
)
def test_the_outline_follows_commonmark_in_edge_cases(document: str) -> None:
    found = [(one.level, one.title) for one in find_headings(document)]
    assert found == [(level, title) for level, title, _ in _parse_by_reference(document)]


@pytest.mark.parametrize(
    ("markdown", "plain"),
    [
        ("*Deep* **fish** _in_ `code` ~~no~~", "Deep fish in code ~~no~~"),
        ('a [link](https://example.org/a_(b)) and ![alt text](x.png "t")', "a link and alt text"),
        ("[one][1] and [two]", "one and [two]"),
        ("- a\n- b\n1. c\n> d", "a b c d"),
        ("| a | b |\n|---|---|\n| 1 | 2 |", "a b 1 2"),
        ("x <b>bold</b> <!-- gone\nfor ever --> y", "x bold y"),
        ("a < b and c > d", "a < b and c > d"),
        ("snake_case_name and 2*3*4", "snake_case_name and 2*3*4"),
        (r"\*kept\* \# 5\%", "*kept* # 5%"),
        ("深度*学习*", "深度学习"),
        ("M*m*PPOX, *K*ₘ and **Y**es", "MmPPOX, Kₘ and Yes"),
        ("the $k$-mers $a_i *b*$", "the k-mers a_i *b*"),
        (r"in \texttt{TDAvec}\label{sec:x}", "in TDAvec"),
        ("", ""),
    ],
)
def test_plain_text_has_the_words_without_the_markup(markdown: str, plain: str) -> None:
    assert extract_plain_text(markdown) == plain


def test_the_outline_has_no_markup() -> None:
    text = "# The `biopixR` *K*ₘ\n\n## $k$-mers \\label{sec:k}\n"
    assert [heading.title for heading in find_headings(text)] == ["The biopixR Kₘ", "k-mers"]


@pytest.mark.parametrize(
    ("title", "plain"),
    [
        ("`biopixR`: M*m*PPOX and $k$-mers", "biopixR: MmPPOX and k-mers"),
        (r"Semi\-Markov Models", "Semi-Markov Models"),
        ("C*-algebras, *-rings [a@b.c] <x> snake_case, $5 or $6", None),
    ],
)
def test_a_title_loses_only_marks_of_code_emphasis_and_formulas(title: str, plain: str | None) -> None:
    assert strip_text_marks(title) == (plain or title)


@given(st.text(max_size=200))
def test_plain_text_is_one_line_of_characters_of_the_original(text: str) -> None:
    plain = extract_plain_text(text)
    assert plain == " ".join(plain.split())
    assert set(plain) <= set(text) | {" ", "."}


@pytest.mark.parametrize("mark", ["[", "![", "<!--", "*a ", "**a ", "_a ", "![a](", "a*a", r"\emph{"])
def test_unclosed_markup_does_not_slow_down_parsing(mark: str) -> None:
    def measure_time(text: str) -> float:
        start = time.process_time()
        extract_plain_text(text)
        return time.process_time() - start

    # Ten times as much takes about ten times as long; by the square it would be a hundred times.
    few, many = (min(measure_time(mark * number) for _ in range(3)) for number in (1_000, 10_000))
    assert many < 40 * (few + 0.0005)


VECTORS = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<svg onload=alert(1)></svg>",
    "<a href='javascript:alert(1)'>x</a>",
    "[x](javascript:alert(1))",
    "[x](JaVaScRiPt:alert(1))",
    "[x](&#106;avascript:alert(1))",
    "[x](data:text/html;base64,PHNjcmlwdD4=)",
    "![x](javascript:alert(1))",
    "![x](data:image/svg+xml,<svg onload=alert(1)>)",
    "<iframe src='https://evil.example'></iframe>",
    "<object data='x'></object><embed src='x'>",
    "<form action='https://evil.example'><input name=q><button>go</button></form>",
    "<style>body{background:url(//evil.example)}</style>",
    "<p style='position:fixed'>x</p>",
    "<base href='https://evil.example/'>",
    "<meta http-equiv=refresh content='0;url=https://evil.example'>",
    "<link rel=stylesheet href='//evil.example'>",
    "<math><mtext></mtext><mglyph><style><img src=x onerror=alert(1)></style></mglyph></math>",
    "<noscript><p title='</noscript><img src=x onerror=alert(1)>'></noscript>",
    "<details open ontoggle=alert(1)>x</details>",
    '<a href="vbscript:x">x</a>',
    '<a href="java\nscript:alert(1)">x</a>',
    "<scr<script>ipt>alert(1)</script>",
    "<template><script>alert(1)</script></template>",
    "```html\n<script>alert(1)</script>\n```",
    "<!--><img src=x onerror=alert(1)>-->",
    "<x onclick=alert(1) ",
    "[x]: javascript:alert(1)\n\n[x]",
    '<https://example.org/"onmouseover=alert(1)>',
    "<video><source onerror=alert(1)></video>",
    "<button formaction=javascript:alert(1)>x</button>",
    "<div id=config name=location>x</div>",
]
ACTING = {"script", "iframe", "object", "embed", "form", "input", "button", "style", "link", "meta", "base", "svg"}
TARGETS = re.compile(r"https?://|mailto:|[#/]|[\w.-]*(?![\w.:-])", re.IGNORECASE)


class Tags(HTMLParser):
    """A parser that fails on every active tag and attribute."""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag not in ACTING
        for name, value in attrs:
            assert not name.startswith("on")
            assert name not in {"style", "id", "name", "formaction", "srcdoc"}
            if name in {"href", "src", "cite"}:
                assert TARGETS.match(value or ""), value


def assert_harmless(html: str) -> None:
    reader = Tags()
    reader.feed(html)
    reader.close()


def test_the_check_for_active_html_can_fail() -> None:
    for harm in ("<script>", "<p onclick=x>", '<a href="javascript:x">', '<a href="data:x">', "<p id=x>"):
        with pytest.raises(AssertionError):
            assert_harmless(harm)


@pytest.mark.parametrize("vector", VECTORS)
def test_rendered_markdown_has_no_active_content(vector: str) -> None:
    for text in (vector, f"# Fish\n\n- {vector}\n", f"x {vector} y", vector.upper().replace("ALERT", "alert")):
        assert_harmless(render_safe_html(text))


@given(
    st.lists(st.one_of(st.sampled_from(VECTORS), st.text("<>\"'`&;:/ =\\[]()!\0\tx", max_size=10)), max_size=6).map(
        "".join
    )
)
def test_no_combination_of_dangerous_pieces_is_active(text: str) -> None:
    assert_harmless(render_safe_html(text))


def test_harmless_markup_is_rendered() -> None:
    html = render_safe_html(
        "# Fish\n\n*deep* [x](https://example.org) \n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```\na < b\n```\n~~gone~~"
    )
    for part in ("<h1>Fish</h1>", "<em>deep</em>", 'href="https://example.org"', "noopener", "<td>1</td>", "a &lt; b"):
        assert part in html


@given(st.text(max_size=60))
@example("&amp; &lt;b&gt; &copy;")
@example("*a* _b_ `c` [d](e) <f> # g ~h~ $i$ \\j {k} |l|")
@example("1. a")
@example("- a")
@example("# a")
def test_escaped_text_is_displayed_unchanged(text: str) -> None:
    line = " ".join(re.sub(r"[\x00-\x1f\x7f]", " ", text).split())
    shown = MarkdownIt("commonmark").enable(["table", "strikethrough"]).render(escape_line_start(escape_markdown(line)))
    content = re.fullmatch(r"(?:<p>(.*)</p>\n)?", shown, re.DOTALL)
    assert content, shown
    unescaped = (
        (content[1] or "").replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", '"').replace("&amp;", "&")
    )
    assert unescaped == line
