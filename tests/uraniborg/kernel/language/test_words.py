"""Words and terms: what people look for stays findable, in whatever way it is written."""

import sys
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from uraniborg.kernel.language.words import STOP_WORDS, _Stems, extract_terms, fold_text, split_words, stem_word  # pyright: ignore[reportPrivateUsage]


def test_accents_case_and_ligatures_fold_to_plain_letters() -> None:
    assert fold_text("Schrödinger, Łukasz, Øystein, Straße, İstanbul, ﬁeld, Ⅳ") == (
        "schrodinger, lukasz, oystein, strasse, istanbul, field, iv"
    )


def test_typographic_hyphens_and_invisible_characters_do_not_matter() -> None:
    assert split_words("meta\u2010analysis co\u00adoperation zero\u200bwidth") == [
        "meta",
        "analysis",
        "cooperation",
        "zerowidth",
    ]


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("Templates in C++ and libstdc++", ["c++", "libstdc++"]),
        ("C#, F# and .NET", ["c#", "f#", ".net"]),
        ("see doi:10.1000/xyz.", ["10.1000/xyz"]),
        ("(10.1007/978-3-319-24574-4_28)", ["10.1007/978-3-319-24574-4_28"]),
        ("GPT-3.5 scores 87.2", ["3.5", "87.2"]),
        ("arXiv:1706.03762v2", ["1706.03762v2"]),
        ("CD4+ T-cells", ["cd4", "t", "cells"]),
        ("the 1,000 genomes", ["1000"]),
    ],
)
def test_a_term_that_people_search_as_a_whole_is_one_word(text: str, kept: list[str]) -> None:
    assert [word for word in split_words(text) if word in kept] == kept


def test_the_ways_of_writing_a_complexity_are_one_word() -> None:
    assert split_words("O(n²)") == split_words("O(n^2)") == split_words("o( n^2 )") == ["o(n2)"]
    assert split_words("O(n log n) sorting") == ["o(nlogn)", "sorting"]


def test_a_lone_greek_letter_is_found_by_its_name_and_greek_words_stay_whole() -> None:
    assert split_words("β-carotene") == split_words("beta-carotene") == ["beta", "carotene"]
    assert split_words("NF-κB and Aβ42") == ["nf", "kappab", "and", "abeta42"]
    assert split_words("Ελληνικά") == ["ελληνικα"]


def test_subscripts_and_superscripts_are_digits() -> None:
    assert split_words("CO₂ in H₂O, χ²") == ["co2", "in", "h2o", "chi2"]


def test_chinese_japanese_and_korean_become_overlapping_pairs() -> None:
    assert split_words("机器学习") == ["机器", "器学", "学习"]
    assert split_words("GPT模型 学") == ["gpt", "模型", "学"]
    assert split_words("한국어") == ["한국", "국어"]
    assert split_words("がん検診") == ["がん", "ん検", "検診"]


def test_scripts_with_vowel_signs_are_not_torn_apart() -> None:
    assert split_words("हिन्दी भाषा।") == ["हिन्दी", "भाषा"]


def test_right_to_left_text_is_read_without_its_vowel_points() -> None:
    assert split_words("مُحَمَّد") == split_words("محمد")
    assert split_words("שָׁלוֹם") == split_words("שלום")


def test_possessives_and_contractions_lose_their_tails_only() -> None:
    assert split_words("Parkinson’s and d'Alembert's, don't") == ["parkinson", "and", "d", "alembert", "don"]


def test_terms_are_stemmed_and_have_no_stop_words() -> None:
    assert (
        extract_terms("The learning of representations")
        == extract_terms("learned representation")
        == ["learn", "represent"]
    )
    assert extract_terms("to be or not to be") == []
    assert extract_terms("to be or not to be", keep_stop_words=True) == ["to", "be", "or", "not", "to", "be"]


def test_only_english_words_are_stemmed() -> None:
    assert extract_terms("10.1000/flying c++ größeres机器") == [
        "10.1000/flying",
        "c++",
        *extract_terms("grosseres"),
        "机器",
    ]


def test_a_stem_is_the_term_of_one_word() -> None:
    assert stem_word("cells") == "cell"
    assert all(stem_word(word) == "" for word in STOP_WORDS)


def test_nothing_in_gives_nothing_out() -> None:
    assert split_words("") == extract_terms("") == split_words(" \n\t—…") == []
    assert fold_text("") == ""


@given(st.text(max_size=80))
def test_folding_twice_changes_nothing_more_for_the_words(text: str) -> None:
    assert split_words(fold_text(text)) == split_words(text)


@given(st.text(alphabet="ab12. ,_-é机'", max_size=60))
def test_a_special_word_changes_no_other_word_of_the_text(text: str) -> None:
    assert split_words(f"{text} c++")[:-1] == split_words(f"{text} c")[:-1]


@given(st.text(max_size=200))
def test_no_word_is_empty_or_holds_a_space(text: str) -> None:
    assert all(
        word and not any(sign.isspace() for sign in word) for word in split_words(text) if not word.startswith("o(")
    )
    assert all(extract_terms(text))


def test_stems_are_right_when_many_threads_ask_at_once() -> None:
    vocabulary = [
        f"{start}{end}" for start in ("relat", "nation", "hope", "cell") for end in ("ional", "al", "ful", "s")
    ] * 50
    expected = extract_terms(" ".join(vocabulary))
    seen: list[list[str]] = []
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=lambda: seen.append(extract_terms(" ".join(vocabulary)))) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(timeout=30)
    finally:
        sys.setswitchinterval(before)
    assert seen == [expected] * 8


def test_a_hostile_text_is_read_in_linear_time() -> None:
    for unit in ("o(", "10.1000/", "a++", "1,000", "'s", "..", "c#", "x_"):
        assert len(split_words(unit * 20_000)) <= 40_000


def test_stems_of_no_more_than_two_hundred_thousand_words_are_remembered() -> None:
    stems = _Stems()
    for number in range(200_000):
        _ = stems[f"{number}"]
    assert len(stems) == 200_000
    assert stems["running"] == "run"
    assert len(stems) == 1
