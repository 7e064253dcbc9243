"""The summary every paper has says nothing but what the paper says."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paper_library.summary import default_summary
from paper_library.text.markdown import plain_text

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


def test_it_has_what_the_metadata_says_in_the_same_words() -> None:
    said = default_summary(METADATA)
    assert (said["template"], said["method"]) == ("default", "extractive")
    assert (said["paper_title"], said["paper_authors"], said["publication_venue"]) == (
        "Deep Fish of the North",
        ["Ada Lovelace"],
        "Sea",
    )
    assert (said["abstract"], said["outline"]) == (METADATA["abstract"], ["Fish", "Deep ones"])
    assert said["key_sentences"] == ["Deep fish of the north swim where no light comes."]


@given(st.lists(SENTENCE, max_size=15).map(" ".join))
def test_every_key_sentence_stands_in_the_text(source: str) -> None:
    sentences = default_summary(METADATA, source)["key_sentences"]
    assert len(sentences) <= 5
    assert all(sentence in plain_text(source or METADATA["abstract"]) for sentence in sentences)


@pytest.mark.parametrize(
    ("year", "month", "date"), [(None, None, ""), (None, 5, ""), (2019, None, "2019"), (2019, 5, "2019-05")]
)
def test_the_date_is_as_exact_as_what_is_known(year: int | None, month: int | None, date: str) -> None:
    assert default_summary({**METADATA, "year": year, "month": month})["publication_date"] == date


def test_a_paper_without_any_text_has_empty_parts_and_every_key() -> None:
    bare: dict[str, Any] = {**METADATA, "abstract": "", "outline": [], "keywords": [], "authors": []}
    said = default_summary(bare)
    assert said.keys() == default_summary(METADATA).keys()
    assert (said["key_sentences"], said["outline"], said["abstract"]) == ([], [], "")
