"""The identity of a paper: one spelling of each identifier, and ids that never change."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paper_library.domain.entries import Entry
from paper_library.domain.entry_matcher import make_keys
from paper_library.domain.paper_ids import (
    Keys,
    is_paper_id,
    list_lookup_keys,
    make_meta_key,
    make_paper_id,
    normalise_title,
    spell_arxiv_for_id,
    spell_doi_for_id,
)

ANY_TEXT = st.text(st.characters(), max_size=60)
SUFFIXES = st.from_regex(r"[a-z0-9][a-z0-9./_;()-]{0,20}[a-z0-9]", fullmatch=True)
BEFORE = ("", " ", "doi:", "DOI: ", "doi ", "http://doi.org/", "https://dx.doi.org/", "https://www.doi.org/")
AFTER = ("", ".", ",", ";", "),", " ", "\n")


@pytest.mark.parametrize(
    ("written", "doi", "identity"),
    [
        ("https://doi.org/10.1000%2FXYZ.", "10.1000/xyz", "1abf10bf8925af26444fd49973cd1fbe"),
        ("10.5555/ABC.123", "10.5555/abc.123", "1231fd83bd963b896ac1b090174b8846"),
    ],
)
def test_the_id_of_a_doi_never_changes(written: str, doi: str, identity: str) -> None:
    assert spell_doi_for_id(written) == doi
    assert make_paper_id(list_lookup_keys(written)[0]) == identity


def test_the_id_of_an_arxiv_url_never_changes() -> None:
    assert list_lookup_keys("https://arxiv.org/abs/2301.00001v3")[0] == "arxiv:2301.00001"
    assert make_paper_id("arxiv:2301.00001") == "589ca6240dbe648c4f58ae1e5e3e0e13"


def test_the_id_of_a_bibtex_key_never_changes() -> None:
    assert list_lookup_keys("smith2024foo") == list_lookup_keys("bib:smith2024foo") == ["bib:smith2024foo"]
    assert make_paper_id("bib:smith2024foo") == "b88147be57b537cfcbfc2bfbcd6450a4"


@given(SUFFIXES, st.sampled_from(BEFORE), st.sampled_from(AFTER), st.booleans(), st.booleans())
def test_every_spelling_of_one_doi_gives_one_key(
    suffix: str, before: str, after: str, loud: bool, quoted: bool
) -> None:
    doi = f"10.1000/{suffix}".upper() if loud else f"10.1000/{suffix}"
    written = before + (doi.replace("/", "%2F") if quoted else doi) + after
    assert list_lookup_keys(written)[0] == list_lookup_keys(f"10.1000/{suffix}")[0]


@given(ANY_TEXT)
def test_any_text_can_be_looked_up_without_an_error(text: str) -> None:
    for written in (text, f"10.1000/{text}", f"arxiv:{text}", f"doi:{text}", f"https://doi.org/10.1000/{text}"):
        for key in list_lookup_keys(written):
            assert is_paper_id(make_paper_id(key))
        assert normalise_title(written) == normalise_title(written).strip()


@given(ANY_TEXT.filter(lambda text: "%" not in text))
def test_normalising_a_doi_for_ids_twice_changes_nothing(text: str) -> None:
    once = spell_doi_for_id(f"10.1000/{text}")
    assert spell_doi_for_id(once) == once


def test_a_doi_that_was_encoded_twice_is_decoded_at_once() -> None:
    once = spell_doi_for_id("10.1000/x%2520y")
    assert spell_doi_for_id(once) == once


@given(st.text(st.characters(exclude_categories=("Cc", "Cs")), max_size=60))
def test_normalising_a_title_twice_changes_nothing(text: str) -> None:
    assert normalise_title(normalise_title(text)) == normalise_title(text)


@given(ANY_TEXT)
def test_normalising_an_arxiv_id_twice_changes_nothing(text: str) -> None:
    once = spell_arxiv_for_id(f"arxiv:{text}")
    assert spell_arxiv_for_id(once) == once


@pytest.mark.parametrize("written", [None, "", "10.1000", "10.1000/", "10.1/x", "11.1000/x", "see 10.1000/x", "doi:"])
def test_text_that_is_not_a_doi_gives_none(written: str | None) -> None:
    assert spell_doi_for_id(written) is None


def test_balanced_brackets_belong_to_a_doi() -> None:
    assert spell_doi_for_id("10.1016/0021-9991(81)90128-5") == "10.1016/0021-9991(81)90128-5"
    assert spell_doi_for_id("(doi) 10.1016/x") is None
    assert spell_doi_for_id("10.1016/s0140(05)").endswith("(05)")  # pyright: ignore[reportOptionalMemberAccess]


def test_two_papers_of_one_issue_whose_dois_have_angle_brackets_have_two_dois() -> None:
    one, other = (f"10.1002/(SICI)1097-0258(19980815)17:15<{page}::AID-SIM{page}>3.0.CO;2-2" for page in (1661, 1703))
    assert spell_doi_for_id(one) != spell_doi_for_id(other)


@pytest.mark.parametrize(
    "written",
    [
        "2301.00001",
        "2301.00001v12",
        "arXiv:2301.00001",
        "arxiv: 2301.00001v2",
        "http://arxiv.org/abs/2301.00001",
        "https://www.arxiv.org/abs/2301.00001v1",
        "https://arxiv.org/pdf/2301.00001v3.pdf",
        "https://arxiv.org/pdf/2301.00001",
        "10.48550/arXiv.2301.00001",
        "https://doi.org/10.48550/arXiv.2301.00001",
    ],
)
def test_every_spelling_and_version_of_an_arxiv_id_gives_one(written: str) -> None:
    assert spell_arxiv_for_id(written) == "2301.00001"
    assert "arxiv:2301.00001" in list_lookup_keys(written)


@pytest.mark.parametrize(
    "written",
    ["doi:10.48550/arXiv.2301.00001", "https://dx.doi.org/10.48550/arXiv.2301.00001", "DOI 10.48550/arxiv.2301.00001"],
)
def test_a_paper_known_by_its_arxiv_id_is_looked_up_by_every_spelling_of_its_arxiv_doi(written: str) -> None:
    assert "arxiv:2301.00001" in list_lookup_keys(written)


def test_an_old_arxiv_id_keeps_its_archive() -> None:
    assert spell_arxiv_for_id("arXiv:hep-th/9901001v3") == "hep-th/9901001"


@pytest.mark.parametrize("written", [None, "", "2301.1", "2301.000001", "9901001", "arxiv:", "x 2301.00001"])
def test_text_that_is_not_an_arxiv_id_gives_none(written: str | None) -> None:
    assert spell_arxiv_for_id(written) is None


def test_keys_come_strongest_first() -> None:
    keys = Keys("10.1000/x", "2301.00001", "smith2024", "abc")
    assert keys.list_keys() == ["doi:10.1000/x", "arxiv:2301.00001", "bib:smith2024", "meta:abc"]
    assert Keys(None, None, None, "abc").list_keys() == ["meta:abc"]


def test_case_width_and_the_order_of_authors_do_not_change_a_fingerprint() -> None:
    one = make_meta_key("deep fish", ["Ada Lovelace", "Kurt Gödel"], 2019, "Journal of Fish")
    assert make_meta_key("deep fish", ["KURT  GÖDEL", "ada lovelace"], 2019, "journal  of ｆｉｓｈ") == one


def test_each_fact_changes_a_fingerprint() -> None:
    facts = ("deep fish", ["Ada Lovelace"], 2019, "Fish")
    others = [
        ("deeper fish", *facts[1:]),
        (facts[0], ["Ada Lovelace", "Kurt Gödel"], *facts[2:]),
        (*facts[:2], 2020, "Fish"),
        (*facts[:2], None, "Fish"),
        (*facts[:3], "Meat"),
    ]
    assert len({make_meta_key(*facts), *(make_meta_key(*other) for other in others)}) == 6


def test_a_title_is_compared_without_case_punctuation_and_width() -> None:
    assert normalise_title("  Deep—Fish:  a ＴＥＳＴ! ") == normalise_title("deep fish a test") == "deep fish a test"


@pytest.mark.parametrize("text", ["", "1abf", "1ABF10BF8925AF26444FD49973CD1FBE", "1abf10bf8925af26444fd49973cd1fbe\n"])
def test_only_32_lower_case_hex_digits_are_a_paper_id(text: str) -> None:
    assert not is_paper_id(text)
    assert is_paper_id("1abf10bf8925af26444fd49973cd1fbe")


@pytest.mark.parametrize(
    ("scheme", "written", "key"),
    [
        ("doi", "<10.1000/ABC>", "doi:10.1000/abc"),
        ("doi", "10.1000/abc:", "doi:10.1000/abc:"),
        ("doi", "10.1000/abc]", "doi:10.1000/abc]"),
        ("doi", "10.1000/a(b)", "doi:10.1000/a(b"),
        ("doi", "10.1000/ÄB", "doi:10.1000/äb"),
        ("doi", "10.1000/x%2520y", "doi:10.1000/x"),
        ("doi", '10.1000/a"b', "doi:10.1000/a"),
        ("doi", "10.48550/arXiv.1706.03762v2", "doi:10.48550/arxiv.1706.03762v2"),
        ("doi", "10.48550/arXiv.math.GT/0309136", "doi:10.48550/arxiv.math.gt/0309136"),
        ("arxiv", "math.GT/0309136v2", "arxiv:math.gt/0309136"),
        ("arxiv", "math/0309136", "arxiv:math/0309136"),
        ("arxiv", "1706.03762v3 [cs.CL]", "arxiv:1706.03762"),
        ("arxiv", "1799.12345", "arxiv:1799.12345"),
        ("arxiv", "10.48550/arXiv.1706.03762v2", "arxiv:1706.03762"),
    ],
)
def test_the_key_that_decides_the_paper_id_never_changes(scheme: str, written: str, key: str) -> None:
    entry = Entry(title="Knots", identifiers={scheme: written})
    assert make_keys(entry).list_keys()[0] == key
    assert list_lookup_keys(written)[0] == key or scheme == "arxiv"
    assert key in list_lookup_keys(written)


@pytest.mark.parametrize(
    ("written", "keys"),
    [
        ("8375", ["bib:8375", "pmid:8375"]),
        ("8375/", ["bib:8375/", "pmid:8375"]),
        ("PMID: 8375", ["pmid:8375", "bib:PMID: 8375", "bib:pmid: 8375"]),
        ("Smith2024", ["bib:Smith2024", "bib:smith2024"]),
        ("PMC77", ["pmcid:PMC77", "bib:PMC77", "bib:pmc77"]),
    ],
)
def test_a_number_alone_is_a_bibtex_key_before_it_is_a_pmid(written: str, keys: list[str]) -> None:
    assert list_lookup_keys(written) == keys


@pytest.mark.parametrize(
    ("written", "asked"),
    [
        ({"arxiv": "math.GT/0309136"}, "math/0309136"),
        ({"arxiv": "math.GT/0309136"}, "https://arxiv.org/abs/math/0309136v1"),
        ({"doi": "10.48550/arXiv.1706.03762v2"}, "10.48550/arXiv.1706.03762"),
        ({"doi": "10.48550/arXiv.1706.03762v2"}, "arXiv:1706.03762v5"),
        ({"doi": "10.1000/abc:"}, "10.1000/abc"),
        ({"pmcid": "77"}, "PMC77"),
        ({"bibkey": "2019A&A...622A...2P"}, "https://ui.adsabs.harvard.edu/abs/2019A%26A...622A...2P/abstract"),
    ],
)
def test_a_paper_is_found_by_other_spellings_of_its_identifiers(written: dict[str, str], asked: str) -> None:
    keys = make_keys(Entry(title="Knots", identifiers=written)).list_keys()
    assert set(keys) & set(list_lookup_keys(asked))
