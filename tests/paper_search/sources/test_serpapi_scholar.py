from typing import Any

import pytest

from paper_search.errors import NonRetryableError, RetryableError
from paper_search.models import Author, SearchQuery, WorkType
from paper_search.sources.http_source import HttpSource
from paper_search.sources.serpapi_scholar import definition
from paper_search.testing import FakeTransport
from tests.paper_search.sources.sample_answers import SERPAPI, build_params, build_request, make_response, read_sample
from tests.paper_search.sources.tiny_definition import make_strategy

SOURCE = "serpapi_scholar"
RESULT = SERPAPI["organic_results"][0]


def make_result(**changes: Any) -> dict[str, Any]:
    return {"organic_results": [{**RESULT, **changes}]}


def test_every_field_of_a_result_is_read() -> None:
    (paper,) = read_sample(SOURCE, SERPAPI).papers
    assert paper.title == "Glazes and kilns"
    assert paper.authors == [Author(name="A Example"), Author(name="B Sample", author_id="b1")]
    assert (paper.year, paper.venue, paper.publisher) == (2021, "Journal of kilns, clay and …", "Clay Press")
    assert paper.doi == "10.5555/kiln.1"
    assert paper.identifiers == {"doi": "10.5555/kiln.1", "scholar": "dyZ4b"}
    assert (paper.abstract, paper.snippet) == (None, "… we fire glazes …")
    assert paper.citation_count == 7
    assert paper.full_text_url == "https://files.example.org/1.pdf"


@pytest.mark.parametrize(
    ("summary", "names", "venue", "year", "publisher"),
    [
        ("A Example - Journal of Kilns, 1977 - books.example.com", ["A Example"], "Journal of Kilns", 1977, None),
        ("A Example, B Sample - 2010 - books.example.com", ["A Example", "B Sample"], None, 2010, None),
        ("A Example - 2010", ["A Example"], None, 2010, None),
        ("A Example - example.org", ["A Example"], None, None, None),
        ("A Example - Journal of Kilns", ["A Example"], "Journal of Kilns", None, None),
        ("A Example… - … on Kilns - Part B, 2010 - Clay", ["A Example"], "… on Kilns - Part B", 2010, "Clay"),
        (
            "A Example - arXiv preprint arXiv:2101.00001, 2021 - arxiv.org",
            ["A Example"],
            "arXiv preprint arXiv:2101.00001",
            2021,
            None,
        ),
        (
            "A Example - Proceedings of the 2019 Kiln Meeting, 2020 - x.org",
            ["A Example"],
            "Proceedings of the 2019 Kiln Meeting",
            2020,
            None,
        ),
        ("A Example", ["A Example"], None, None, None),
        ("2010", [], None, 2010, None),
        ("2020 - apps.example.org", [], None, 2020, None),
        ("2020 - Clay Press", [], None, 2020, "Clay Press"),
        ("Journal of Kilns, 2020 - example.org", [], "Journal of Kilns", 2020, None),
        ("apps.example.org", [], None, None, None),
        ("… - 2020 - apps.example.org", [], None, 2020, None),
        ("A Example, 3, B Sample - 2020 - example.org", ["A Example", "B Sample"], None, 2020, None),
        ("", [], None, None, None),
    ],
)
def test_a_summary_is_parsed(
    summary: str, names: list[str], venue: str | None, year: int | None, publisher: str | None
) -> None:
    (paper,) = read_sample(SOURCE, make_result(publication_info={"summary": summary})).papers
    assert [author.name for author in paper.authors] == names
    assert (paper.venue, paper.year, paper.publisher) == (venue, year, publisher)


def test_a_book_has_the_work_type_book() -> None:
    assert read_sample(SOURCE, make_result(type="Book")).papers[0].work_type is WorkType.BOOK
    assert read_sample(SOURCE, make_result()).papers[0].work_type is None


def test_an_arxiv_link_gives_the_arxiv_id() -> None:
    found = read_sample(SOURCE, make_result(link="https://arxiv.org/abs/2101.00001")).papers[0]
    assert found.identifiers["arxiv"] == "2101.00001"


