"""The query language: every construct, and arbitrary texts."""

# pyright: reportReturnType=false

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from paper_library.domain.query import FIELDS, ParsedQuery, QueryUnit
from paper_library.domain.query_parser import parse_query
from uraniborg.kernel.language.words import split_words

PIECES = st.one_of(
    st.sampled_from(
        ["fish", "C++", "深度学习", '"', "“", "”", "-", "--", "OR", "AND", "NOT", "*", "fi*", "(", ")", ":", "\0"]
    ),
    st.sampled_from(
        ["title:", "year:", "doi:", "year:2019..", 'author:"Ada"', "-tag:x", "O(n²)", "O(n log n)", "«a b»"]
    ),
    st.text(max_size=8),
)
TYPED = st.lists(PIECES, max_size=15).map(" ".join) | st.lists(PIECES, max_size=15).map("".join) | st.text(max_size=200)


def list_units(query: ParsedQuery) -> list[QueryUnit]:
    groups = [*query.wanted, *query.required]
    return [*(unit for group in groups for unit in group), *query.boosting, *query.excluded]


def describe_query(text: str) -> dict[str, Any]:
    return parse_query(text).as_dict()


def describe_without_empty_parts(text: str) -> dict[str, Any]:
    """Return the description of a query without empty parts."""
    return {name: value for name, value in describe_query(text).items() if value}


@given(TYPED)
@example('\ud800 title:\ud800 "\ud800" -\ud800 \ud800*')
@example('"' * 500)
@example("-" * 500)
@example("(" * 250 + ")" * 250)
@example("AND FISH 🐟 NOT -the the*")
def test_any_text_is_parsed_and_every_word_is_searched_or_reported(text: str) -> None:
    query = parse_query(text)
    known = "".join([*(f"{unit.field} {unit.text}" for unit in list_units(query)), *query.ignored]).lower()
    for typed in text.replace('"', " ").split():
        if typed.isascii() and typed.isalpha() and typed not in {"AND", "OR", "NOT"}:
            assert typed.lower() in known, (typed, query)


@given(TYPED)
def test_every_query_has_a_description(text: str) -> None:
    import json

    assert json.loads(json.dumps(describe_query(text))).keys() >= {"terms", "filters", "ignored"}


@given(st.text(min_size=500, max_size=500))
def test_500_random_characters_are_parsed(text: str) -> None:
    assert all(unit.text for unit in list_units(parse_query(text)))


@pytest.mark.parametrize(
    ("text", "reading"),
    [
        ("deep fish", {"terms": ["deep", "fish"]}),
        ('"deep fish"', {"phrases": ["deep fish"]}),
        ("fish -cold", {"terms": ["fish"], "excluded": ["cold"]}),
        ('fish -"cold water"', {"terms": ["fish"], "excluded": ["cold water"]}),
        ("fish NOT cold", {"terms": ["fish"], "excluded": ["cold"]}),
        ("swim*", {"prefixes": ["swim*"]}),
        ("fish OR birds", {"terms": ["fish", "birds"]}),
        ("fish AND birds", {"required": ["fish", "birds"]}),
        ("fish OR birds AND deep", {"required": ["fish OR birds", "deep"]}),
        ("deep AND fish OR birds", {"required": ["deep", "fish OR birds"]}),
        ("title:fish", {"filters": {"title": ["fish"]}}),
        ('title:"deep fish"', {"filters": {"title": ["deep fish"]}}),
        ("TITLE:Fish Author:Lovelace", {"filters": {"title": ["fish"], "author": ["lovelace"]}}),
        ("-tag:cold", {"excluded": ["tag:cold"]}),
        ("doi:10.1000/XYZ", {"filters": {"doi": ["10.1000/XYZ"]}}),
        ("arxiv:2301.00001", {"filters": {"arxiv": ["2301.00001"]}}),
        ("year:2021", {"filters": {"year": ["2021"]}}),
        ("year:2019..2023 fish", {"terms": ["fish"], "filters": {"year": ["2019..2023"]}}),
        ("fish and birds or not", {"terms": ["fish", "and", "birds", "or", "not"]}),
        ("FISH AND BIRDS", {"terms": ["fish", "and", "birds"]}),
        ("FISH NOT BIRDS", {"terms": ["fish", "not", "birds"]}),
        ("deep-sea fish", {"terms": ["deep", "sea", "fish"]}),
        ("GJ-1214b fish", {"terms": ["gj", "1214b", "fish"], "phrases": ["gj 1214b"]}),
        ("fish since 2015", {"terms": ["fish"], "filters": {"year": ["2015.."]}}),
        ("fish sort:year", {"terms": ["fish"], "sort": "year_desc"}),
        ("", {}),
    ],
)
def test_every_construct_is_parsed_as_documented(text: str, reading: dict[str, Any]) -> None:
    assert describe_without_empty_parts(text) == reading


