"""Tests of blocking: which titles are compared."""

import random

from paper_search.domain.dedup.clustering import find_similar_titles
from paper_search.domain.dedup.titles import parse_title


def find_pairs(*titles: str) -> set[tuple[int, int]]:
    return set(find_similar_titles([parse_title(title) for title in titles]))


def test_similar_titles_are_paired_and_others_are_not() -> None:
    titles = (
        "Tidal heating of small icy moons",
        "Tidal haeting of small icy moons",
        "Crater counting on the far side of Mercury",
        "Spectra of carbon stars in the southern halo",
    )
    assert find_pairs(*titles) == {(0, 1)}


def test_extra_words_around_a_title_do_not_prevent_a_pair() -> None:
    clean = "improving performance in neural networks with a boosting algorithm"
    assert find_pairs(clean, f"simard (1993). {clean}", f"{clean}. in proceedings", "proceedings of simard, 1993") >= {
        (0, 1),
        (0, 2),
    }


def test_a_title_is_paired_with_its_longer_form() -> None:
    short = "Learning the shape of planetary rings"
    subtitle = "an investigation into dusty, tenuous and otherwise neglected structures"
    others = [f"{word} structures neglected otherwise" for word in subtitle.split()]
    assert (0, 1) in find_pairs(short, f"{short}: {subtitle}", *others)


def test_chinese_titles_are_paired_without_spaces_between_words() -> None:
    assert find_pairs("基于深度学习的图像分割方法研究", "基于深度学习的图像分割方法的研究", "火星大气演化") == {(0, 1)}


def test_comparisons_grow_with_the_number_of_titles_even_when_all_share_their_words() -> None:
    chance = random.Random(3)
    words = [f"word{letter}" for letter in "abcdefgh"]
    titles = {" ".join(chance.choices(words, k=8)) for _ in range(2_000)}
    parsed = list({title.compact: title for title in map(parse_title, titles)}.values())
    few, many = len(list(find_similar_titles(parsed[:500]))), len(list(find_similar_titles(parsed[:1_500])))
    assert many < 6 * few


def test_titles_that_begin_alike_give_few_pairs() -> None:
    nested = [
        parse_title("one ring two " + " ".join(f"w{number}" for number in range(length))) for length in range(300)
    ]
    assert len(list(find_similar_titles(nested))) < 300 * 60
