"""Identifiers in every spelling that sources and people use."""

from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from uraniborg.kernel.bibliography.identifiers import (
    NORMALISERS,
    SCHEMES,
    arxiv_to_doi,
    doi_to_arxiv,
    find_arxiv_in_text,
    find_doi_in_url,
    normalise_arxiv,
    normalise_dblp,
    normalise_doi,
    normalise_identifiers,
    normalise_openalex,
    normalise_pmcid,
    normalise_pmid,
    normalise_s2,
    normalise_scholar,
    trim_doi,
)

BIBCODE = "2019A&A...622A...2P"
HEX = "0123456789abcdef0123456789abcdef01234567"


@pytest.mark.parametrize(
    "written",
    [
        "10.1000/ABC.def",
        "https://doi.org/10.1000/abc.DEF",
        "http://dx.doi.org/10.1000/abc.def",
        "https://www.doi.org/10.1000%2Fabc.def",
        "doi.org/10.1000/abc.def?utm_source=x#top",
        "DOI: 10.1000/abc.def",
        "doi:10.1000/abc.def",
        "info:doi/10.1000/abc.def",
        " 10.1000/abc.def. ",
        "10.1000/abc.def),",
        "10.1000%2fabc.def",
    ],
)
def test_every_spelling_of_a_doi_gives_the_same_one(written: str) -> None:
    assert normalise_doi(written) == "10.1000/abc.def"


@pytest.mark.parametrize(
    "written", ["", None, "10.1000", "10.1000/", "11.1000/abc", "see 10.1000/abc", "doi:", "10.1/x"]
)
def test_text_that_is_not_a_doi_gives_none(written: str | None) -> None:
    assert normalise_doi(written) is None


def test_brackets_and_angles_that_belong_to_a_doi_are_kept() -> None:
    assert normalise_doi("10.1016/0021-9991(81)90128-5") == "10.1016/0021-9991(81)90128-5"
    assert (
        normalise_doi("10.1002/(SICI)1097(1998)49:8<693::AID>3.0.CO;2-O")
        == "10.1002/(sici)1097(1998)49:8<693::aid>3.0.co;2-o"
    )


def test_letters_outside_ascii_keep_their_case_because_dois_do_not_fold_them() -> None:
    assert normalise_doi("10.1000/ÄB") == "10.1000/Äb"


@pytest.mark.parametrize(
    ("link", "doi"),
    [
        ("https://link.springer.com/article/10.1007/s1-020-1", "10.1007/s1-020-1"),
        ("https://journals.example.org/articles/10.3389/fx.2012.00111/full", "10.3389/fx.2012.00111"),
        ("https://publisher.example.org/doi/pdf/10.1002/adma.1.pdf", "10.1002/adma.1"),
        ("https://publisher.example.org/article?id=10.1371/journal.pone.1&type=printable", "10.1371/journal.pone.1"),
        ("https://doi.org/10.1000/x", "10.1000/x"),
        ("https://example.org/about", None),
        (None, None),
    ],
)
def test_a_doi_is_found_inside_the_address_of_an_article(link: str | None, doi: str | None) -> None:
    assert find_doi_in_url(link) == doi


@pytest.mark.parametrize(
    ("written", "arxiv"),
    [
        ("1706.03762", "1706.03762"),
        ("arXiv:1706.03762v5", "1706.03762"),
        ("https://arxiv.org/abs/1706.03762v1", "1706.03762"),
        ("http://arxiv.org/pdf/1706.03762v1.pdf", "1706.03762"),
        ("https://doi.org/10.48550/arXiv.1706.03762", "1706.03762"),
        ("10.48550/arxiv.cs/9901001", "cs/9901001"),
        ("http://arxiv.org/abs/quant-ph/0201082v1", "quant-ph/0201082"),
        ("math.GT/0309136v2", "math/0309136"),
        ("1799.12345", None),
        ("10.1000/1706.03762", None),
        ("https://doi.org/1706.03762", None),
        ("", None),
    ],
)
def test_arxiv_ids_lose_version_prefix_and_subject_class(written: str, arxiv: str | None) -> None:
    assert normalise_arxiv(written) == arxiv


def test_arxiv_ids_and_the_dois_arxiv_registers_lead_to_each_other() -> None:
    assert arxiv_to_doi("1706.03762") == "10.48550/arxiv.1706.03762"
    assert doi_to_arxiv(arxiv_to_doi("cs/9901001")) == "cs/9901001"
    assert doi_to_arxiv("10.1000/1706.03762") is None
    assert normalise_doi("10.48550/arXiv.1706.03762v2") == "10.48550/arxiv.1706.03762"


