"""Synonyms of fields and sort orders, in several languages."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paper_library.domain.query_notations import (
    find_sort,
    normalise_field_names,
    rewrite_tagged_words,
    split_words_with_spellings,
)
from uraniborg.kernel.language.words import split_words


def rename_text(text: str) -> tuple[str, list[str]]:
    notes: list[str] = []
    return normalise_field_names(text, notes.append), notes


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("author: Zhang", "author:Zhang"),
        ("Author : Zhang", "author:Zhang"),
        ("authors:Zhang", "author:Zhang"),
        ("autor:Zhang", "author:Zhang"),
        ("Autor: Zhang", "author:Zhang"),
        ("auteur:Zhang", "author:Zhang"),
        ("author=Zhang", "author:Zhang"),
        ("author = Zhang", "author:Zhang"),
        ("-autor:Zhang", "-author:Zhang"),
        ("(autor:Zhang)", "(author:Zhang)"),
        ("titre:lune", "title:lune"),
        ("Título: luna", "title:luna"),
        ("année:2015", "year:2015"),
        ("year > 2015", "year:>2015"),
        ("year>=2015", "year:>=2015"),
        ("year = 2015", "year:2015"),
        ("date: 2015..2018", "year:2015..2018"),
        ("mots-clés:lune", "keyword:lune"),
        ("作者:王伟", "author:王伟"),
        ("sort by: x order:year", "sort by: x sort:year"),
        ("Title: The moon", "The moon"),
    ],
)
def test_a_synonym_becomes_its_field(typed: str, expected: str) -> None:
    assert rename_text(typed) == (expected, [])


@pytest.mark.parametrize(
    ("typed", "expected"), [("auhtor:Zhang", "author:Zhang"), ("tilte: moon", "title:moon"), ("venu:x", "venue:x")]
)
def test_a_misspelt_field_becomes_the_nearest_field_and_is_reported(typed: str, expected: str) -> None:
    found, (note,) = rename_text(typed)
    assert found == expected
    assert f"it was read as {expected.partition(':')[0]}:" in note


@pytest.mark.parametrize("typed", ["colour:red", "lang:de", "type:review", "xy:1"])
def test_an_unknown_field_does_not_change_and_a_note_lists_the_fields(typed: str) -> None:
    found, (note,) = rename_text(typed)
    assert found == typed
    assert "Fields: title, author" in note


@pytest.mark.parametrize(
    "text",
    [
        "year: the best",
        "order: 3 tensors",
        "author: the unknown",
        "date = tomorrow",
        "p < 0.05",
        "n = 20",
        "https://example.org/title:x",
        "std::vector",
        '"autor: Zhang"',
        "a:b",
        "10:30",
        ":)",
        "colour: red",
    ],
)
def test_running_text_stays_as_it_is(text: str) -> None:
    assert rename_text(text) == (text, [])


@given(st.text(max_size=80))
def test_any_text_is_read(text: str) -> None:
    found, _ = rename_text(text)
    assert isinstance(found, str)


@pytest.mark.parametrize(
    ("name", "order"),
    [
        ("year", "year_desc"),
        ("Newest", "year_desc"),
        ("year_asc", "year_asc"),
        ("oldest", "year_asc"),
        ("title", "title_asc"),
        ("relevance", "relevance"),
        ("citations", None),
        ("", None),
    ],
)
def test_sort_orders_have_synonyms(name: str, order: str | None) -> None:
    assert find_sort(name) == order


@pytest.mark.parametrize(
    ("typed", "word", "others"),
    [
        ("Müller", "muller", ("mueller",)),
        ("Mu\u0308ller", "muller", ("mueller",)),
        ("MÜLLER", "muller", ("mueller",)),
        ("Mueller", "mueller", ("muller",)),
        ("Schröder", "schroder", ("schroeder",)),
        ("Schroeder", "schroeder", ("schroder",)),
        ("Jäger", "jager", ("jaeger",)),
        ("Jaeger", "jaeger", ("jager",)),
        ("Søren", "soren", ("soeren",)),
        ("Öztürk", "ozturk", ("oeztuerk",)),
        ("Oeztuerk", "oeztuerk", ("ozturk",)),
        ("Ångström", "angstrom", ("angstroem", "aangstroem")),
        ("Aangstroem", "aangstroem", ("angstrom",)),
        ("Kierkegaard", "kierkegaard", ("kierkegard",)),
        ("Århus", "arhus", ("aarhus",)),
        ("Aarhus", "aarhus", ("arhus",)),
        ("Straße", "strasse", ()),
        ("Lefèvre", "lefevre", ()),
    ],
)
def test_a_name_has_its_other_spellings(typed: str, word: str, others: tuple[str, ...]) -> None:
    assert split_words_with_spellings(typed) == [(word, others)]


@pytest.mark.parametrize(
    "typed",
    [
        *("Michael", "Rafael", "Israel", "Samuel", "guest", "poets", "Bauer", "value", "blue", "issues", "venues"),
        *("sequence", "Xuedong", "Chuen", "Aaron", "Haan", "Daan", "open", "Oepen", "queue", "toe", "neural", "C++"),
    ],
)
def test_a_word_without_an_umlaut_has_no_other_spelling(typed: str) -> None:
    assert [others for _, others in split_words_with_spellings(typed)] == [()]


@given(st.text(max_size=60))
def test_any_text_has_its_words_and_spellings_that_differ(text: str) -> None:
    spelled = split_words_with_spellings(text)
    assert [word for word, _ in spelled] == split_words(text)
    assert all(other and other != word for word, others in spelled for other in others)


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("Mayor[au]", "author:Mayor"),
        ("Mayor M[au] planets", 'author:"Mayor, M" planets'),
        ("Knuth DE[Author]", 'author:"Knuth, D E"'),
        ('"Michel Mayor"[au]', 'author:"Michel Mayor"'),
        ("planet[ti] AND 1995[dp]", "title:planet AND year:1995"),
        ('"Nature"[ta]', 'venue:"Nature"'),
        ("planets[tiab]", "planets[tiab]"),
        ("x[0] and [1]", "x[0] and [1]"),
    ],
)
def test_a_word_with_the_tag_of_a_field_is_a_filter(text: str, written: str) -> None:
    assert rewrite_tagged_words(text) == written
