from typing import Any

import pytest

from paper_search.errors import NonRetryableError
from paper_search.models import Author, WorkType
from paper_search.sources.semantic_scholar import definition
from tests.paper_search.sources.sample_answers import S2_ID, SEMANTIC_SCHOLAR, build_params, make_response, read_sample

SOURCE = "semantic_scholar"
RECORD = SEMANTIC_SCHOLAR["data"][0]


def test_every_field_of_a_record_is_read() -> None:
    (paper,) = read_sample(SOURCE, SEMANTIC_SCHOLAR).papers
    assert paper.title == "Glazes and kilns"
    assert paper.authors == [Author(name="Ada Example", author_id="1"), Author(name="Bo Sample")]
    assert (paper.year, paper.venue) == (2021, "Journal of Kilns")
    assert paper.abstract == "We fire glazes."
    assert paper.identifiers == {
        "doi": "10.5555/kiln.1",
        "arxiv": "2101.00001",
        "pmid": "123",
        "pmcid": "PMC9",
        "s2": S2_ID,
        "dblp": "journals/kilns/ExampleS21",
    }
    assert (paper.volume, paper.pages) == ("3", "12-34")
    assert (paper.citation_count, paper.work_type) == (7, WorkType.CONFERENCE)
    assert paper.full_text_url == "https://arxiv.org/pdf/2101.00001"


@pytest.mark.parametrize(
    ("title", "clean"),
    [
        ("Glazes and kilns.", "Glazes and kilns"),
        ("Firing {TLS} at scale: a {C}eramic {S}tudy", "Firing TLS at scale: a Ceramic Study"),
        ("Cycles in {0, 1}-matrices and {K}-free graphs", "Cycles in {0, 1}-matrices and {K}-free graphs"),
        ("Paths in $K_{s, s}$-free graphs", "Paths in $K_{s, s}$-free graphs"),
    ],
)
def test_bibtex_braces_and_a_closing_full_stop_are_not_part_of_a_title(title: str, clean: str) -> None:
    assert read_sample(SOURCE, {"data": [{**RECORD, "title": title}]}).papers[0].title == clean


def test_an_open_copy_comes_before_the_landing_page() -> None:
    open_copy = {**RECORD, "openAccessPdf": {"url": "https://files.example.org/1.pdf"}}
    assert read_sample(SOURCE, {"data": [open_copy]}).papers[0].full_text_url == "https://files.example.org/1.pdf"
    closed = {**RECORD, "externalIds": None, "openAccessPdf": None}
    assert read_sample(SOURCE, {"data": [closed]}).papers[0].full_text_url == "https://www.semanticscholar.org/paper/x"


def test_the_request_has_signs_for_operators() -> None:
    sent = build_params(SOURCE, year_from=2018, year_to=2022)
    assert sent["query"] == '((kiln | "glass furnace") + glaze -review)'
    assert (sent["year"], sent["sort"]) == ("2018-2022", "citationCount:desc")
    assert {"externalIds", "abstract", "openAccessPdf"} <= set(sent["fields"].split(","))
    assert build_params(SOURCE, year_from=2018)["year"] == "2018-"
    assert build_params(SOURCE, year_to=2018)["year"] == "-2018"
    assert "year" not in build_params(SOURCE)


def test_the_next_page_is_requested_by_token_until_the_last() -> None:
    page = read_sample(SOURCE, SEMANTIC_SCHOLAR, limit=2)
    assert page.found == 2500
    assert dict(page.follow[0].params)["token"] == "PBWNCP"
    assert read_sample(SOURCE, {**SEMANTIC_SCHOLAR, "token": None}, limit=2).follow == ()


@pytest.mark.parametrize(
    "body",
    [
        RECORD,
        [RECORD, None],
        {"offset": 0, "data": [{"citedPaper": RECORD}]},
        {"offset": 0, "data": [{"citingPaper": RECORD, "isInfluential": True}]},
        {"recommendedPapers": [RECORD]},
        {"data": [{**RECORD, "matchScore": 99.1}]},
    ],
)
def test_the_other_lists_of_papers_are_read(body: Any) -> None:
    assert [paper.title for paper in read_sample(SOURCE, body).papers] == ["Glazes and kilns"]


def test_a_snippet_is_stored_with_its_paper() -> None:
    hit = {"snippet": {"text": "we fire"}, "paper": {"corpusId": "1", "title": "Glazes", "authors": ["Ada Example"]}}
    (paper,) = read_sample(SOURCE, {"data": [hit]}).papers
    assert (paper.snippet, paper.authors) == ("we fire", [Author(name="Ada Example")])


@pytest.mark.parametrize(
    "body",
    [
        {"total": 0, "offset": 0},
        {"authorId": "1", "name": "A"},
        [{"authorId": "1", "name": "A"}],
        {"total": 0, "data": []},
    ],
)
def test_answers_without_papers_are_empty(body: Any) -> None:
    assert read_sample(SOURCE, body).papers == []


@pytest.mark.parametrize(
    ("changes", "kind"),
    [
        ({"venue": "arXiv.org"}, WorkType.PREPRINT),
        ({"publicationTypes": ["Review", "JournalArticle"]}, WorkType.ARTICLE),
        ({"publicationTypes": ["Book"]}, WorkType.BOOK),
        ({"publicationTypes": None}, None),
    ],
)
def test_the_type_of_a_record_gives_the_work_type(changes: dict[str, Any], kind: WorkType | None) -> None:
    assert read_sample(SOURCE, {"data": [{**RECORD, **changes}]}).papers[0].work_type is kind


def test_errors_are_reported_with_the_message_of_the_source() -> None:
    with pytest.raises(NonRetryableError, match="bad query"):
        read_sample(SOURCE, {"error": "bad query"})
    assert "bad fields" in str(definition.read_failure(make_response({"error": "bad fields"}, 400)))
    assert definition.read_failure(make_response({"message": "Too Many Requests", "code": "429"}, 429)) is None
