from typing import Any

import pytest

from paper_search.models import Author, SearchQuery, WorkType
from paper_search.sources.dblp import definition
from tests.paper_search.sources.sample_answers import DBLP, DBLP_XML, build_params, make_response, read_sample

SOURCE = "dblp"
INFO = DBLP["result"]["hits"]["hit"][0]["info"]
PLAIN = SearchQuery(keywords=[], boolean_query='(kiln OR "glass furnace*") AND glaze')


def make_hits(*infos: Any) -> dict[str, Any]:
    return {"result": {"hits": {"@total": str(len(infos)), "hit": [{"info": info} for info in infos]}}}


def test_every_field_of_a_hit_is_read() -> None:
    (paper,) = read_sample(SOURCE, DBLP).papers
    assert paper.title == "Glazes & Kilns"
    assert paper.authors == [Author(name="Ada Example", author_id="1/2-9"), Author(name="Bo Sample")]
    assert (paper.year, paper.venue) == (2021, "KILN / GLAZE")
    assert paper.identifiers == {"doi": "10.5555/kiln.1", "arxiv": "2101.00001", "dblp": "conf/kiln/ExampleS21"}
    assert (paper.volume, paper.issue, paper.pages) == ("3", "2", "12-34")
    assert paper.work_type is WorkType.CONFERENCE
    assert paper.full_text_url == "https://doi.org/10.5555/kiln.1"


def test_the_xml_form_is_read_as_well() -> None:
    page = read_sample(SOURCE, DBLP_XML)
    (paper,) = page.papers
    assert (page.found, paper.title, paper.venue, paper.year) == (6, "Glazes and H2O", "KILN", 2021)
    assert paper.authors == [Author(name="Ada Example", author_id="1/2"), Author(name="Bo Sample")]


@pytest.mark.parametrize(
    ("authors", "names"),
    [
        ({"author": "Ada Example"}, ["Ada Example"]),
        ({"author": {"@pid": "1", "text": "Ada Example 0001"}}, ["Ada Example"]),
        ({"author": [{"text": "Ada 2nd"}, None, {"text": ""}]}, ["Ada 2nd"]),
        (None, []),
        ("Ada", []),
    ],
)
def test_authors_are_read_from_single_values_lists_texts_and_objects(authors: Any, names: list[str]) -> None:
    (paper,) = read_sample(SOURCE, make_hits({**INFO, "authors": authors})).papers
    assert [author.name for author in paper.authors] == names


@pytest.mark.parametrize(
    ("raw", "clean"), [("Kilns.", "Kilns"), ("Why Kilns?", "Why Kilns?"), ("And then...", "And then...")]
)
def test_one_final_full_stop_is_removed_from_a_title(raw: str, clean: str) -> None:
    assert read_sample(SOURCE, make_hits({**INFO, "title": raw})).papers[0].title == clean


def test_the_request_has_the_words_with_bars_for_or() -> None:
    sent = build_params(SOURCE, 30, PLAIN)
    assert sent["q"] == "kiln|glass kiln|furnace glaze"
    assert (sent["format"], sent["h"], sent["f"]) == ("json", "30", "0")
    assert build_params(SOURCE, 5_000, PLAIN)["h"] == "1000"


def test_more_papers_are_requested_if_filters_apply_afterwards() -> None:
    assert build_params(SOURCE, 30, PLAIN, year_from=2018)["h"] == "1000"
    assert build_params(SOURCE, 30)["h"] == "1000"


def test_the_next_page_is_requested_until_the_last() -> None:
    page = read_sample(SOURCE, DBLP, limit=2)
    assert page.found == 103
    assert dict(page.follow[0].params)["f"] == "1"
    assert read_sample(SOURCE, make_hits(INFO), limit=2).follow == ()


@pytest.mark.parametrize(
    ("changes", "kind"),
    [
        ({"type": "Journal Articles"}, WorkType.ARTICLE),
        ({"type": "Books and Theses"}, WorkType.BOOK),
        ({"type": "Books and Theses", "key": "phd/x/Example21"}, WorkType.THESIS),
        ({"type": "Informal and Other Publications", "key": "journals/corr/abs-2101-00001"}, WorkType.PREPRINT),
        ({"type": "Informal and Other Publications", "key": "tr/x/Y21"}, WorkType.OTHER),
        ({"type": None}, None),
    ],
)
def test_the_type_of_a_hit_gives_the_work_type(changes: dict[str, Any], kind: WorkType | None) -> None:
    assert read_sample(SOURCE, make_hits({**INFO, **changes})).papers[0].work_type is kind


def test_a_search_without_hits_is_empty() -> None:
    page = read_sample(SOURCE, {"result": {"hits": {"@total": "0", "@sent": "0", "@first": "0"}}})
    assert (page.papers, page.follow, page.found) == ([], (), 0)


def test_refusals_are_explained_by_their_status() -> None:
    assert definition.read_failure(make_response("", 500)) is None
