"""SQL statements become queries, and running text that starts with "select" does not change."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paper_library.domain.query_notations import rewrite_sql


def rewrite_text(text: str) -> tuple[str, list[str]]:
    notes: list[str] = []
    return rewrite_sql(text, notes.append), notes


@pytest.mark.parametrize(
    ("statement", "query"),
    [
        ("SELECT * FROM papers", ""),
        ("SELECT * FROM papers;", ""),
        ("SELECT * FROM papers WHERE year > 2015", "year:>2015"),
        ("select * from papers where year>=2015", "year:>=2015"),
        ("SELECT title, year FROM papers WHERE year = 2015", 'year:"2015"'),
        ("SELECT * FROM papers WHERE year BETWEEN 2010 AND 2015", "year:2010..2015"),
        ("SELECT * FROM papers p WHERE p.year < 2015", "year:<2015"),
        ("SELECT * FROM papers WHERE author = 'Zhang'", 'author:"Zhang"'),
        ("SELECT * FROM papers WHERE author = 'Zhang' AND year > 2015", 'author:"Zhang" year:>2015'),
        ("SELECT * FROM papers WHERE author = 'Zhang' or author = 'Li'", 'author:"Zhang" OR author:"Li"'),
        ("SELECT * FROM papers WHERE title LIKE '%rock and roll%'", 'title:"rock and roll"'),
        ("SELECT * FROM papers WHERE LOWER(title) LIKE '%comets%'", 'title:"comets"'),
        ("SELECT * FROM papers WHERE title NOT LIKE '%comets%'", '-title:"comets"'),
        ("SELECT * FROM papers WHERE abstract LIKE '%transit%'", '"transit"'),
        ("SELECT * FROM papers WHERE venue <> 'Nature'", '-venue:"Nature"'),
        ("SELECT * FROM papers WHERE tag IN ('a', 'b')", 'tag:"a" OR tag:"b"'),
        ("SELECT * FROM papers WHERE tag NOT IN ('a', 'b')", 'NOT tag:"a" NOT tag:"b"'),
        ("SELECT * FROM papers WHERE NOT tag = 'a'", 'NOT tag:"a"'),
        ("SELECT * FROM papers ORDER BY year DESC", "sort:year_desc"),
        ("SELECT * FROM papers ORDER BY year", "sort:year_asc"),
        (
            "SELECT * FROM papers WHERE title LIKE '%from where%' ORDER BY title ASC",
            'title:"from where" sort:title_asc',
        ),
    ],
)
def test_a_statement_becomes_a_query_that_the_note_quotes(statement: str, query: str) -> None:
    found, notes = rewrite_text(statement)
    assert found == query
    assert notes == [f"SQL is not executed; the query was read as: {query or 'all papers'}"]


@pytest.mark.parametrize(
    ("statement", "query", "note"),
    [
        (
            "SELECT * FROM papers WHERE citations > 9",
            "",
            "citations > 9 was ignored: citations is not a searchable field.",
        ),
        (
            "SELECT * FROM papers WHERE year > 2015 LIMIT 5",
            "year:>2015",
            "LIMIT 5 was ignored; use the limit argument.",
        ),
    ],
)
def test_unsupported_parts_of_a_statement_are_reported(statement: str, query: str, note: str) -> None:
    found, notes = rewrite_text(statement)
    assert found == query
    assert note in notes


@pytest.mark.parametrize(
    "text",
    [
        "select features from data",
        "select samples from distributions where labels are missing",
        "how to select from a list",
        "selection from nature",
        "SELECT",
        "drop table papers",
        "",
    ],
)
def test_running_text_does_not_change(text: str) -> None:
    assert rewrite_text(text) == (text, [])


@given(st.text(max_size=80), st.sampled_from(["SELECT * FROM p WHERE ", "select title from ", "SELECT ", ""]))
def test_any_text_is_read(text: str, beginning: str) -> None:
    found, notes = rewrite_text(beginning + text)
    assert notes or found == beginning + text
