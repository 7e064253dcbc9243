import pytest
from hypothesis import given
from hypothesis import strategies as st

from paper_search.domain.query.query_texts import (
    count_address_bytes,
    list_wanted_words,
    quote_term_if_needed,
    render_with_operators,
    render_within_limit,
)
from paper_search.domain.strategies.plain_words import parse_query, parse_search_query
from paper_search.models import SearchQuery
from paper_search.sources.dblp import list_word_clauses
from uraniborg.kernel.language.boolean_query import AllOf, AnyOf, Node, Term

PIECES = st.sampled_from(["AND", "OR", "NOT", "(", ")", '"', "“", "”", "a", "b-c", "déjà", "x*", "*", ":", "深度", " "])
ANY_QUERY = st.text() | st.lists(PIECES, max_size=60).map(" ".join)


def make_term(text: str) -> Term:
    return Term(tuple(text.split()))


A, B, C, D = (make_term(letter) for letter in "abcd")


def test_a_query_with_every_operator_is_parsed_as_expected() -> None:
    assert parse_query('(perovskite OR "solar cell") AND efficiency NOT review') == AllOf(
        (AnyOf((make_term("perovskite"), make_term("solar cell"))), make_term("efficiency")), (make_term("review"),)
    )


@pytest.mark.parametrize(
    ("query", "tree"),
    [
        ("a", A),
        ("a b", AllOf((A, B))),
        ("a AND b", AllOf((A, B))),
        ("a OR b", AnyOf((A, B))),
        ("a b OR c d", AnyOf((AllOf((A, B)), AllOf((C, D))))),
        ("a AND (b OR c)", AllOf((A, AnyOf((B, C))))),
        ("a OR (b OR c)", AnyOf((A, B, C))),
        ("a AND (b AND c)", AllOf((A, B, C))),
        ("a NOT b", AllOf((A,), (B,))),
        ("a AND NOT b", AllOf((A,), (B,))),
        ("a AND (NOT b)", AllOf((A,), (B,))),
        ("a NOT (b OR c)", AllOf((A,), (B, C))),
        ("a NOT (b c)", AllOf((A,), (AllOf((B, C)),))),
        ("a NOT (NOT b)", AllOf((A, B))),
        ("NOT NOT a", A),
        ("a a OR a", A),
        ("“graph neural” nets", AllOf((make_term("graph neural"), make_term("nets")))),
        ("«deep learning»", make_term("deep learning")),
        ("and or not", AllOf((make_term("and"), make_term("or"), make_term("not")))),
        ('"OR"', make_term("OR")),
    ],
)
def test_operators_brackets_and_quotes_make_this_tree(query: str, tree: Node) -> None:
    assert parse_query(query) == tree


@pytest.mark.parametrize("query", ["", "   ", "AND OR NOT", "((((", '""', "NOT a", "NOT (a OR b)", "-- !! ::"])
def test_a_query_without_wanted_terms_is_none(query: str) -> None:
    assert parse_query(query) is None


@pytest.mark.parametrize(
    ("query", "tree"),
    [
        ("(a OR b", AnyOf((A, B))),
        ("a) b", AllOf((A, B))),
        ('"a b', AllOf((A, B))),
        ("a AND", A),
        ("OR a", A),
        ("a AND AND b", AllOf((A, B))),
        ("a NOT", A),
        ("a OR NOT b", A),
    ],
)
def test_unbalanced_input_is_parsed_as_far_as_possible(query: str, tree: Node) -> None:
    assert parse_query(query) == tree


def test_words_lose_only_the_characters_that_are_operators_of_sources() -> None:
    found = parse_query("COVID-19 C++ O'Neill perovskit* --dash +plus ratio:word हिन्दी e\u0301te\u0301 wom*n")
    assert isinstance(found, AllOf)
    assert [part.text for part in found.parts if isinstance(part, Term)] == [
        "COVID-19",
        "C++",
        "O'Neill",
        "perovskit*",
        "dash",
        "plus",
        "ratio word",
        "हिन्दी",
        "été",
        "wom n",
    ]


def test_only_plain_words_stay_without_quotes() -> None:
    assert quote_term_if_needed(make_term("perovskite")) == "perovskite"
    assert quote_term_if_needed(make_term("perovskit*")) == "perovskit*"
    assert quote_term_if_needed(make_term("solar cell")) == '"solar cell"'
    assert quote_term_if_needed(make_term("COVID-19")) == '"COVID-19"'
    assert quote_term_if_needed(make_term("AND")) == '"AND"'
    assert quote_term_if_needed(make_term("solar cell*")) == '"solar cell"'


def test_a_tree_is_rendered_with_the_operators_of_a_source() -> None:
    tree = parse_query('(a OR "b c") d NOT (e OR f)')
    assert tree is not None
    assert render_with_operators(tree) == '((a OR "b c") AND d NOT e NOT f)'
    assert render_with_operators(tree, and_sign=" + ", or_sign=" | ", not_sign=" -") == '((a | "b c") + d -e -f)'


