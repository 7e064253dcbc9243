"""Snippets are passages of the text, limited in length, with only the matches in bold."""

import re
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from paper_library.service.query_compiler import CompiledQuery
from paper_library.service.snippets import WordMatcher, make_snippet
from uraniborg.kernel.language.words import split_words, stem_word

SNIPPET_CHARS = 300

PARSER = MarkdownIt("commonmark").enable(["table", "strikethrough"])
WORDS = st.sampled_from(
    [
        "fish",
        "Fishes",
        "swim",
        "C++",
        "C#",
        ".NET",
        "Schrödinger",
        "深度学习",
        "*bold*",
        "[x](y)",
        "<b>",
        "&amp;",
        "`c`",
        "1.",
        "-",
        "#",
        "_a_",
        "$x$",
        "\\",
        "|",
        "~~s~~",
        "é",
        "🐟",
        "\u202efish",
        "דג",
        "well-fished.",
        "(fish)",
    ]
)
TEXTS = st.lists(WORDS, max_size=120).map(" ".join)
QUERIES = st.lists(
    st.sampled_from(["fish", "swim", "c++", "c#", ".net", "schrodinger", "深度学习", "bold"]), max_size=3
).map(" ".join)


def make_text_snippet(text: str, query: str) -> str:
    return make_snippet(text, WordMatcher.from_query(CompiledQuery.make_for_snippets(query)))[0]


def render_markdown(markdown: str) -> tuple[str, list[str]]:
    """Return the visible text and its bold words. Fail if there is other markup."""
    tokens = PARSER.parse(markdown)
    assert [token.type for token in tokens] in ([], ["paragraph_open", "inline", "paragraph_close"]), markdown
    seen, bold, inside = "", [""], False
    for token in tokens[1].children or [] if tokens else []:
        assert token.type in {"text", "text_special", "strong_open", "strong_close"}, (token.type, markdown)
        inside = token.type == "strong_open" or (inside and token.type != "strong_close")
        if token.type == "strong_open":
            bold.append("")
        seen += token.content
        if inside:
            bold[-1] += token.content
    return seen, bold[1:]


def collapse_blanks(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).split())


@given(TEXTS, QUERIES)
def test_a_snippet_is_a_passage_of_the_text(text: str, query: str) -> None:
    seen, _ = render_markdown(make_text_snippet(text, query))
    assert collapse_blanks(seen.removeprefix("…").removesuffix("…")) in collapse_blanks(text)


@given(TEXTS, QUERIES)
def test_a_snippet_is_at_most_as_long_as_the_limit(text: str, query: str) -> None:
    seen, _ = render_markdown(make_text_snippet(text, query))
    assert len(seen) <= SNIPPET_CHARS + 2


def test_a_snippet_uses_the_available_length() -> None:
    seen, _ = render_markdown(make_text_snippet("fish " * 1_000, "fish"))
    assert len(seen.strip("… ")) == SNIPPET_CHARS - 1, "a whole number of words"


@given(TEXTS, QUERIES)
def test_only_words_of_the_query_are_bold(text: str, query: str) -> None:
    asked = {stem_word(word) or word for word in split_words(query)}
    for bold in render_markdown(make_text_snippet(text, query))[1]:
        assert {stem_word(word) or word for word in split_words(bold)} & asked, bold


@given(st.text(max_size=400), st.text(max_size=10))
@example("a\0b fish", "fish")
@example("x" * 1000, "x" * 500)
@example("fish " * 1000, "fish")
def test_no_text_makes_a_snippet_fail_or_exceed_the_limit(text: str, query: str) -> None:
    snippet = make_text_snippet(text, query)
    assert len(snippet.replace("\\", "").replace("**", "")) <= SNIPPET_CHARS + 2


@pytest.mark.parametrize(
    "text", ["fish\n\n# Big\n\n- list", "fish\n***\nx", "fish\n    code", "fish\n===", "fish\n1. one"]
)
def test_lines_of_a_text_do_not_become_headings_or_lists(text: str) -> None:
    assert collapse_blanks(render_markdown(make_text_snippet(text, "fish"))[0]) == collapse_blanks(text)


