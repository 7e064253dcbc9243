from typing import Any

import pytest

from paper_search.errors import NonRetryableError
from paper_search.models import Author, WorkType
from paper_search.sources.crossref import definition
from paper_search.sources.response_bodies import replace_params
from tests.paper_search.sources.sample_answers import CROSSREF, build_params, build_request, make_response, read_sample

SOURCE = "crossref"
WORK = CROSSREF["message"]["items"][0]


def make_works(*items: Any) -> dict[str, Any]:
    return {"status": "ok", "message-type": "work-list", "message": {"total-results": len(items), "items": list(items)}}


def test_every_field_of_a_work_is_read() -> None:
    (paper,) = read_sample(SOURCE, CROSSREF).papers
    assert paper.title == "Glazes & kilns"
    assert paper.authors == [
        Author(name="Ada Example", author_id="0000-0000-0000-0001"),
        Author(name="The Kiln Group"),
        Author(name="Bo Sample Jr."),
    ]
    assert (paper.year, paper.venue, paper.publisher) == (2021, "Journal of Kilns & Clay", "Clay Press")
    assert paper.doi == "10.5555/kiln.1"
    assert paper.abstract == "H2O, p < 0.05."
    assert paper.identifiers == {"doi": "10.5555/kiln.1"}
    assert (paper.volume, paper.issue, paper.pages) == ("3", "2", "12-34")
    assert (paper.citation_count, paper.work_type) == (7, WorkType.ARTICLE)
    assert paper.full_text_url == "https://clay.example.org/1.pdf"


def test_a_copy_without_an_open_licence_is_not_a_full_text_link() -> None:
    assert (
        read_sample(SOURCE, make_works({**WORK, "license": []})).papers[0].full_text_url
        == "https://doi.org/10.5555/KILN.1"
    )


def test_the_request_has_the_words_and_years() -> None:
    sent = build_params(SOURCE, 30, year_from=2018, year_to=2022, language="en")
    assert sent["query.bibliographic"] == "kiln glass furnace glaze"
    assert sent["filter"] == "from-pub-date:2018-01-01,until-pub-date:2022-12-31"
    assert (sent["rows"], sent["offset"]) == ("60", "0"), "twice as many, since reviews are taken out afterwards"


def test_the_page_size_is_bounded() -> None:
    assert build_params(SOURCE, 1_000)["rows"] == "200"


def test_the_next_page_is_requested_until_the_last() -> None:
    full = {**CROSSREF, "message": {"total-results": 900, "items": [WORK] * 4}}
    page = read_sample(SOURCE, full, limit=5)
    assert page.found == 900
    assert page.follow == (), "four of ten rows came, so there are no more"
    page = definition.read_response(_asking(rows="4"), make_response(full))
    assert dict(page.follow[0].params)["offset"] == "4"
    assert definition.read_response(_asking(rows="4", offset="896"), make_response(full)).follow == ()


def test_more_papers_than_an_offset_reaches_are_requested_by_cursor() -> None:
    request = build_request(SOURCE, 15_000)
    assert (dict(request.params)["cursor"], "offset" in dict(request.params)) == ("*", False)
    works = [WORK] * 200
    full = {**CROSSREF, "message": {"total-results": 20_000, "items": works, "next-cursor": "DnF1ZXJ5"}}
    (following,) = definition.read_response(request, make_response(full)).follow
    assert dict(following.params)["cursor"] == "DnF1ZXJ5"
    assert definition.read_response(request, make_response(make_works())).follow == ()


def _asking(**changes: str) -> Any:
    return replace_params(build_request(SOURCE, 5), **changes)


@pytest.mark.parametrize("title", [[], [""], None, "", [None], {"x": 1}])
def test_a_work_without_a_title_is_skipped_and_the_others_stay(title: Any) -> None:
    assert len(read_sample(SOURCE, make_works({**WORK, "title": title}, None, WORK)).papers) == 1


@pytest.mark.parametrize(
    ("dates", "year"),
    [
        ({"issued": {"date-parts": [["2019"]]}}, 2019),
        ({"issued": {"date-parts": []}, "posted": {"date-parts": [[2020, 1, 1]]}}, 2020),
        ({"issued": None, "published": {"date-parts": [[2018]]}}, 2018),
        ({"issued": "2019"}, None),
    ],
)
def test_the_year_is_read_from_the_first_available_date(dates: dict[str, Any], year: int | None) -> None:
    bare = {key: value for key, value in WORK.items() if "published" not in key}
    assert read_sample(SOURCE, make_works({**bare, **dates})).papers[0].year == year


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("proceedings-article", WorkType.CONFERENCE),
        ("posted-content", WorkType.PREPRINT),
        ("monograph", WorkType.BOOK),
        ("book-chapter", WorkType.CHAPTER),
        ("dissertation", WorkType.THESIS),
        ("component", WorkType.OTHER),
        (None, None),
    ],
)
def test_the_type_of_a_work_gives_the_work_type(kind: str | None, expected: WorkType | None) -> None:
    assert read_sample(SOURCE, make_works({**WORK, "type": kind})).papers[0].work_type is expected