def test_wanted_words_are_listed_once_and_in_order() -> None:
    tree = parse_query('(b OR "a b") AND c* NOT d')
    assert tree is not None
    assert list_wanted_words(tree) == ["b", "a", "c"]


def test_clauses_mean_the_same_as_the_query() -> None:
    tree = parse_query('("solar cell" OR photovoltaic) efficiency NOT review')
    assert tree is not None
    assert list_word_clauses(tree) == [("solar", "photovoltaic"), ("cell", "photovoltaic"), ("efficiency",)]


def test_too_many_clauses_are_cut_off() -> None:
    tree = parse_query(" OR ".join(f'"a{i} b{i} c{i}"' for i in range(20)))
    assert tree is not None
    assert len(list_word_clauses(tree)) == 16


def test_a_query_without_boolean_form_falls_back_to_its_keywords() -> None:
    assert parse_search_query(SearchQuery(keywords=["solar cell", "dye"], boolean_query="")) == AllOf(
        (make_term("solar cell"), make_term("dye"))
    )
    assert parse_search_query(SearchQuery(keywords=["a"], boolean_query="b")) == B


def test_a_query_too_long_for_an_address_keeps_its_first_terms_and_its_exclusions() -> None:
    tree = parse_query(" ".join(f"(word{i} OR other{i})" for i in range(200)) + " NOT review")
    short = render_within_limit(tree, render_with_operators, 300)
    assert count_address_bytes(short) <= 300
    assert short.startswith("((word0 OR other0) AND (word1 OR other1)")
    assert short.endswith("NOT review)")
    assert render_within_limit(parse_query("a NOT " + "x" * 400), render_with_operators, 300) == "a"
    assert render_within_limit(parse_query("x" * 400), render_with_operators, 300) == ""
    assert render_within_limit(None, render_with_operators, 300) == ""


def test_thousands_of_brackets_are_parsed() -> None:
    assert parse_query("(" * 20_000 + "a OR b" + ")" * 20_000 + " c") == AllOf((AnyOf((A, B)), C))
    nested = parse_query("".join(f"(a{i} OR (b{i} AND " for i in range(5_000)))
    assert nested is not None
    assert render_with_operators(nested)


@given(ANY_QUERY)
def test_parsing_never_raises_and_every_tree_can_be_rendered(query: str) -> None:
    tree = parse_query(query)
    if tree is not None:
        assert list_wanted_words(tree)
        assert list_word_clauses(tree)
        assert render_within_limit(tree, render_with_operators, 10**6) == render_with_operators(tree)
        _assert_well_formed(tree)


@given(ANY_QUERY)
def test_a_rendered_tree_is_parsed_back_into_the_same_tree(query: str) -> None:
    if tree := parse_query(query):
        once = parse_query(render_with_operators(tree))
        assert once is not None
        assert parse_query(render_with_operators(once)) == once


@given(ANY_QUERY, st.integers(0, 200))
def test_a_shortened_query_always_fits(query: str, limit: int) -> None:
    assert count_address_bytes(render_within_limit(parse_query(query), render_with_operators, limit)) <= limit


def test_a_huge_query_is_parsed_completely() -> None:
    tree = parse_query('a "b c" OR (d NOT e) ' * 20_000)
    assert isinstance(tree, AnyOf)
    assert list_wanted_words(tree) == ["a", "b", "c", "d"]


def _assert_well_formed(node: Node) -> None:
    if isinstance(node, Term):
        assert node.words
        return
    assert len(node.parts) > (1 if isinstance(node, AnyOf) else 0)
    assert not any(isinstance(part, type(node)) for part in node.parts)
    for part in node.parts:
        _assert_well_formed(part)
    if isinstance(node, AllOf):
        for part in node.excluded:
            assert not isinstance(part, AnyOf)
            _assert_well_formed(part)


@pytest.mark.parametrize(
    ("minus", "spelled_out"),
    [
        ("graphs -survey", "graphs NOT survey"),
        ('graphs -"case study"', 'graphs NOT "case study"'),
        ("graphs -(survey OR review)", "graphs NOT (survey OR review)"),
        ("(graphs -survey) OR trees", "(graphs NOT survey) OR trees"),
        ("graph-based -survey", "graph-based NOT survey"),
    ],
)
def test_a_minus_before_a_word_excludes_it(minus: str, spelled_out: str) -> None:
    assert parse_query(minus) == parse_query(spelled_out)


@pytest.mark.parametrize("text", ["graph-based", '"graph"-based', "graphs - survey", "graphs –survey", "--survey"])
def test_other_dashes_exclude_nothing(text: str) -> None:
    node = parse_query(text)
    assert not (isinstance(node, AllOf) and node.excluded)