@pytest.mark.parametrize(
    ("text", "query", "expected"),
    [
        ("Deep fishes swim.", "fish", "Deep **fishes** swim."),
        ("Erwin Schro\u0308dinger wrote.", "schrodinger", "Erwin **Schrödinger** wrote."),
        ("本文综述深度学习。", "深度学习", "本文综述**深度学习**。"),
        ("本文综述深度学习。", "学", "本文综述深度**学**习。"),
        ("한국어 자연어 처리", "자연어", "한국어 **자연어** 처리"),
        ("Fish, fish; FISH!", "fish", "**Fish**, **fish**; **FISH**!"),
        ("in C++ and C#", "c++", "in **C++** and C#"),
        ("with .NET here", ".net", "with **.NET** here"),
        ("1. fish", "fish", "1\\. **fish**"),
        ("a*b fish", "fish", "a\\*b **fish**"),
        ("no match", "fish", "no match"),
        ("", "fish", ""),
    ],
)
def test_matches_are_bold_in_the_form_they_have_in_the_text(text: str, query: str, expected: str) -> None:
    assert make_text_snippet(text, query) == expected


@pytest.mark.parametrize(
    ("text", "query", "bold"),
    [
        ("the β-carotene story", "beta", "β"),
        ("قال مُحَمَّد علي", "محمد", "مُحَمَّد"),
        ("a soft\u00adhyphen here", "softhyphen", "soft\u00adhyphen"),
        ("die Straßen", "strassen", "Straßen"),
        ("the ﬁsh", "fish", "ﬁsh"),
    ],
    ids=["greek letter", "arabic vowels", "soft hyphen", "sharp s", "ligature"],
)
def test_exactly_the_word_is_bold_where_folding_changes_its_length(text: str, query: str, bold: str) -> None:
    assert render_markdown(make_text_snippet(text, query))[1] == [bold]


def test_a_match_that_ends_in_a_sign_before_a_letter_is_bold() -> None:
    assert render_markdown(make_text_snippet("in C++11 code", "c++"))[0] == "in C++11 code"


def test_the_passage_with_the_most_words_of_the_query_is_chosen() -> None:
    text = f"{'Fish swim here. ' * 30}The deep fish and the high bird meet. {'Fish again. ' * 30}"
    snippet = make_text_snippet(text, "deep fish bird")
    assert "The **deep** **fish** and the high **bird** meet." in snippet
    assert snippet.startswith("…")
    assert snippet.endswith("…")


def test_without_a_match_the_beginning_is_shown_and_cut_between_words() -> None:
    snippet = make_text_snippet("wonderful " * 100, "fish")
    assert snippet.startswith("wonderful")
    assert re.fullmatch(r"(?:wonderful )*wonderful ?…", snippet)


def test_a_snippet_counts_its_different_matched_words() -> None:
    matcher = WordMatcher.from_query(CompiledQuery.make_for_snippets("fish birds cold"))
    assert make_snippet("fish fishes FISH and bird", matcher)[1] == 2
    assert make_snippet("nothing", matcher)[1] == 0


def test_html_in_a_text_is_escaped() -> None:
    snippet = make_text_snippet("<script>alert(1)</script> &lt;b&gt; fish", "fish")
    assert "<script>" not in PARSER.render(snippet)
    assert render_markdown(snippet)[0] == "<script>alert(1)</script> &lt;b&gt; fish"


@pytest.mark.parametrize(
    ("filler", "text"),
    [
        ("fish " * 9, "A fish can swim."),
        ("", "The fish swim, and fish swim."),
        ("fish and they also sometimes swim. ", "Two fish swim."),
    ],
    ids=["different words before their number", "number", "nearness"],
)
def test_the_passage_has_the_most_different_words_then_the_most_words_then_the_nearest(filler: str, text: str) -> None:
    blank = "sea " * 100
    snippet = make_text_snippet(f"{filler}{blank}fish or else {blank}. {text} {blank} fish", "fish swim")
    assert text in snippet.replace("**", "")


def test_a_passage_has_the_last_of_the_matches_that_it_was_chosen_for() -> None:
    sentence = f"Here {'sea ' * 30}fish {'sea ' * 50}swim."
    assert "**swim**" in make_text_snippet(f"{'sea ' * 100}. {sentence} {'sea ' * 100}", "fish swim")
