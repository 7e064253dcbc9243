"""Queries that consist of identifiers, and queries about the citations of one."""

import pytest

from paper_search.domain.query.identifier_queries import (
    Identifier,
    describe_missing_works,
    find_citation_request,
    find_matching_identifiers,
    make_lookup_query,
    read_identifiers,
)
from paper_search.models import RawPaper


def list_names(text: str) -> list[str]:
    return [str(identifier) for identifier in read_identifiers(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("10.5555/kiln.1", ["10.5555/kiln.1"]),
        ("doi:10.5555/KILN.1", ["10.5555/kiln.1"]),
        ("https://doi.org/10.5555/kiln.1.", ["10.5555/kiln.1"]),
        ("10.1016/s0140-6736(97)11096-0", ["10.1016/s0140-6736(97)11096-0"]),
        ("10.1002/(SICI)1097<1661::AID-SIM968>3.0.CO;2-2", ["10.1002/(sici)1097<1661::aid-sim968>3.0.co;2-2"]),
        ("arXiv:1706.03762v5 [cs.CL]", ["arXiv:1706.03762"]),
        ("1706.03762", ["arXiv:1706.03762"]),
        ("hep-th/9901001", ["arXiv:hep-th/9901001"]),
        ("https://arxiv.org/pdf/1706.03762v3.pdf", ["arXiv:1706.03762"]),
        ("10.48550/arXiv.1706.03762", ["arXiv:1706.03762"]),
        ("PMID: 31452104", ["PMID:31452104"]),
        ("31452104", ["PMID:31452104"]),
        ("PMIDs 1, 22 and 333", ["PMID:1", "PMID:22", "PMID:333"]),
        ("https://pubmed.ncbi.nlm.nih.gov/31452104/", ["PMID:31452104"]),
        ("PMC1234567", ["PMC1234567"]),
        ("10.5555/a,10.5555/b;10.5555/c", ["10.5555/a", "10.5555/b", "10.5555/c"]),
        ("- 10.5555/a\n- arXiv:1706.03762\n- PMID 123", ["10.5555/a", "arXiv:1706.03762", "PMID:123"]),
        ("1. 10.5555/a\n2. 10.5555/b", ["10.5555/a", "10.5555/b"]),
        ("Please fetch the papers 10.5555/a and 10.5555/A", ["10.5555/a"]),
        ("I would like 10.5555/a", ["10.5555/a"]),
    ],
)
def test_a_text_of_identifiers_requests_these_works(text: str, expected: list[str]) -> None:
    assert list_names(text) == expected
    assert list_names(make_lookup_query(read_identifiers(text)).boolean_query) == expected
    assert find_citation_request(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "perovskite 10.5555/a",
        "10.5555/a perovskite",
        "12345678 cells",
        "2020",
        "90210",
        "3.14159",
        "IEEE 802.11",
        "9999.99999",
        "ice",
        "PMID",
        "and",
        "",
    ],
)
def test_a_text_with_other_words_requests_no_work(text: str) -> None:
    assert list_names(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "papers citing 10.5555/a",
        "Which papers cite arXiv:1706.03762?",
        "citations of PMID 31452104",
        "cited by 10.5555/a",
        "references of 10.5555/a",
        "the bibliography of https://doi.org/10.5555/a",
        "10.5555/a's references",
        "papers similar to doi:10.5555/a",
        "papers like 10.5555/a",
        "work related to the article with DOI 10.5555/a",
        "articles qui citent 10.5555/a",
        "引用10.5555/a的论文",
    ],
)
def test_a_request_for_citations_or_relatives_of_a_work_is_found(text: str) -> None:
    assert find_citation_request(text) is not None


@pytest.mark.parametrize("text", ["papers citing Doe 2010", "citation analysis", "perovskites, see 10.5555/a", "ice"])
def test_other_texts_do_not_request_citations(text: str) -> None:
    assert find_citation_request(text) is None


def test_a_paper_matches_an_identifier_in_every_spelling_and_by_its_arxiv_doi() -> None:
    paper = RawPaper(
        title="Ice", source="x", doi="10.48550/arXiv.1706.03762", identifiers={"pmid": "7", "preprint_doi": "10.5555/p"}
    )
    wanted = [Identifier("arxiv", "1706.03762"), Identifier("doi", "10.5555/p"), Identifier("pmid", "7")]
    assert find_matching_identifiers(paper, wanted) == wanted
    assert find_matching_identifiers(paper, [Identifier("pmid", "8"), Identifier("doi", "10.5555/q")]) == []


def test_every_identifier_that_no_paper_has_is_named() -> None:
    wanted = read_identifiers("10.5555/a 10.5555/b PMID 3")
    notes = describe_missing_works(wanted, [RawPaper(title="A", source="x", doi="10.5555/a")])
    assert [("10.5555/b" in note, "PMID:3" in note) for note in notes] == [(True, False), (False, True)]
    assert describe_missing_works([], []) == []


@pytest.mark.parametrize("piece", ["10.1/", "10.5555/", "PMID 1 ", "1, ", "arXiv ", "citing ", "7654321 ", "pmc1 "])
def test_long_hostile_texts_are_read_in_reasonable_time(piece: str) -> None:
    assert len(read_identifiers(piece * 10_000)) <= 200
    find_citation_request(piece * 10_000)
