"""Other spellings of a name are found, and words that only look alike are not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paper_library.search.spellings import spell_words
from uraniborg.kernel.words import split_words


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
    assert spell_words(typed) == [(word, others)]


@pytest.mark.parametrize(
    "typed",
    [
        *("Michael", "Rafael", "Israel", "Samuel", "guest", "poets", "Bauer", "value", "blue", "issues", "venues"),
        *("sequence", "Xuedong", "Chuen", "Aaron", "Haan", "Daan", "open", "Oepen", "queue", "toe", "neural", "C++"),
    ],
)
def test_a_word_in_which_the_letters_stand_for_themselves_has_no_other(typed: str) -> None:
    assert [others for _, others in spell_words(typed)] == [()]


@given(st.text(max_size=60))
def test_any_text_has_its_words_and_spellings_that_differ(text: str) -> None:
    spelled = spell_words(text)
    assert [word for word, _ in spelled] == split_words(text)
    assert all(other and other != word for word, others in spelled for other in others)
