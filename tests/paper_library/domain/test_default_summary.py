"""Sentences of a text, and its key sentences."""

# pyright: reportArgumentType=false

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paper_library.domain.excerpts import make_default_summary, select_key_sentences, split_sentences
from paper_library.domain.markdown import extract_plain_text

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
def test_a_text_is_split_at_the_ends_of_sentences(text: str, found: list[str]) -> None:
    assert split_sentences(text) == found


@given(st.text(max_size=300))
def test_every_sentence_is_in_the_text_in_order(text: str) -> None:
    at = 0
    for sentence in split_sentences(text):
        at = text.index(sentence, at) + len(sentence)


@given(st.one_of(TEXTS, st.text(max_size=300)), st.integers(1, 5), st.text(max_size=20))
def test_key_sentences_are_sentences_of_the_text_in_its_order(text: str, most: int, like: str) -> None:
    chosen = select_key_sentences(text, most, title=like)
    assert len(chosen) <= most
    remaining = iter(split_sentences(text))
    assert all(one in remaining for one in chosen)


def test_sentences_on_the_topic_are_preferred_to_passing_mentions() -> None:
    text = (
        "Perovskite solar cells lose efficiency when moisture reaches the absorber layer. "
        "The weather was pleasant during most of the measurements that were made outside. "
        "Moisture in perovskite solar cells opens a path for ions through the absorber layer. "
        "We thank everybody who helped us with coffee and cake in the afternoon hours."
    )
    chosen = select_key_sentences(text, 2, title="Moisture and perovskite solar cells")
    assert [one.split()[0] for one in chosen] == ["Perovskite", "Moisture"]


def test_fragments_and_very_long_lines_are_not_key_sentences() -> None:
    text = f"Yes. {'fish ' * 200}. This sentence is of a length that people read with pleasure."
    assert select_key_sentences(text, 5) == ["This sentence is of a length that people read with pleasure."]


METADATA: dict[str, Any] = {
    "paper_id": "a" * 32,
    "title": "Deep Fish of the North",
    "authors": ["Ada Lovelace"],
    "year": 2019,
    "month": 5,
    "venue": "Sea",
    "abstract": "Deep fish of the north swim where no light comes. They see with ears. They hear with eyes.",
    "keywords": ["fish"],
    "outline": [{"level": 1, "title": "Fish", "offset": 0}, {"level": 2, "title": "Deep ones", "offset": 9}],
}
SENTENCE = st.lists(
    st.sampled_from(["deep", "*fish*", "[swim](x)", "`where`", "northern", "light", "comes"]), min_size=8, max_size=20
).map(lambda words: f"The {' '.join(words)}.")


def test_the_default_summary_has_the_values_of_the_metadata() -> None:
    summary = make_default_summary(METADATA)
    assert (summary["template"], summary["method"]) == ("default", "extractive")
    assert (summary["paper_title"], summary["paper_authors"], summary["publication_venue"]) == (
        "Deep Fish of the North",
        ["Ada Lovelace"],
        "Sea",
    )
    assert (summary["abstract"], summary["outline"]) == (METADATA["abstract"], ["Fish", "Deep ones"])
    assert summary["key_sentences"] == ["Deep fish of the north swim where no light comes."]


@given(st.lists(SENTENCE, max_size=15).map(" ".join))
def test_every_key_sentence_is_in_the_text(source: str) -> None:
    sentences = make_default_summary(METADATA, source)["key_sentences"]
    assert len(sentences) <= 5
    assert all(sentence in extract_plain_text(source or METADATA["abstract"]) for sentence in sentences)


@pytest.mark.parametrize(
    ("year", "month", "date"), [(None, None, ""), (None, 5, ""), (2019, None, "2019"), (2019, 5, "2019-05")]
)
def test_the_date_has_the_known_precision(year: int | None, month: int | None, date: str) -> None:
    assert make_default_summary({**METADATA, "year": year, "month": month})["publication_date"] == date


def test_the_summary_of_a_paper_without_text_has_every_key_with_empty_values() -> None:
    bare: dict[str, Any] = {**METADATA, "abstract": "", "outline": [], "keywords": [], "authors": []}
    summary = make_default_summary(bare)
    assert summary.keys() == make_default_summary(METADATA).keys()
    assert (summary["key_sentences"], summary["outline"], summary["abstract"]) == ([], [], "")