@pytest.mark.parametrize("name", FIELDS)
def test_field_names_ignore_case(name: str) -> None:
    value = "2019" if name == "year" else "fish"
    for typed in (f"{name}:{value}", f"{name.upper()}:{value}", f'{name.title()}:"{value}"'):
        assert describe_query(typed)["filters"] == {name: [value]}


@pytest.mark.parametrize(
    ("typed", "years"),
    [
        ("2021", (2021, 2021)),
        ("2019..2023", (2019, 2023)),
        ("2019-2023", (2019, 2023)),
        ("2019–2023", (2019, 2023)),
        ("2023..2019", (2019, 2023)),
        ("2019..", (2019, None)),
        ("..2019", (None, 2019)),
        (">2019", (2020, None)),
        (">=2019", (2019, None)),
        ("<2019", (None, 2018)),
        ("<=2019", (None, 2019)),
        ('"2019..2023"', (2019, 2023)),
    ],
)
def test_every_form_of_years_is_parsed(typed: str, years: tuple[int | None, int | None]) -> None:
    (group,) = parse_query(f"year:{typed}").required
    assert [(unit.kind, unit.years) for unit in group] == [("years", years)]


@pytest.mark.parametrize("typed", ["abc", "20", "20199", "2019..x", "..", ">", "2019..2020..2021", "20192020"])
def test_invalid_years_are_searched_as_words_and_reported(typed: str) -> None:
    query = parse_query(f"fish year:{typed}")
    assert [unit.text for (unit,) in query.wanted][:2] == ["fish", "year"]
    assert not query.required
    assert len(query.ignored) == 1


@pytest.mark.parametrize("opening", ['"', "“", "„", "«", "＂"])
@pytest.mark.parametrize("closing", ['"', "”", "»", "＂"])
def test_quotation_marks_of_any_kind_make_a_phrase(opening: str, closing: str) -> None:
    assert describe_without_empty_parts(f"{opening}deep fish{closing}") == {"phrases": ["deep fish"]}


@pytest.mark.parametrize(
    ("typed", "terms"),
    [
        ('"deep fish', ["deep", "fish"]),
        ('deep fish"', ["deep", "fish"]),
        ('title:"deep fish', ["title", "deep", "fish"]),
    ],
)
def test_an_unmatched_quotation_mark_is_ignored_and_reported(typed: str, terms: list[str]) -> None:
    reply = describe_query(typed)
    assert (reply["terms"], len(reply["ignored"])) == (terms, 1)


@pytest.mark.parametrize(
    ("typed", "terms", "notes"),
    [
        ("OR fish", ["fish"], 1),
        ("AND fish", ["fish"], 1),
        ("fish OR", ["fish"], 1),
        ("fish AND", ["fish"], 1),
        ("fish NOT", ["fish"], 1),
        ("OR", [], 1),
        ("AND OR", [], 2),
        ("NOT", [], 1),
    ],
)
def test_an_operator_without_operands_is_ignored_and_reported(typed: str, terms: list[str], notes: int) -> None:
    reply = describe_query(typed)
    assert (reply["terms"], len(reply["ignored"])) == (terms, notes)
    assert "required" not in reply


