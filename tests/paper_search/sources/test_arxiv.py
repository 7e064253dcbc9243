from dataclasses import replace

import pytest

from paper_search.errors import NonRetryableError, RetryableError
from paper_search.models import WorkType
from paper_search.sources.arxiv import definition
from tests.paper_search.sources.sample_answers import ARXIV, ARXIV_ERROR, build_params, make_response, read_sample

SOURCE = "arxiv"


def test_every_field_of_an_entry_is_read() -> None:
    (paper,) = read_sample(SOURCE, ARXIV).papers
    assert paper.title == "Glazes and kilns"
    assert [author.name for author in paper.authors] == ["Ada Example", "Bo Sample"]
    assert (paper.year, paper.venue) == (2021, "J. Kilns 3 (2022) 12")
    assert paper.doi == "10.5555/kiln.1"
    assert paper.abstract == "We fire glazes & wait."
    assert paper.identifiers == {"doi": "10.5555/kiln.1", "arxiv": "2101.00001"}
    assert paper.work_type is WorkType.PREPRINT
    assert paper.full_text_url == "https://arxiv.org/pdf/2101.00001v2"
    assert paper.records[0].record_id == "2101.00001v2"
    assert paper.raw_data == {"categories": ["physics.app-ph"], "comment": "3 pages"}


def test_the_venue_of_an_entry_without_a_journal_is_arxiv() -> None:
    assert read_sample(SOURCE, ARXIV.replace("J. Kilns 3 (2022) 12", "")).papers[0].venue == "arXiv"


def test_the_request_has_fields_operators_and_dates() -> None:
    sent = build_params(SOURCE, 30, year_from=2018, year_to=2022)
    assert sent["search_query"] == (
        '((all:kiln OR all:"glass furnace") AND all:glaze ANDNOT all:review)'
        " AND submittedDate:[201801010000 TO 202212312359]"
    )
    assert (sent["start"], sent["max_results"]) == ("0", "30")
    assert build_params(SOURCE, year_from=2018)["search_query"].endswith("[201801010000 TO 299912312359]")
    assert "submittedDate" not in build_params(SOURCE)["search_query"]


def test_a_page_has_at_most_a_hundred_entries() -> None:
    assert build_params(SOURCE, 1_000)["max_results"] == "100"


def test_the_next_page_is_requested_until_the_last() -> None:
    page = read_sample(SOURCE, ARXIV, limit=2)
    assert page.found == 31
    assert dict(page.follow[0].params)["start"] == "1"
    second = definition.read_response(page.follow[0], make_response(ARXIV))
    assert dict(second.follow[0].params)["start"] == "2"
    last = dict(page.follow[0].params) | {"start": "30"}
    ended = replace(page.follow[0], params=tuple(last.items()))
    assert definition.read_response(ended, make_response(ARXIV)).follow == ()
    assert read_sample(SOURCE, ARXIV.replace(">31<", ">1<"), limit=2).follow == ()


def test_an_error_feed_is_an_error_with_any_status() -> None:
    with pytest.raises(NonRetryableError, match="start must be an integer"):
        read_sample(SOURCE, ARXIV_ERROR)
    assert "start must be an integer" in str(definition.read_failure(make_response(ARXIV_ERROR, 400)))


def test_refusals_that_are_not_feeds_are_explained_by_their_status() -> None:
    assert definition.read_failure(make_response("Rate exceeded.", 429)) is None
    assert definition.read_failure(make_response("<html>busy</html>", 503)) is None


def test_a_feed_without_entries_is_empty() -> None:
    page = read_sample(SOURCE, '<feed xmlns="http://www.w3.org/2005/Atom"/>')
    assert (page.papers, page.follow) == ([], ())


def test_a_page_without_the_entries_it_counts_is_a_temporary_failure() -> None:
    before, _, rest = ARXIV.partition("<entry>")
    with pytest.raises(RetryableError, match="empty page"):
        read_sample(SOURCE, before + rest.rpartition("</entry>")[2])


def test_an_entry_without_a_title_is_skipped_and_the_others_stay() -> None:
    untitled = "<entry><id>http://arxiv.org/abs/2101.00002v1</id><title> </title></entry>"
    assert len(read_sample(SOURCE, ARXIV.replace("</feed>", untitled + "</feed>")).papers) == 1
