from typing import Any

import pytest

from paper_search.errors import NonRetryableError, RetryableError
from paper_search.models import Author, WorkType
from paper_search.sources.europepmc import definition
from tests.paper_search.sources.sample_answers import EUROPEPMC, EUROPEPMC_XML, build_params, make_response, read_sample

SOURCE = "europepmc"
RECORD = EUROPEPMC["resultList"]["result"][0]


def make_results(*records: Any) -> dict[str, Any]:
    return {"hitCount": len(records), "resultList": {"result": list(records)}}


def test_every_field_of_a_record_is_read() -> None:
    (paper,) = read_sample(SOURCE, EUROPEPMC).papers
    assert paper.title == "Glazes and kilns"
    assert paper.authors == [Author(name="Ada Example", author_id="0000-0000-0000-0001"), Author(name="The Kiln Group")]
    assert (paper.year, paper.venue) == (2021, "Journal of Kilns")
    assert paper.abstract == "Aim We fire glazes."
    assert paper.identifiers == {"doi": "10.5555/kiln.1", "pmid": "123", "pmcid": "PMC9"}
    assert (paper.volume, paper.issue, paper.pages) == ("3", "2", "12-34")
    assert (paper.citation_count, paper.language, paper.work_type) == (7, "en", WorkType.ARTICLE)
    assert paper.full_text_url == "https://europepmc.org/PMC9?pdf=render"
    assert paper.records[0].record_id == "MED:123"
    assert paper.raw_data == {"types": ["journal article", "review"]}


def test_the_short_form_names_authors_in_one_line() -> None:
    lite = {
        "id": "1",
        "source": "MED",
        "title": "T",
        "authorString": "Example A, Sample BC.",
        "journalTitle": "J Kilns",
        "pmcid": "PMC9",
        "pubType": "review; journal article",
    }
    (paper,) = read_sample(SOURCE, make_results(lite)).papers
    assert [author.name for author in paper.authors] == ["Example A", "Sample BC"]
    assert paper.venue == "J Kilns"
    assert paper.full_text_url == "https://europepmc.org/articles/PMC9"
    assert paper.raw_data == {"types": ["review", "journal article"]}


def test_the_xml_form_is_read_as_well() -> None:
    page = read_sample(SOURCE, EUROPEPMC_XML)
    (paper,) = page.papers
    assert (page.found, paper.title, paper.year, paper.citation_count) == (1, "Glazes and kilns", 2021, 7)
    assert [author.name for author in paper.authors] == ["Example A", "Sample B"]


def test_the_request_has_the_query_years_and_language() -> None:
    sent = build_params(SOURCE, 30, year_from=2018, language="de")
    assert sent["query"] == (
        '((kiln OR "glass furnace") AND glaze NOT review) AND PUB_YEAR:[2018 TO 3000] AND LANG:"ger"'
    )
    assert (sent["resultType"], sent["format"], sent["pageSize"], sent["cursorMark"]) == ("core", "json", "30", "*")
    assert build_params(SOURCE, 1_000)["pageSize"] == "100"


def test_the_next_page_is_requested_until_a_cursor_is_repeated() -> None:
    page = read_sample(SOURCE, EUROPEPMC, limit=2)
    assert page.found == 77
    assert dict(page.follow[0].params)["cursorMark"] == "AoIIP4="
    assert read_sample(SOURCE, {**EUROPEPMC, "nextCursorMark": "*"}, limit=2).follow == ()


@pytest.mark.parametrize(
    ("changes", "kind"),
    [
        ({"source": "PPR"}, WorkType.PREPRINT),
        ({"source": "ETH"}, WorkType.THESIS),
        ({"pubTypeList": {"pubType": ["Books & documents"]}}, WorkType.BOOK),
        ({"source": "PAT", "pubTypeList": None}, None),
    ],
)
def test_the_type_of_a_record_gives_the_work_type(changes: dict[str, Any], kind: WorkType | None) -> None:
    assert read_sample(SOURCE, make_results({**RECORD, **changes})).papers[0].work_type is kind


def test_the_venue_of_a_preprint_is_its_server() -> None:
    preprint = {**RECORD, "journalInfo": None, "source": "PPR", "bookOrReportDetails": {"publisher": "claRxiv"}}
    assert read_sample(SOURCE, make_results(preprint)).papers[0].venue == "claRxiv"


def test_a_list_of_ids_alone_has_no_papers() -> None:
    assert read_sample(SOURCE, make_results({"id": "1", "source": "MED"})).papers == []


def test_errors_in_a_200_response_are_reported_and_temporary_ones_are_retryable() -> None:
    with pytest.raises(NonRetryableError, match="bad cursor"):
        read_sample(SOURCE, {"errCode": 404, "errMsg": "bad cursor"})
    with pytest.raises(RetryableError, match="out of order"):
        read_sample(SOURCE, {"errCode": 500, "errMsg": "out of order"})
    assert "bad cursor" in str(definition.read_failure(make_response({"errMsg": "bad cursor"}, 400)))