@pytest.mark.parametrize(
    ("title", "subtitle", "joined"),
    [
        ("Glazes", ["A study of kilns"], "Glazes: A study of kilns"),
        ("Glazes.", ["A study of kilns."], "Glazes: A study of kilns"),
        ("What are glazes?", ["A study"], "What are glazes? A study"),
        ("Glazes:", ["A study"], "Glazes: A study"),
        ("Glazes: A Study of Kilns", ["A study of kilns"], "Glazes: A Study of Kilns"),
        ("<i>Glazes</i>", ["A <b>study</b> &amp; more"], "Glazes: A study & more"),
        ("Glazes", ["One", "Eins"], "Glazes: One"),
        ("Glazes", [], "Glazes"),
        ("Glazes", [""], "Glazes"),
        ("Glazes", None, "Glazes"),
        ("Glazes", [None, 7], "Glazes: 7"),
    ],
)
def test_a_subtitle_is_joined_to_its_title(title: str, subtitle: Any, joined: str) -> None:
    assert read_sample(SOURCE, make_works({**WORK, "title": [title], "subtitle": subtitle})).papers[0].title == joined


@pytest.mark.parametrize(
    ("title", "clean"),
    [
        ("Growth of<i>E. coli</i>strains", "Growth of E. coli strains"),
        ("Growth of<i>Burkholderia terrae</i>BS001", "Growth of Burkholderia terrae BS001"),
        ("dry<i>versus</i>wet", "dry versus wet"),
        ("<b>P</b>otters and the <i>N</i>-body", "Potters and the N-body"),
        ("HfO<sub>2</sub> on La<sub>0.7</sub>Sr<sub>0.3</sub>MnO<sub>3</sub>", "HfO2 on La0.7Sr0.3MnO3"),
        (
            'in the<mml:math xmlns:mml="x"><mml:mi>N</mml:mi> <mml:mo>=</mml:mo><mml:mn>88</mml:mn></mml:math>nucleus',
            "in the N=88 nucleus",
        ),
        ("H<math><msub><mrow/><mn>2</mn></msub></math>O glazes", "H2O glazes"),
        (
            '<mml:math><mml:mi>x</mml:mi><mml:annotation encoding="tex">\\mathbf{x}</mml:annotation></mml:math> rays',
            "x rays",
        ),
        ("<jats:title>Glazes</jats:title> &lt;i&gt;and&lt;/i&gt; kilns", "Glazes and kilns"),
        ("<o:p>Glazes</o:p> of <cite class='x'>clay</cite>", "Glazes of clay"),
        ("Firing at T<sub>c</sub> < 900 and > 800", "Firing at Tc < 900 and > 800"),
        ("Glazes in the U.S.", "Glazes in the U.S."),
        ("Glazes and so on...", "Glazes and so on..."),
        ("Glazes of clay.", "Glazes of clay"),
        ("Glazes in phase 2.", "Glazes in phase 2"),
        ("Glazes of Brahe, T.", "Glazes of Brahe, T."),
    ],
)
def test_a_title_is_free_of_markup_and_of_a_closing_full_stop(title: str, clean: str) -> None:
    assert read_sample(SOURCE, make_works({**WORK, "title": [title]})).papers[0].title == clean


def test_editors_are_read_only_without_authors() -> None:
    editors = [
        {"given": "Eda", "family": "Kiln", "ORCID": "http://orcid.org/0000-0000-0000-0002"},
        {"name": "Clay Inc"},
    ]
    edited = read_sample(SOURCE, make_works({**WORK, "author": [], "editor": editors, "type": "edited-book"})).papers[0]
    assert edited.authors == []
    assert edited.editors == [Author(name="Eda Kiln", author_id="0000-0000-0000-0002"), Author(name="Clay Inc")]
    written = read_sample(SOURCE, make_works({**WORK, "editor": editors})).papers[0]
    assert written.authors
    assert written.editors == []


def test_the_date_of_registration_is_the_last_resort_for_the_year_and_marked_as_such() -> None:
    undated = {**{key: value for key, value in WORK.items() if "published" not in key}, "issued": None}
    created = {"created": {"date-parts": [[2015, 1, 13]]}}
    paper = read_sample(SOURCE, make_works({**undated, **created})).papers[0]
    assert (paper.year, paper.provenance) == (2015, {"year": "crossref (date of registration)"})
    assert paper.has_registration_year
    dated = read_sample(SOURCE, make_works({**WORK, **created})).papers[0]
    assert (dated.year, dated.provenance, dated.has_registration_year) == (2021, {}, False)
    assert read_sample(SOURCE, make_works(undated)).papers[0].provenance == {}


def test_lists_of_journals_members_and_funders_have_no_papers() -> None:
    journals = {"status": "ok", "message-type": "journal-list", "message": {"items": [{"title": "Journal of Kilns"}]}}
    assert read_sample(SOURCE, journals).papers == []


def test_a_single_work_is_read() -> None:
    single = {"status": "ok", "message-type": "work", "message": WORK}
    assert [paper.title for paper in read_sample(SOURCE, single).papers] == ["Glazes & kilns"]


def test_a_failure_in_a_200_response_is_an_error_with_its_message() -> None:
    failed = {"status": "failed", "message-type": "validation-failure", "message": [{"message": "no such filter"}]}
    with pytest.raises(NonRetryableError, match="no such filter"):
        read_sample(SOURCE, failed)
    assert "no such filter" in str(definition.read_failure(make_response(failed, 400)))


def test_refusals_without_a_message_are_explained_by_their_status() -> None:
    assert definition.read_failure(make_response("Resource not found.", 404)) is None
    assert definition.read_failure(make_response("<html>504</html>", 504)) is None
