"""One scheme of citation keys for every part."""

import pytest
from bibtexparser.entrypoint import parse_string

from uraniborg.kernel.bibliography.reference_writers import write_bibtex
from uraniborg.kernel.bibliography.references import (
    Reference,
    add_key_suffix,
    clean_citation_key,
    is_generated_key,
    make_citation_key,
)


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


HOSTILE_KEY = 'a}@preamble{"\\input{/etc/passwd}"}@misc{c'


@pytest.mark.parametrize(
    ("key", "clean"),
    [
        (HOSTILE_KEY, "apreambleinput/etc/passwdmiscc"),
        ("one, two\n%three#~", "onetwothree"),
        ("DBLP:conf/acl/O'Neil+2019_größe*", "DBLP:conf/acl/O'Neil+2019_größe*"),
        (" \x00{}", ""),
    ],
)
def test_a_key_loses_what_bibtex_or_latex_would_not_read_as_a_key(key: str, clean: str) -> None:
    assert clean_citation_key(key) == clean
    assert clean_citation_key(clean) == clean


@pytest.mark.parametrize(
    ("key", "written"), [(HOSTILE_KEY, "apreambleinput/etc/passwdmiscc"), ("{}", "lovelace_1843_notes")]
)
def test_a_hostile_key_is_one_key_in_bibtex(key: str, written: str) -> None:
    reference = Reference(kind="other", key=key, title="Notes", authors=("Ada Lovelace",), year=1843)
    (entry,) = (library := parse_string(write_bibtex([reference]))).entries
    assert library.blocks == [entry]
    assert entry.key == written
