"""Strategies in the syntax of other databases are refused: read as plain words they would find nothing."""

import pytest

from paper_search.domain.strategies.lint import check_query_text, list_query_errors
from paper_search.domain.strategies.other_syntax import find_other_syntax
from paper_search.errors import InvalidQuery
from paper_search.workflow.input_checks import check_query


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("1. exp Asthma/\n2. wheez*.ti,ab.\n3. 1 or 2\n4. limit 3 to english", "Ovid"),
        ("1 Asthma/dt, th or rhinitis.ti.", "Ovid"),
        ("1 Asthma/\n2 (breath* adj3 short*).tw.\n3 1 and 2", "Ovid"),
        ("exp Asthma/ and (wheez* or breathless*).tw.", "Ovid"),
        ("(wheez* or breathless*).ti,ab. and child*.mp.", "Ovid"),
        ("'asthma'/exp OR wheez*:ti,ab", "Embase"),
        ("asthma/exp AND [2010-2020]/py", "Embase"),
        ("#1 MeSH descriptor: [Asthma] explode all trees\n#2 wheez*:ti,ab,kw\n#3 #1 OR #2", "the Cochrane Library"),
        ('[mh "Asthma"] OR wheez*:ti,ab,kw', "the Cochrane Library"),
        ("(asthma OR wheez*):ti,ab AND child*:ti", "Embase or the Cochrane Library"),
        ("TITLE-ABS-KEY(asthma) AND PUBYEAR > 2010", "Scopus"),
        ("TITLE-ABS-KEY(short W/3 breath)", "Scopus"),
        ("TS=(asthma) AND PY=(2010-2020)", "Web of Science"),
        ("TS=(short NEAR/3 breath)", "Web of Science"),
    ],
)
def test_a_strategy_of_another_database_is_refused_with_the_name_of_the_database(text: str, name: str) -> None:
    errors = list_query_errors(text)
    assert [error.message for error in errors] == [f"This is the syntax of {name}, which is not read."]
    assert "[Mesh]" in errors[0].hint
    with pytest.raises(InvalidQuery, match=f"syntax of {name}"):
        check_query(text)


@pytest.mark.parametrize(
    "text",
    [
        '"Asthma/drug therapy"[mh] AND wheez*[tiab]',
        "wheez*[tiab] AND (1 OR 2)[ti]",
        "limit[ti] AND experience[tiab]",
        "TS=(urban AND heat)",
        "statin*.ti,ab. AND lipid*.mp.",
        "(AC/DC OR and/or) AND power",
        "1 Malaria AND HIV/AIDS patients",
        "3 Models of climate/energy AND policy",
        '"limit 2 to 3" AND warming',
        "#1 asthma[tiab]\n#2 wheez*[tiab]\n#3 #1 OR #2",
        'title:"exp function" AND growth',
    ],
)
def test_pubmed_and_plain_queries_are_not_taken_for_another_database(text: str) -> None:
    assert find_other_syntax(text) is None


@pytest.mark.timeout(60)
@pytest.mark.parametrize("text", ["asthma[ti] OR" + "\n" * 60_000 + "b[ti]", "TS=(" * 15_000, "TITLE(" * 15_000])
def test_no_long_query_takes_time_that_grows_with_its_square(text: str) -> None:
    assert find_other_syntax(text) is None


def test_a_question_mark_inside_a_word_is_noted_because_pubmed_does_not_read_it() -> None:
    (note,) = check_query_text("randomi?ed[tiab] AND asthma[tiab]")
    assert note.message == "PubMed does not read a ? as any letter."
    assert (note.severity, note.start, note.end) == ("warning", 0, 10)
