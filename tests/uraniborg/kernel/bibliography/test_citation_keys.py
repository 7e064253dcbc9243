"""One scheme of citation keys for every part."""

import pytest

from uraniborg.kernel.bibliography.citation_keys import add_key_suffix, is_generated_key, make_citation_key


@pytest.mark.parametrize(
    ("authors", "year", "title", "key"),
    [
        (["Wang, Lei", "Ada Lovelace"], 2023, "Perovskite solar cells", "wang_2023_perovskite"),
        (["Ada van der Lovelace"], 1843, "The <i>engine</i>", "lovelace_1843_the"),
        (["", "Kurt Gödel"], None, "Über formal unentscheidbare Sätze", "godel_nd_uber"),
        ([], None, "", "unknown_nd_untitled"),
        (["王 磊"], -12, "钙钛矿", "unknown_12_untitled"),
    ],
)
def test_a_key_is_made_of_family_name_year_and_first_word(
    authors: list[str], year: int | None, title: str, key: str
) -> None:
    assert make_citation_key(authors, year, title) == key
    assert is_generated_key(key)


def test_repeated_keys_get_letters() -> None:
    keys = [add_key_suffix("wang_2023_x", repeats) for repeats in (0, 1, 2, 26, 27)]
    assert keys == ["wang_2023_x", "wang_2023_x_a", "wang_2023_x_b", "wang_2023_x_z", "wang_2023_x_aa"]
    assert all(map(is_generated_key, keys))


@pytest.mark.parametrize("key", ["wang2023", "Wang_2023_x", "wang_x", "wang_2023_x_1", "smith:2020", ""])
def test_keys_of_other_forms_are_not_generated_keys(key: str) -> None:
    assert not is_generated_key(key)
