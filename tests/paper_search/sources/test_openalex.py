from typing import Any

import pytest

from paper_search.errors import CreditsExhaustedError, NonRetryableError, RetryableError
from paper_search.models import Author, SearchConstraints, SearchQuery, SourceRecord, WorkType
from paper_search.sources.openalex import definition
from tests.paper_search.sources.sample_answers import OPENALEX, build_params, build_request, make_response, read_sample

SOURCE = "openalex"


def make_work(**changes: Any) -> dict[str, Any]:
    return {"results": [{**OPENALEX["results"][0], **changes}]}


def test_every_field_of_a_work_is_read() -> None:
    (paper,) = read_sample(SOURCE, OPENALEX).papers
    assert paper.title == "Glazes & kilns"
    assert paper.authors == [Author(name="Ada Example", author_id="A1"), Author(name="Bo Sample")]
    assert (paper.year, paper.venue, paper.publisher) == (2021, "Journal of Kilns", "Clay Press")
    assert paper.doi == "10.5555/kiln.1"
    assert paper.abstract == "Glazes need fire and fire"
    assert paper.identifiers == {
        "doi": "10.5555/kiln.1",
        "arxiv": "2101.00001",
        "pmid": "123",
        "pmcid": "PMC9",
        "openalex": "W42",
    }
    assert (paper.volume, paper.issue, paper.pages) == ("3", "2", "12-34")
    assert (paper.citation_count, paper.language, paper.work_type) == (7, "en", WorkType.ARTICLE)
    assert paper.full_text_url == "https://arxiv.org/pdf/2101.00001v2"
    assert paper.records == [SourceRecord(source=SOURCE, record_id="W42")]
    assert paper.raw_data == {"types": ["article"]}


def test_the_request_has_operators_years_language_and_a_page_size() -> None:
    sent = build_params(SOURCE, 50, year_from=2018, year_to=2022, language="English")
    assert sent["search"] == '((kiln OR "glass furnace") AND glaze NOT review)'
    assert sent["filter"] == "publication_year:2018-2022,language:en"
    assert (sent["per-page"], sent["cursor"]) == ("50", "*")
    assert "abstract_inverted_index" in sent["select"].split(",")


def test_open_year_ranges_and_large_limits_are_accepted() -> None:
    assert build_params(SOURCE, year_from=2018)["filter"] == "publication_year:2018-"
    assert build_params(SOURCE, year_to=2018)["filter"] == "publication_year:-2018"
    assert "filter" not in build_params(SOURCE)
    assert build_params(SOURCE, 1_000)["per-page"] == "100"


def test_the_next_page_is_requested_until_the_last() -> None:
    page = read_sample(SOURCE, OPENALEX, limit=2)
    assert page.found == 41
    (following,) = page.follow
    assert dict(following.params) == {**build_params(SOURCE, 2), "cursor": "IlsxMDAuMF0i"}
    assert read_sample(SOURCE, {"meta": {"next_cursor": "x"}, "results": []}).follow == ()


def test_a_work_without_a_title_or_with_wrong_types_is_skipped_and_the_others_stay() -> None:
    good = OPENALEX["results"][0]
    body = {
        "results": [None, "x", {**good, "title": None, "display_name": ""}, {**good, "authorships": "nobody"}, good]
    }
    assert [len(paper.authors) for paper in read_sample(SOURCE, body).papers] == [0, 2]


def test_the_display_name_replaces_a_missing_title() -> None:
    assert read_sample(SOURCE, make_work(title=None, display_name="Shown")).papers[0].title == "Shown"


def test_authors_journals_and_funders_are_not_papers() -> None:
    author = {"id": "https://openalex.org/A1", "display_name": "Ada Example", "works_count": 3}
    assert read_sample(SOURCE, author).papers == []
    assert read_sample(SOURCE, {"results": [author]}).papers == []


def test_a_single_work_is_read() -> None:
    assert [paper.title for paper in read_sample(SOURCE, OPENALEX["results"][0]).papers] == ["Glazes & kilns"]


def test_a_hostile_word_position_does_not_fill_the_memory() -> None:
    index = {"last": [10**12], "first": [0, None, "x"], "second": 1}
    assert read_sample(SOURCE, make_work(abstract_inverted_index=index)).papers[0].abstract == "first second last"


@pytest.mark.parametrize(
    ("changes", "kind"),
    [
        ({"type": "preprint"}, WorkType.PREPRINT),
        ({"type": "dissertation"}, WorkType.THESIS),
        ({"type": "book-chapter"}, WorkType.CHAPTER),
        ({"type": "article", "type_crossref": "proceedings-article"}, WorkType.CONFERENCE),
        ({"type": "article", "primary_location": {"source": {"type": "conference"}}}, WorkType.CONFERENCE),
        ({"type": "libguides"}, WorkType.OTHER),
        ({"type": None}, None),
    ],
)
def test_the_type_of_a_work_gives_the_work_type(changes: dict[str, Any], kind: WorkType | None) -> None:
    assert read_sample(SOURCE, make_work(**changes)).papers[0].work_type is kind


def test_an_error_in_a_200_response_is_an_error() -> None:
    with pytest.raises(NonRetryableError, match="not a valid field"):
        read_sample(SOURCE, {"error": "Invalid query parameters error.", "message": "x is not a valid field"})


@pytest.mark.parametrize(
    "refusal",
    [
        make_response({"error": "Rate limit exceeded", "message": "Insufficient budget. Resets at midnight UTC."}, 429),
        make_response({"creditsRequired": 10, "creditsRemaining": 3, "message": "Slow down"}, 429),
        make_response("", 429, x_ratelimit_remaining="0"),
        make_response("", 429, x_ratelimit_remaining="9", x_ratelimit_credits_required="10"),
    ],
)
def test_used_up_credits_are_not_retried(refusal: Any) -> None:
    error = definition.read_failure(refusal)
    assert isinstance(error, CreditsExhaustedError)
    assert "midnight" in error.hint


@pytest.mark.parametrize(
    "refusal",
    [
        make_response({"error": "Too many requests", "message": "Max 100 requests per second"}, 429, retry_after="1"),
        make_response("<html>429</html>", 429),
        make_response("", 429, x_ratelimit_remaining="9000", x_ratelimit_credits_required="10"),
        make_response({"message": "Insufficient patience", "creditsRemaining": 500}, 429),
    ],
)
def test_a_rate_limit_is_retryable(refusal: Any) -> None:
    error = definition.read_failure(refusal)
    assert isinstance(error, RetryableError)
    assert error.rate_limited


def test_other_refusals_are_reported_with_a_message_or_explained_by_status() -> None:
    assert "no such filter" in str(
        definition.read_failure(make_response({"error": "x", "message": "no such filter"}, 400))
    )
    assert definition.read_failure(make_response("<html>404</html>", 404)) is None
    assert definition.read_failure(make_response({"message": "down"}, 503)) is None


def test_a_query_without_wanted_terms_is_not_sent() -> None:
    assert definition.build_requests(SearchQuery(keywords=[], boolean_query="NOT x"), SearchConstraints(), 10) == []
    assert build_request(SOURCE).method == "GET"
