"""Sentences, and which of them say most."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paper_library.text.sentences import key_sentences, sentences

WORDS = st.sampled_from(
    ["fish", "swim", "deeply", "northern", "e.g.", "(see", "Fig.", "2)", "et", "al.", '"cold"', "K."]
)
TEXTS = st.lists(st.lists(WORDS, min_size=1, max_size=15).map(" ".join), max_size=12).map(". The ".join)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Fish swim. Birds fly! Do they? Yes.", ["Fish swim.", "Birds fly!", "Do they?", "Yes."]),
        (
            "See e.g. The Sea, or Fig. 2, by A. Lovelace et al. 2019.",
            ["See e.g. The Sea, or Fig. 2, by A. Lovelace et al. 2019."],
        ),
        ("It is 3.5 m long. Indeed.", ["It is 3.5 m long.", "Indeed."]),
        ("鱼会游泳。鸟会飞！真的？是。", ["鱼会游泳。", "鸟会飞！", "真的？", "是。"]),
        ("No end", ["No end"]),
        ("", []),
        ("  ", []),
    ],
)
def test_a_text_is_cut_where_sentences_end(text: str, found: list[str]) -> None:
    assert sentences(text) == found


@given(st.text(max_size=300))
def test_every_sentence_stands_in_the_text_in_order(text: str) -> None:
    at = 0
    for sentence in sentences(text):
        at = text.index(sentence, at) + len(sentence)


@given(st.one_of(TEXTS, st.text(max_size=300)), st.integers(1, 5), st.text(max_size=20))
def test_key_sentences_are_sentences_of_the_text_in_its_order(text: str, most: int, like: str) -> None:
    chosen = key_sentences(text, most, like=like)
    assert len(chosen) <= most
    remaining = iter(sentences(text))
    assert all(one in remaining for one in chosen)


def test_what_the_text_is_about_is_chosen_before_what_it_mentions() -> None:
    text = (
        "Perovskite solar cells lose efficiency when moisture reaches the absorber layer. "
        "The weather was pleasant during most of the measurements that were made outside. "
        "Moisture in perovskite solar cells opens a path for ions through the absorber layer. "
        "We thank everybody who helped us with coffee and cake in the afternoon hours."
    )
    chosen = key_sentences(text, 2, like="Moisture and perovskite solar cells")
    assert [one.split()[0] for one in chosen] == ["Perovskite", "Moisture"]


def test_scraps_and_endless_lines_are_no_key_sentences() -> None:
    text = f"Yes. {'fish ' * 200}. This sentence is of a length that people read with pleasure."
    assert key_sentences(text, 5) == ["This sentence is of a length that people read with pleasure."]