def test_other_identifiers_have_one_spelling_each() -> None:
    assert normalise_pmid("https://pubmed.ncbi.nlm.nih.gov/00123/") == normalise_pmid("PMID: 123") == "123"
    assert normalise_pmcid("https://www.ncbi.nlm.nih.gov/pmc/articles/PMC77/") == normalise_pmcid("pmc77.2") == "PMC77"
    assert normalise_pmcid("77") == "PMC77"
    assert normalise_openalex("https://openalex.org/w42") == "W42"
    assert normalise_openalex("https://openalex.org/A42") is None
    assert normalise_s2(f"https://www.semanticscholar.org/paper/Title/{HEX.upper()}") == HEX
    assert normalise_s2(HEX[:-1]) is None
    assert (
        normalise_dblp("https://dblp.org/rec/conf/x/AbC17.html")
        == normalise_dblp("DBLP:conf/x/AbC17")
        == "conf/x/AbC17"
    )
    assert normalise_dblp("books/tf/11/Vain11") == "books/tf/11/Vain11"
    assert normalise_scholar(" dyZ4b ") == "dyZ4b"
    assert normalise_scholar("two words") is None


def test_a_mapping_keeps_valid_identifiers_in_the_order_of_the_schemes() -> None:
    mixed: dict[str, object] = {
        "scholar": "abc",
        "pmid": 123,
        "doi": "doi:10.1000/X",
        "s2": True,
        "openalex": None,
        "isbn": "1",
    }
    found = normalise_identifiers(mixed)
    assert found == {"doi": "10.1000/x", "pmid": "123", "scholar": "abc"}
    assert list(found) == [scheme for scheme in SCHEMES if scheme in found]


def test_a_doi_of_arxiv_gives_the_arxiv_id_too() -> None:
    assert normalise_identifiers({"doi": "10.48550/arXiv.1706.03762v2"}) == {
        "doi": "10.48550/arxiv.1706.03762",
        "arxiv": "1706.03762",
    }


@given(st.dictionaries(st.sampled_from(SCHEMES), st.text() | st.integers() | st.none()))
def test_normalising_twice_changes_nothing(identifiers: dict[str, object]) -> None:
    once = normalise_identifiers(identifiers)
    assert normalise_identifiers(dict(once)) == once


@given(st.from_regex(r"10\.[0-9]{4,9}/[A-Za-z0-9()./<>:;%_-]{1,40}", fullmatch=True))
def test_a_normalised_doi_is_stable_and_lower_case(written: str) -> None:
    if found := normalise_doi(written):
        assert normalise_doi(found) == found == found.lower()
        assert normalise_doi(f"https://doi.org/{quote(found, safe='/:;()<>')}") == found