def test_the_request_has_the_query_years_and_language() -> None:
    sent = build_params(SOURCE, 50, year_from=2018, year_to=2022, language="en")
    assert sent["q"] == '(kiln OR "glass furnace") glaze -review'
    assert (sent["engine"], sent["num"], sent["start"]) == ("google_scholar", "20", "0")
    assert (sent["as_ylo"], sent["as_yhi"], sent["lr"]) == ("2018", "2022", "lang_en")
    assert not {"as_ylo", "as_yhi", "lr"} & build_params(SOURCE).keys()
    assert build_params(SOURCE, 7)["num"] == "7"


def test_a_query_over_the_limit_of_scholar_is_cut_at_a_term() -> None:
    long = SearchQuery(keywords=[], boolean_query=" ".join(f"(word{i} OR other{i})" for i in range(50)))
    sent = build_params(SOURCE, 10, long)["q"]
    assert 200 < len(sent) <= 256
    assert sent.count("(") == sent.count(")")


def test_the_next_page_is_requested_until_the_last() -> None:
    page = read_sample(SOURCE, SERPAPI, limit=50)
    assert page.found == 1230
    assert dict(page.follow[0].params)["start"] == "20"
    second = definition.read_response(page.follow[0], make_response(SERPAPI))
    assert dict(second.follow[0].params)["start"] == "40"
    assert read_sample(SOURCE, {**SERPAPI, "serpapi_pagination": {}}, limit=50).follow == ()


def test_the_error_for_no_results_gives_an_empty_page() -> None:
    body = {"search_metadata": {"status": "Success"}, "error": "Google hasn't returned any results for this query."}
    page = read_sample(SOURCE, body)
    assert (page.papers, page.found) == ([], 0)


def test_other_errors_are_errors() -> None:
    with pytest.raises(NonRetryableError, match="refused the key") as caught:
        read_sample(
            SOURCE, {"error": "Invalid API key. Your API key should be here: https://serpapi.com/manage-api-key"}
        )
    assert "SERPAPI_API_KEY" in caught.value.hint
    with pytest.raises(NonRetryableError, match="no searches left"):
        read_sample(SOURCE, {"error": "Your account has run out of searches."})
    with pytest.raises(RetryableError):
        read_sample(SOURCE, {"error": "We couldn't get valid results for this search. Please try again later."})
    with pytest.raises(NonRetryableError, match="Missing query"):
        read_sample(SOURCE, {"error": "Missing query `q` parameter."})


def test_refusals_are_reported_unless_they_only_limit_the_rate() -> None:
    assert "no searches left" in str(
        definition.read_failure(make_response({"error": "Your account has run out of searches."}, 429))
    )
    assert (
        definition.read_failure(make_response({"error": "You are exceeding the hourly throughput limit."}, 429)) is None
    )
    assert "refused the key" in str(definition.read_failure(make_response({"error": "Invalid API key."}, 401)))
    assert definition.read_failure(make_response({"error": "Internal error"}, 500)) is None


def test_a_result_without_a_title_is_skipped_and_the_others_stay() -> None:
    body = {"organic_results": [None, {**RESULT, "title": None}, {**RESULT, "publication_info": "x"}]}
    assert len(read_sample(SOURCE, body).papers) == 1
    assert build_request(SOURCE).method == "GET"


async def test_exclusions_that_scholar_does_not_support_are_applied_afterwards() -> None:
    only_page = make_response({**SERPAPI, "serpapi_pagination": {}})
    source = HttpSource(definition, FakeTransport({"https://serpapi.com/search.json": only_page}))
    found = await source.search_advanced(make_strategy("pottery NOT (glazes AND kilns)"))
    assert [paper.title for paper in found] == []
    found = await source.search_advanced(make_strategy("pottery NOT (glazes AND bricks)"))
    assert [paper.title for paper in found] == ["Glazes and kilns"]