@pytest.mark.parametrize(
    ("typed", "terms"),
    [
        ("https://example.org/a", ["https", "example", "org", "a"]),
        ("well-known", ["well", "known"]),
        ("C++ C# .NET", ["c++", "c#", ".net"]),
        ("10.1000/XYZ", ["10.1000/xyz"]),
        ("β-carotene", ["beta", "carotene"]),
        ("Schrödinger", ["schrodinger"]),
        ("深度学习", ["深度", "度学", "学习"]),
        ("(deep, fish);", ["deep", "fish"]),
        ("a - b", ["a", "b"]),
        ("x*y", ["x", "y"]),
        ("fi\0sh", ["fi", "sh"]),
    ],
)
def test_text_that_is_not_a_construct_is_searched_as_words(typed: str, terms: list[str]) -> None:
    assert describe_without_empty_parts(typed) == {"terms": terms}


def test_a_field_that_does_not_exist_is_searched_as_a_word_and_named() -> None:
    reply = describe_query("foo:bar")
    assert reply["terms"] == ["foo", "bar"]
    assert any("foo: is not a field" in note for note in reply["ignored"])


@pytest.mark.parametrize(
    ("typed", "term"), [("O(n²)", "o(n2)"), ("O(n log n)", "o(nlogn)"), ("in o(n^2) time", "o(n2)")]
)
def test_an_order_of_growth_is_one_word(typed: str, term: str) -> None:
    assert term in describe_query(typed)["terms"]
    assert [term] == split_words(typed.removeprefix("in ").removesuffix(" time"))


@pytest.mark.parametrize("typed", ["!!!", "-", '""', "* * *", "-!!!", "\ud800"])
def test_a_query_without_words_is_reported(typed: str) -> None:
    assert parse_query(typed).ignored


@pytest.mark.parametrize("typed", ["deep (fish birds) OR cold", "title:(deep fish)", "-(deep fish)"])
def test_brackets_that_group_are_reported(typed: str) -> None:
    assert parse_query(typed).ignored


@pytest.mark.parametrize(
    ("typed", "unit"),
    [
        ('"deep fish" OR birds', "birds"),
        ("title:fish OR birds", "birds"),
        ("year:2019 OR birds*", "birds*"),
        ('birds OR "deep fish"', "birds"),
    ],
)
def test_every_alternative_of_an_or_is_in_the_interpretation(typed: str, unit: str) -> None:
    assert unit in str(describe_query(typed))


@pytest.mark.parametrize("typed", ["birds AND deep-sea", "deep-sea AND birds"])
def test_an_and_requires_every_part_of_a_hyphenated_word(typed: str) -> None:
    required = " ".join(describe_query(typed)["required"])
    assert all(part in required for part in ("deep", "sea", "birds"))


def test_excluding_a_hyphenated_word_does_not_exclude_its_parts() -> None:
    assert describe_query("fish -well-known")["excluded"] == ["well known"]


@pytest.mark.parametrize("text", ["*", "*:*", "all papers", "List all the papers.", "show me every article"])
def test_a_request_for_all_papers_matches_all(text: str) -> None:
    query = parse_query(text)
    assert query.is_blank
    assert query.ignored == [f"“{text}” was read as all papers."]


@pytest.mark.parametrize(
    ("text", "sort"),
    [
        ("comets newest first", "year_desc"),
        ("comets, oldest first", "year_asc"),
        ("comets order by year", "year_desc"),
        ("comets sorted by title desc", "title_desc"),
        ('comets "newest first"', None),
        ("comets sorted by merging", None),
    ],
)
def test_an_order_in_words_is_an_order(text: str, sort: str | None) -> None:
    query = parse_query(text)
    assert query.sort == sort
    assert query.wanted[0][0].text == "comets"


@pytest.mark.parametrize(
    ("text", "name"), [('author:"Mayor, M."', "mayor"), ('author:"Mayor, Michel"', "michel mayor")]
)
def test_an_author_may_be_written_with_the_surname_first(text: str, name: str) -> None:
    (group,) = parse_query(text).required
    assert [(unit.field, unit.text) for unit in group] == [("author", name)]


def test_years_that_stay_words_come_with_the_filter_for_them() -> None:
    assert "year:1990..1999" in parse_query("comets of the 1990s").ignored[0]
    assert "year:2015.." in parse_query("comets in the last five years").ignored[0]