@pytest.mark.parametrize(
    ("scheme", "written", "canonical"),
    [
        ("doi", "10.1000/ABC", "10.1000/abc"),
        ("doi", "DOI:10.1000/abc", "10.1000/abc"),
        ("doi", "doi 10.1000/abc", "10.1000/abc"),
        ("doi", "urn:doi:10.1000/abc", "10.1000/abc"),
        ("doi", "https://doi.org/doi:10.1000/abc", "10.1000/abc"),
        ("doi", "https://dx.doi.org/10.1000/abc?utm_source=feed#top", "10.1000/abc"),
        ("doi", "<10.1000/abc>", "10.1000/abc"),
        ("doi", '"10.1000/abc"', "10.1000/abc"),
        ("doi", "(10.1000/abc)", "10.1000/abc"),
        ("doi", "10.1000/abc]", "10.1000/abc"),
        ("doi", "10.1000/abc:", "10.1000/abc"),
        ("doi", "10.1000/abc*", "10.1000/abc"),
        ("doi", "10.1000/abc/", "10.1000/abc"),
        ("doi", "10.1000/a(b)", "10.1000/a(b)"),
        ("doi", "10.1000/a%28b%29", "10.1000/a(b)"),
        ("doi", "10.1000/x%252Fy", "10.1000/x/y"),
        (
            "doi",
            "10.1002/(SICI)1097(1998)49:8%3C693::AID%3E3.0.CO;2-O",
            "10.1002/(sici)1097(1998)49:8<693::aid>3.0.co;2-o",
        ),
        ("doi", "10.48550/arXiv.1706.03762v2", "10.48550/arxiv.1706.03762"),
        ("doi", "10.48550/arXiv.math.GT/0309136", "10.48550/arxiv.math/0309136"),
        ("doi", "10.1000/ABC " * 100, None),
        ("arxiv", "math.GT/0309136", "math/0309136"),
        ("arxiv", "math/0309136", "math/0309136"),
        ("arxiv", "arXiv:math.GT/0309136v2", "math/0309136"),
        ("arxiv", "arXiv:1706.03762v1 [cs.CL]", "1706.03762"),
        ("arxiv", "arXiv:1706.03762.", "1706.03762"),
        ("arxiv", "arxiv : 1706.03762", "1706.03762"),
        ("arxiv", "(arXiv:1706.03762)", "1706.03762"),
        ("arxiv", "oai:arXiv.org:1706.03762", "1706.03762"),
        ("arxiv", "https://export.arxiv.org/abs/1706.03762v1", "1706.03762"),
        ("arxiv", "https://arxiv.org/html/1706.03762v7", "1706.03762"),
        ("arxiv", "https://ar5iv.labs.arxiv.org/html/1706.03762", "1706.03762"),
        ("arxiv", "https://ar5iv.org/abs/1706.03762", "1706.03762"),
        ("arxiv", "http://xxx.lanl.gov/abs/hep-th/9901001", "hep-th/9901001"),
        ("arxiv", "https://arxiv.org/pdf/1706.03762v1.pdf", "1706.03762"),
        ("arxiv", "https://arxiv.org/abs/1706.03762?context=cs", "1706.03762"),
        ("arxiv", "https://doi.org/10.48550/arXiv.1706.03762v2", "1706.03762"),
        ("arxiv", "1799.12345", None),
        ("pmid", "PMID:00123", "123"),
        ("pmid", "info:pmid/123", "123"),
        ("pmid", "https://www.ncbi.nlm.nih.gov/pubmed/123?dopt=Abstract", "123"),
        ("pmid", "https://pubmed.ncbi.nlm.nih.gov/123/", "123"),
        ("pmid", "https://europepmc.org/article/MED/123", "123"),
        ("pmid", "0", None),
        ("pmcid", "PMC77", "PMC77"),
        ("pmcid", "77", "PMC77"),
        ("pmcid", "PMCID: PMC77", "PMC77"),
        ("pmcid", "PMCID: 77", "PMC77"),
        ("pmcid", "https://www.ncbi.nlm.nih.gov/pmc/articles/77", "PMC77"),
        ("pmcid", "https://pmc.ncbi.nlm.nih.gov/articles/PMC77/", "PMC77"),
        ("pmcid", "https://www.ncbi.nlm.nih.gov/pmc/articles/PMC77/pdf/main.pdf", "PMC77"),
        ("pmcid", "https://europepmc.org/article/PMC/PMC77", "PMC77"),
        ("pmcid", "chapter/77", None),
        ("openalex", "w42", "W42"),
        ("openalex", "openalex:W42", "W42"),
        ("openalex", "https://openalex.org/works/W42", "W42"),
        ("openalex", "https://api.openalex.org/works/w42", "W42"),
        ("openalex", "https://openalex.org/A42", None),
        ("s2", HEX.upper(), HEX),
        ("s2", f"https://www.semanticscholar.org/paper/A-Title/{HEX}?sort=year", HEX),
        ("s2", "CorpusID: 13756489", "CorpusId:13756489"),
        ("s2", "https://api.semanticscholar.org/CorpusID:13756489", "CorpusId:13756489"),
        ("bibcode", BIBCODE, BIBCODE),
        ("bibcode", f"https://ui.adsabs.harvard.edu/abs/{BIBCODE.replace('&', '%26')}/abstract", BIBCODE),
        ("bibcode", f"https://ui.adsabs.harvard.edu/#abs/{BIBCODE}", BIBCODE),
        ("bibcode", "bibcode: 1974IAUS...58..109V", "1974IAUS...58..109V"),
        ("bibcode", "2019A&A...622A...2", None),
        ("isbn", "978-0-691-08022-5", None),
        ("isbn", "ISBN 978-0-13-110362-7", "9780131103627"),
        ("isbn", "0-13-110362-8", "9780131103627"),
        ("isbn", "0-8044-2957-X", "9780804429573"),
        ("isbn", "urn:isbn:9780131103627", "9780131103627"),
        ("isbn", "0-13-110362-7", None),
        ("isbn", "1234567890123", None),
    ],
)
def test_each_spelling_has_one_canonical_spelling(scheme: str, written: str, canonical: str | None) -> None:
    normalise = NORMALISERS[scheme]
    assert normalise(written) == canonical
    assert normalise(f"  {written}\n") == canonical
    assert normalise(canonical) == canonical


@given(st.sampled_from(sorted(NORMALISERS)), st.text(st.characters(), max_size=60))
def test_any_text_is_normalised_without_an_error_and_only_once(scheme: str, text: str) -> None:
    normalise = NORMALISERS[scheme]
    for written in (text, f"{scheme}:{text}", f"10.1000/{text}", f"https://example.org/{text}"):
        once = normalise(written)
        assert normalise(once) == once


@pytest.mark.parametrize(
    ("text", "arxiv"),
    [
        ("CoRR, arXiv: 1706.03762v5 [cs.CL]", "1706.03762v5"),
        ("see https://arxiv.org/abs/math.GT/0309136 for details", "math.GT/0309136"),
        ("http://ARXIV.org/pdf/hep-th/9901001v3.pdf", "hep-th/9901001v3"),
        ("pages 1706.03762", None),
        ("bioarxiv:1706.03762", None),
        ("", None),
    ],
)
def test_an_arxiv_id_is_found_in_a_text_that_names_arxiv(text: str, arxiv: str | None) -> None:
    assert find_arxiv_in_text(text) == arxiv


@pytest.mark.parametrize(
    ("text", "doi"),
    [
        ("10.1000/ABC).", "10.1000/ABC"),
        ("10.1000/a(b)", "10.1000/a(b)"),
        ("10.1000/a[1]],", "10.1000/a[1]"),
        ("10.1000/abc?*”", "10.1000/abc"),
        ("...", ""),
    ],
)
def test_punctuation_and_unmatched_brackets_after_a_doi_are_removed(text: str, doi: str) -> None:
    assert trim_doi(text) == doi
