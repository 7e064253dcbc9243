"""Checks of queries while a person types them."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paper_search.domain.query.query_texts import normalise_query
from paper_search.domain.strategies.findings import correct_query
from paper_search.domain.strategies.lint import check_query_text, describe_query_errors, list_query_errors
from tests.paper_search.domain.strategies.difficult_strategies import DIFFICULT
from tests.paper_search.domain.strategies.test_strategy_parser import HOSTILE


@pytest.mark.parametrize(
    ("query", "severity", "span"),
    [
        ("(a OR b", "error", (0, 1)),
        ("a OR b)", "error", (6, 7)),
        ('moon "tidal lock', "error", (5, 6)),
        ("AND moon", "error", (0, 3)),
        ("moon OR", "error", (5, 7)),
        ("moon AND AND tide", "error", (9, 12)),
        ("moon and tide", "warning", (5, 8)),
        ("title:moon", "warning", (0, 6)),
        ("moon NEAR/3 tide", "warning", (5, 11)),
        ("mo* tide", "warning", (0, 3)),
        ("m*on tide", "warning", (0, 4)),
        ("moon () tide", "error", (5, 7)),
        ("NOT moon", "error", (0, 8)),
        ("(stem AND (cancer OR", "error", (10, 11)),
        ("(stem AND (cancer OR", "error", (18, 20)),
        ("stem AND OR cancer", "error", (9, 11)),
        ("title:(…) AND [x]", "error", (6, 9)),
        ("title:(…) AND [x]", "error", (14, 17)),
        ("moon AND … AND tide", "error", (11, 14)),
        ('moon AND ""', "error", (9, 11)),
        ("moon [tide", "warning", (5, 6)),
        ("colour:(red OR blue)", "error", (0, 7)),
        ("moon OR NOT tide", "error", (8, 16)),
        ("(moon OR -tide) AND ring", "error", (9, 14)),
        ("moon NOT (tide OR NOT ring)", "error", (18, 26)),
        ("(" * 31 + "moon" + ")" * 31, "error", (30, 31)),
        ("“a b” OR c", "warning", (0, 1)),
        ("moon*.ti,ab.", "warning", (5, 12)),
        ("TS=(moon AND tide)", "warning", (0, 3)),
        ("moon adj3 tide", "warning", (5, 9)),
        ("wom?n", "warning", (0, 5)),
        ("moon ANDNOT tide", "error", (5, 11)),
        ("moon && tide", "warning", (5, 7)),
        ("benzo[a]pyrene", "warning", (0, 14)),
        ('"moon tide*"', "warning", (0, 12)),
        ("", "error", (0, 0)),
    ],
)
def test_a_problem_is_reported_with_its_position(query: str, severity: str, span: tuple[int, int]) -> None:
    problems = check_query_text(query)
    found = [(problem.severity, (problem.start, problem.end)) for problem in problems]
    assert (severity, span) in found
    assert all(problem.message and problem.hint for problem in problems)


@pytest.mark.parametrize(
    "query",
    [
        *('("exomoon" OR moon*) AND stability NOT ring', "a AND NOT b", "TRAPPIST-1", "10.1086/341477", "-ring moon"),
        *(
            "a AND (NOT b)",
            'a AND -"b c"',
            "a NOT (b OR c)",
            "(NOT b) AND a",
            "doi:10.1086/341477 AND moon",
            "(a OR b) AND c",
        ),
        *('"a b" OR （c AND d）', "(a AND b) OR (c NOT d)", "NOT NOT a"),
        *("moon[tiab]", '"Neoplasms"[MeSH Terms:noexp] OR cancer[Title/Abstract]'),
    ],
)
def test_a_correct_query_has_no_problems(query: str) -> None:
    assert check_query_text(query) == ()


def test_a_query_is_returned_as_it_is_read() -> None:
    assert normalise_query("moon (tide OR ring") == "moon AND (tide OR ring)"


@pytest.mark.parametrize(
    ("query", "read_as"),
    [
        ("title:moon AND tide", "moon AND tide"),
        ("statin*.ti,ab. AND lipid*.mp.", "statin* AND lipid*"),
        ("TITLE-ABS-KEY ( urban AND heat )", "urban AND heat"),
        ("TS=(urban AND heat)", "urban AND heat"),
        ('"title:moon" AND tide', '"title moon" AND tide'),
        ("risk:benefit AND drug", '"risk benefit" AND drug'),
        ("doi:10.1086/341477 AND moon", '"10.1086/341477" AND moon'),
        ("（moon OR tide） AND ring", "(moon OR tide) AND ring"),
        ("stem NEAR/3 cell", "stem AND cell"),
        ("(stem OR root) adj3 cell* NOT moon", "(stem OR root) AND cell* AND NOT moon"),
    ],
)
def test_the_names_of_known_fields_and_distances_are_not_searched_as_words(query: str, read_as: str) -> None:
    assert normalise_query(query) == read_as


def test_an_error_names_its_position_the_spot_and_all_further_errors() -> None:
    query = "stem AND OR cancer)"
    message, hint, fields = describe_query_errors(query, list_query_errors(query))
    assert message == (
        "The query has an error at character 6, “AND OR cancer)”: AND has nothing after it. Errors after it: 2."
    )
    assert "Write a word after AND" in hint
    assert (fields["start"], fields["end"]) == (5, 8)
    assert [problem["start"] for problem in fields["problems"]] == [5, 9, 18]


NODES = st.recursive(
    st.sampled_from(["ice", "snow", '"sea ice"', "hail*", "COVID-19"]),
    lambda inner: st.builds(
        "({}{}{})".format, inner, st.sampled_from([" AND ", " OR ", " NOT ", " AND NOT ", " "]), inner
    ),
    max_leaves=8,
)


@settings(deadline=None)
@given(NODES)
def test_complete_queries_have_no_errors(query: str) -> None:
    assert list_query_errors(query) == []


@settings(deadline=None)
@given(NODES, st.integers(0, 200))
def test_a_query_that_lost_a_bracket_has_an_error(query: str, index: int) -> None:
    brackets = [position for position, sign in enumerate(query) if sign in "()"]
    if brackets:
        position = brackets[index % len(brackets)]
        assert list_query_errors(query[:position] + query[position + 1 :])


@pytest.mark.parametrize(
    ("query", "severity", "message", "corrected"),
    [
        ("(gout[ti] OR podagra[ti] AND diet[ti]", "error", "not closed", "(gout[ti] OR podagra[ti] AND diet[ti])"),
        ("gout[ti]) AND diet[ti]", "error", "closes nothing", "gout[ti] AND diet[ti]"),
        ("gout[ti] OR podagra[ti] AND diet[ti]", "warning", "left to right", "(gout[ti] OR podagra[ti]) AND diet[ti]"),
        ("gout OR podagra AND diet", "warning", "AND before OR", "gout OR (podagra AND diet)"),
        ("gout[ti] or podagra[ti]", "warning", "“or” is read as an operator", "gout[ti] OR podagra[ti]"),
        ("silver or gold[ti]", "warning", "“or” is read as a word", "silver OR gold[ti]"),
        ("“uric acid”[ti]", "warning", "straight quotation mark", '"uric acid"[ti]'),
        ("gout[tiaab] AND diet[ti]", "error", "not a field of PubMed", "gout[tiab] AND diet[ti]"),
        ("gout[Tittle/Abstract] OR diet[ti]", "error", "not a field", "gout[title/abstract] OR diet[ti]"),
        ("gout[ti] OR diet[ti] OR gout[ti]", "warning", "twice", "gout[ti] OR diet[ti] "),
        ("gout OR diet OR gout", "warning", "twice", "gout OR diet "),
        ('"uric acid[ti] OR gout[ti]', "error", "not closed", '"uric acid"[ti] OR gout[ti]'),
        ('uric acid"[ti] OR gout[ti]', "error", "not closed", '"uric acid"[ti] OR gout[ti]'),
        ('"uric acid[ti]" OR gout[ti]', "warning", "inside the quotation marks", '"uric acid"[ti] OR gout[ti]'),
        ("#1 AND #2", "error", "no line #1", None),
        ("gout[ti AND diet[ti]", "error", "no partner", "gout[ti] AND diet[ti]"),
        ("gout ti] AND diet[ti]", "error", "no partner", "gout [ti] AND diet[ti]"),
        ("gout[ti] AND diet[ti] OR", "error", "nothing after", "gout[ti] AND diet[ti] "),
        ("gout[ti] AND AND diet[ti]", "error", "nothing before", "gout[ti] AND  diet[ti]"),
        ("gout[ti] ANDNOT diet[ti]", "error", "ANDNOT", "gout[ti] AND NOT diet[ti]"),
        ("gout[ti] diet[ti] OR food[ti]", "warning", "operator is missing", None),
        ("Humans[Mesh]/ OR gout[ti]", "warning", "not a word", "Humans[Mesh] OR gout[ti]"),
        ("*gout[ti] OR diet[ti]", "warning", "end of a word", "gout[ti] OR diet[ti]"),
        ("go*[ti] OR diet[ti]", "warning", "four letters", None),
        ("[ti] gout[ti]", "warning", "no term before it", " gout[ti]"),
        ("(gout OR diet)[ti]", "warning", "after one term only", None),
        ("heart adj3 attack[tiab]", "warning", "not PubMed's sign", None),
        ("gout[ti] OR NOT diet[ti]", "error", "only excludes", None),
        ("NOT gout[ti]", "error", "only excludes", None),
        ("#1 gout[ti]\n#2 #1 AND (diet[ti]", "error", "not closed", "#1 gout[ti]\n#2 #1 AND (diet[ti])"),
        ("#1 gout[ti]\n#2 #1 AND #4", "error", "no line #4", None),
    ],
)
def test_a_problem_of_a_strategy_has_a_message_and_a_correction(
    query: str, severity: str, message: str, corrected: str | None
) -> None:
    found = [one for one in check_query_text(query) if message.replace("four", "4") in one.message]
    assert found, check_query_text(query)
    assert found[0].severity == severity
    assert 0 <= found[0].start <= found[0].end <= len(query)
    if corrected is not None:
        assert correct_query(query, check_query_text(query)) == corrected


@pytest.mark.parametrize("name", DIFFICULT)
def test_a_difficult_strategy_has_no_error(name: str) -> None:
    assert list_query_errors(DIFFICULT[name][0]) == []


@pytest.mark.parametrize("name", DIFFICULT)
def test_the_reading_of_a_difficult_strategy_mixes_no_operators(name: str) -> None:
    assert not [problem for problem in check_query_text(DIFFICULT[name][1]) if "mixed" in problem.message]


def test_a_query_of_more_than_20000_characters_is_an_error() -> None:
    (problem,) = check_query_text("gout[ti] OR " * 2_000)
    assert "at most 20,000 are allowed" in problem.message


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_strategy_is_answered_with_problems(name: str) -> None:
    for problem in check_query_text(HOSTILE[name][:20_000]):
        assert problem.message
        assert problem.hint
