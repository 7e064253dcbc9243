import pytest

from paper_search.errors import NonRetryableError, RetryableError
from paper_search.models import WorkType
from paper_search.sources.pubmed import definition
from paper_search.sources.response_bodies import replace_params
from tests.paper_search.sources.sample_answers import (
    EFETCH,
    ESEARCH,
    JATS,
    build_params,
    build_request,
    make_response,
    read_sample,
)

SOURCE = "pubmed"


def test_every_field_of_a_citation_is_read() -> None:
    paper, _ = read_sample(SOURCE, EFETCH).papers
    assert paper.title == "Glazes of H2O in kilns"
    assert [author.name for author in paper.authors] == ["Ada Example 3rd", "The Kiln Group"]
    assert (paper.year, paper.venue) == (2021, "Journal of Kilns")
    assert paper.abstract == "AIM: We fire glazes. They melt."
    assert paper.identifiers == {"doi": "10.5555/kiln.1", "pmid": "123", "pmcid": "PMC9"}
    assert (paper.volume, paper.issue, paper.pages) == ("3", "2", "112-134")
    assert (paper.language, paper.work_type) == ("en", WorkType.ARTICLE)
    assert paper.full_text_url == "https://pmc.ncbi.nlm.nih.gov/articles/PMC9/"
    assert paper.raw_data == {"types": ["Review"]}


def test_a_book_is_read() -> None:
    _, book = read_sample(SOURCE, EFETCH).papers
    assert (book.title, book.year, book.publisher) == ("The Kiln Book", 2009, "Clay Press")
    assert [author.name for author in book.authors] == ["B Sample"]
    assert (book.language, book.work_type) == ("de", WorkType.BOOK)
    assert book.full_text_url == "https://www.ncbi.nlm.nih.gov/books/NBK1/"


def test_a_chapter_appears_in_its_book() -> None:
    chapters = EFETCH.replace("<Language>ger", "<ArticleTitle>Firing</ArticleTitle><Language>ger")
    chapter = read_sample(SOURCE, chapters).papers[1]
    assert (chapter.title, chapter.venue, chapter.work_type) == ("Firing", "The Kiln Book", WorkType.CHAPTER)


def test_an_article_of_pubmed_central_is_read() -> None:
    (paper,) = read_sample(SOURCE, JATS).papers
    assert (paper.title, paper.year, paper.venue) == ("Glazes in kilns", 2021, "Journal of Kilns")
    assert [author.name for author in paper.authors] == ["Ada Example"]
    assert paper.identifiers == {"doi": "10.5555/kiln.1", "pmcid": "PMC9"}
    assert (paper.abstract, paper.pages) == ("We fire glazes.", "12-34")


def test_the_original_title_replaces_an_untranslated_title() -> None:
    untranslated = EFETCH.replace(
        "<ArticleTitle>Glazes of H<sub>2</sub>O in <i>kilns</i>.</ArticleTitle>",
        "<ArticleTitle>[Not Available].</ArticleTitle><VernacularTitle>Glasuren</VernacularTitle>",
    )
    assert read_sample(SOURCE, untranslated).papers[0].title == "Glasuren"


def test_a_doi_declared_invalid_is_not_used() -> None:
    assert read_sample(SOURCE, EFETCH.replace('ValidYN="Y"', 'ValidYN="N"')).papers[0].doi is None


def test_a_citation_without_a_title_is_skipped_and_the_others_stay() -> None:
    broken = EFETCH.replace("<PubmedArticleSet>", "<PubmedArticleSet><PubmedArticle/><PubmedBookArticle/>")
    assert len(read_sample(SOURCE, broken).papers) == 2


def test_the_request_has_the_query_years_and_language() -> None:
    sent = build_params(SOURCE, 30, year_from=2018, year_to=2022, language="en")
    assert sent["term"] == '((kiln OR "glass furnace") AND glaze NOT review) AND 2018:2022[dp] AND english[la]'
    assert (sent["db"], sent["retmode"], sent["retmax"]) == ("pubmed", "json", "30")
    assert "1000:2018[dp]" in build_params(SOURCE, year_to=2018)["term"]


