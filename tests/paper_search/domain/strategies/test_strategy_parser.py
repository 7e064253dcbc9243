"""The reader of strategies: tags, ranges, numbered lines, and operators from left to right."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paper_search.domain.strategies.platform_translation import render_for_pubmed
from paper_search.domain.strategies.strategy_parser import is_strategy, read_strategy
from paper_search.domain.strategies.terms import Field, FieldTerm, find_field, suggest_tag
from tests.paper_search.domain.strategies.difficult_strategies import DIFFICULT
from tests.paper_search.domain.strategies.pubmed_evaluation import is_match, list_leaves
from uraniborg.kernel.language.boolean_query import BRACKETED_FIELDS, fold_field_name, iterate_wanted_terms


def render(text: str) -> str:
    tree = read_strategy(text).tree
    return render_for_pubmed(tree) if tree else ""


def read_term(text: str) -> FieldTerm:
    tree = read_strategy(text).tree
    assert isinstance(tree, FieldTerm)
    return tree


@pytest.mark.parametrize("name", DIFFICULT)
def test_a_difficult_strategy_is_read_as_pubmed_reads_it(name: str) -> None:
    text, expected = DIFFICULT[name]
    assert render(text) == expected
    assert read_strategy(expected).tree == read_strategy(text).tree


@pytest.mark.parametrize("name", DIFFICULT)
def test_the_reading_of_a_difficult_strategy_matches_the_same_records(name: str) -> None:
    _, expected = DIFFICULT[name]
    randomness = random.Random(3)
    leaves = sorted(list_leaves(expected))
    for _ in range(100):
        held = {leaf for leaf in leaves if randomness.random() < 0.5}
        assert is_match(render(expected), held.__contains__) is is_match(expected, held.__contains__)


def test_there_are_at_least_25_difficult_strategies() -> None:
    assert len(DIFFICULT) >= 25


@pytest.mark.parametrize(
    ("tag", "field"),
    [
        ("tiab", Field.TITLE_ABSTRACT),
        ("Title/Abstract", Field.TITLE_ABSTRACT),
        ("TIAB:~2", Field.TITLE_ABSTRACT),
        (" ti ", Field.TITLE),
        ("MeSH Terms", Field.MESH),
        ("Mesh:NoExp", Field.MESH),
        ("mh:noexp", Field.MESH),
        ("MeSH Major Topic", Field.MAJOR_TOPIC),
        ("majr", Field.MAJOR_TOPIC),
        ("tw", Field.TEXT_WORDS),
        ("Publication Type", Field.PUBLICATION_TYPE),
        ("ptyp", Field.PUBLICATION_TYPE),
        ("dp", Field.PUBLISHED),
        ("Date - Publication", Field.PUBLISHED),
        ("edat", Field.DATE_OF_RECORD),
        ("la", Field.LANGUAGE),
        ("au", Field.AUTHOR),
        ("Author - First", Field.AUTHOR),
        ("All Fields", Field.ALL),
        ("sb", Field.SUBSET),
        ("nm", Field.SUBSTANCE),
        ("Pharmacological Action", Field.ACTION),
        ("jour", Field.JOURNAL),
        ("vi", Field.OTHER),
        ("x", None),
    ],
)
def test_a_tag_names_its_field_in_short_and_in_long(tag: str, field: Field | None) -> None:
    assert find_field(tag) is field


def test_every_tag_of_a_field_makes_a_text_a_query() -> None:
    known = [name for name in BRACKETED_FIELDS if find_field(name) not in {None, Field.OTHER}]
    assert len(known) > 100
    assert all(fold_field_name(name) == name for name in known)


@pytest.mark.parametrize(
    ("wrong", "right"), [("tiaab", "tiab"), ("Tittle/Abstract", "title/abstract"), ("ti,ab", "tiab")]
)
def test_the_nearest_tag_is_suggested_for_an_unknown_one(wrong: str, right: str) -> None:
    assert suggest_tag(wrong) == right


def test_a_term_knows_its_heading_its_words_and_its_distance() -> None:
    term = read_term('"Receptors, Muscarinic/drug effects"[Mesh:NoExp]')
    assert term.heading == ("Receptors, Muscarinic", "drug effects")
    assert term.natural_words == "Muscarinic Receptors"
    assert not term.is_exploded
    assert read_term('"tart cherry"[tiab:~3]').distance == 3
    assert read_term('"tart cherry"[tiab]').distance is None


@pytest.mark.parametrize(
    ("text", "years"),
    [
        ("2010:2020[dp]", (2010, 2020)),
        ('"2010/05/01"[Date - Publication] : "3000"[dp]', (2010, None)),
        ("1000:1999[pdat]", (None, 1999)),
        ("2015[dp]", (2015, 2015)),
        ("english[la]", None),
        ("2010:2020[edat]", None),
    ],
)
def test_dates_of_publication_have_years(text: str, years: tuple[int | None, int | None] | None) -> None:
    assert read_term(text).years == years


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("#1 a[ti]\n#2 #1 OR #7", "no line #7"),
        ("#1 #2\n#2 #1 OR a[ti]", "in a circle"),
        ("#1 a[ti]\n#1 b[ti]\n#2 #1", "two lines with the number 1"),
        ("#1 a[ti]\n" + "\n".join(f"#{n} (#{n - 1} AND b) OR (#{n - 1} AND c)" for n in range(2, 30)), "in all"),
        ("#1 a[ti]\n" + "\n".join(f"#{n} #{n - 1} OR b{n}" for n in range(2, 60)), "more than 30 times"),
    ],
)
def test_lines_that_cannot_be_joined_are_an_error_with_a_position(text: str, message: str) -> None:
    strategy = read_strategy(text)
    assert strategy.tree is None
    (problem,) = strategy.problems
    assert message in problem.message
    assert problem.severity == "error"
    assert text[problem.start : problem.end]


def test_a_line_that_the_last_one_does_not_name_is_a_warning() -> None:
    (problem,) = read_strategy("#1 a[ti]\n#2 b[ti]\n#3 c[ti]\n#4 #1 AND #3").problems
    assert "Line 2" in problem.message
    assert problem.severity == "warning"


@pytest.mark.parametrize(
    "text",
    [
        "frogs AND chytrid",
        "benzo[a]pyrene in mussels",
        "- [ ] a\n- [x] b",
        "1. cells in water\n2. cells in air",
        "#1 in pop",
    ],
)
def test_texts_without_tags_and_references_are_no_strategies(text: str) -> None:
    assert not is_strategy(text)


def test_lines_that_begin_with_a_number_of_the_text_are_no_numbered_lines() -> None:
    text = "18 months[tiab] OR\n24 months[tiab]"
    assert render(text) == "18 months[tiab] OR 24 months[tiab]"


PIECES = st.sampled_from(
    [
        "gout[ti]",
        '"uric acid"[mh]',
        "AND",
        "OR",
        "NOT",
        "(",
        ")",
        "and",
        "\n",
        "#1 ",
        "#2 ",
        "2. ",
        "[tiab]",
        "[x]",
        '"',
        ":",
    ]
)


@settings(deadline=None, max_examples=300)
@given(st.lists(PIECES | st.text(max_size=4), max_size=16).map(" ".join))
def test_reading_never_raises(text: str) -> None:
    tree = read_strategy(text).tree
    assert tree is None or (render_for_pubmed(tree) and list(iterate_wanted_terms(tree)))


def nest(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    sign = st.sampled_from([" AND ", " OR ", " NOT "])
    return st.lists(inner, min_size=2, max_size=4).flatmap(
        lambda parts: st.lists(sign, min_size=len(parts) - 1, max_size=len(parts) - 1).map(
            lambda signs: f"({parts[0]}{''.join(one + part for one, part in zip(signs, parts[1:], strict=True))})"
        )
    )


COMPLETE = st.recursive(
    st.sampled_from(["gout[ti]", '"uric acid"[Mesh:NoExp]', "tophi*[tiab]", "podagra[tw]", "review[pt]"]),
    nest,
    max_leaves=9,
)


@settings(deadline=None, max_examples=200)
@given(COMPLETE, st.integers(0, 2**16))
def test_a_complete_strategy_keeps_its_meaning(text: str, seed: int) -> None:
    tree = read_strategy(text).tree
    assert tree is not None
    rendered = render_for_pubmed(tree)
    assert read_strategy(rendered).tree == tree
    randomness = random.Random(seed)
    for _ in range(12):
        held = {leaf for leaf in list_leaves(text) if randomness.random() < 0.5}
        assert is_match(rendered, held.__contains__) is is_match(text, held.__contains__)


HOSTILE = {
    "open brackets": "(" * 19_000 + "gout[ti]",
    "closing brackets": "gout[ti]" + ")" * 19_000,
    "quotation marks": "gout[ti] " + '"' * 19_000,
    "square brackets": "gout[ti] " + "[" * 19_000,
    "tags": "gout" + "[tiab]" * 3_000,
    "changes of operators": "a[ti] AND b[ti] OR " * 1_000 + "c[ti]",
    "alternatives": "a[ti] OR " * 2_000 + "b[ti]",
    "spaces": "gout[ti]" + " " * 19_000 + "x[ti]",
    "groups with tags": "(" * 2_000 + "a" + ")[ti]" * 2_000,
    "lines": "#1 a[ti]\n" + "\n".join(f"#{n} #{n - 1} OR b" for n in range(2, 1_000)),
    "ranges of lines": "#1 a[ti]\n#2 " + "or/1-900 " * 2_000,
    "ranges with commas": "#1 a[ti]\n#2 " + "1-2," * 4_000 + "/or",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_strategies_are_read_without_deep_recursion(name: str) -> None:
    text = HOSTILE[name][:20_000]
    tree = read_strategy(text).tree
    assert tree is None or render_for_pubmed(tree)


def test_a_longer_text_is_not_read() -> None:
    assert read_strategy("gout[ti] OR " * 2_000).tree is None