def test_ids_are_fetched_in_batches_of_a_hundred() -> None:
    ids = [str(number) for number in range(1, 301)]
    page = read_sample(SOURCE, {"esearchresult": {"count": "4321", "idlist": ids}}, limit=250)
    assert (page.papers, page.found) == ([], 4321)
    assert [request.method for request in page.follow] == ["POST", "POST", "POST", "GET"]
    fetched = [dict(request.form) for request in page.follow[:3]]
    assert [form["id"].split(",") for form in fetched] == [ids[:100], ids[100:200], ids[200:300]]
    assert {form["retmode"] for form in fetched} == {"xml"}


@pytest.mark.parametrize(
    ("start", "received", "count", "following"),
    [
        (0, 250, 4_321, ("250", "250")),
        (9_750, 250, 20_000, None),
        (9_500, 250, 20_000, ("250", "249")),
        (0, 250, 250, None),
        (0, 0, 9, None),
    ],
)
def test_further_ids_are_requested_up_to_the_number_that_pubmed_gives_out(
    start: int, received: int, count: int, following: tuple[str, str] | None
) -> None:
    request = replace_params(build_request(SOURCE, 250), retstart=start)
    ids = [str(number) for number in range(1, received + 1)]
    body = {"esearchresult": {"count": str(count), "idlist": ids}}
    page = definition.read_response(request, make_response(body))
    searches = [dict(further.params) for further in page.follow if further.method == "GET"]
    assert [search["term"] for search in searches] == [dict(request.params)["term"]] * bool(following)
    if following:
        assert searches[0]["retmax"] == following[1]
        assert int(searches[0]["retstart"]) == start + received


def test_the_xml_form_of_a_search_is_read() -> None:
    body = "<eSearchResult><Count>9</Count><IdList><Id>123</Id><Id>124</Id></IdList></eSearchResult>"
    page = read_sample(SOURCE, body)
    assert page.found == 9
    assert dict(page.follow[0].form)["id"] == "123,124"


def test_a_search_that_finds_nothing_is_empty() -> None:
    assert read_sample(SOURCE, {"esearchresult": {"count": "0", "idlist": []}}).follow == ()
    assert read_sample(SOURCE, "<eSearchResult><Count>0</Count><IdList/></eSearchResult>").follow == ()


@pytest.mark.parametrize(
    "body", ["<eInfoResult><DbList/></eInfoResult>", "<eSpellResult><ERROR/></eSpellResult>", "<eLinkResult/>"]
)
def test_answers_without_records_give_no_papers(body: str) -> None:
    assert read_sample(SOURCE, body).papers == []


@pytest.mark.parametrize(
    "body",
    [
        {"error": "API rate limit exceeded", "count": "4"},
        {"esearchresult": {"ERROR": "Search Backend failed: read request has failed"}},
        "<eFetchResult><ERROR>Unable to obtain query #1</ERROR></eFetchResult>",
    ],
)
def test_a_temporary_failure_in_a_200_response_is_retryable(body: dict[str, str] | str) -> None:
    with pytest.raises(RetryableError):
        read_sample(SOURCE, body)


def test_a_permanent_failure_in_a_200_response_is_reported() -> None:
    with pytest.raises(NonRetryableError, match="Invalid db name"):
        read_sample(SOURCE, {"esearchresult": {"ERROR": "Invalid db name specified: x"}})
    assert "bad id" in str(definition.read_failure(make_response({"error": "bad id"}, 400)))


def test_the_sample_search_requests_the_records_it_found() -> None:
    page = definition.read_response(build_request(SOURCE), make_response(ESEARCH))
    assert [dict(request.form)["id"] for request in page.follow if request.form] == ["123,124"]
