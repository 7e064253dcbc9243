"""`get_paper_metadata`: what is known of a paper, by any of its names."""

import hashlib

import pytest

from tests.paper_library.mcp import inputs
from tests.paper_library.mcp.http_client import Caller
from tests.requirements import requirement

KEYS = {
    "paper_id",
    "title",
    "authors",
    "year",
    "venue",
    "abstract",
    "identifiers",
    "keywords",
    "tags",
    "institutions",
    "preferred_summary_template",
    "available_summary_templates",
    "translations",
    "has_source",
    "source_chars",
    "outline",
}


def id_from(key: str) -> str:
    return hashlib.sha256(f"v1|{key}".encode()).hexdigest()[:32]


@requirement("PL-10")
def test_everything_known_is_reported_in_the_order_and_case_it_was_given(library: Caller) -> None:
    said = library.answer("get_paper_metadata", paper_id=inputs.ATTENTION_DOI)
    assert said.keys() >= KEYS
    assert said["title"] == "Attention for Weather: Transformers on Rain Radar"
    assert said["authors"] == ["Ada Öztürk", "Thị Minh Nguyễn", "John Smith"]
    assert (said["year"], said["venue"]) == (2021, "Conference on Learned Weather")
    assert said["abstract"].startswith("A transformer reads rain radar")
    assert said["identifiers"]["doi"] == inputs.ATTENTION_DOI
    assert said["keywords"] == ["transformer", "rain radar"]
    assert said["tags"] == ["nowcasting", "Transformer"]
    assert said["institutions"] == ["Institute of Sky", "University of Hven"]
    assert said["translations"] == ["zh"]


@requirement("PL-10")
def test_the_templates_are_listed_and_the_preferred_one_is_among_them(library: Caller) -> None:
    rich = library.answer("get_paper_metadata", paper_id=inputs.ATTENTION_DOI)
    assert set(rich["available_summary_templates"]) == {"default", "deep_read", "brief"}
    assert rich["preferred_summary_template"] in rich["available_summary_templates"]
    poor = library.answer("get_paper_metadata", paper_id=inputs.SOURCELESS)
    assert poor["available_summary_templates"] == ["default"]
    assert poor["preferred_summary_template"] == "default"


@requirement("PL-10")
def test_the_outline_reports_where_in_the_source_each_section_begins(library: Caller) -> None:
    said = library.answer("get_paper_metadata", paper_id=inputs.ATTENTION_DOI)
    source = inputs.strip_front_matter(inputs.ATTENTION)
    assert [(one["level"], one["title"]) for one in said["outline"]] == [
        (1, "Introduction"),
        (2, "Data"),
        (1, "Results"),
    ]
    for one in said["outline"]:
        assert source[one["offset"] :].startswith(f"{'#' * one['level']} {one['title']}")
        read = library.text("get_paper_source", paper_id=said["paper_id"], offset=one["offset"])
        assert read.startswith(f"{'#' * one['level']} {one['title']}")
    assert said["source_chars"] == len(source)


@requirement("PL-10")
def test_a_missing_source_is_reported(library: Caller) -> None:
    said = library.answer("get_paper_metadata", paper_id=inputs.SOURCELESS)
    assert (said["has_source"], said["source_chars"], said["outline"], said["translations"]) == (False, 0, [], [])


@requirement("PL-10")
@pytest.mark.parametrize(
    ("names", "key"),
    [
        (
            [
                "10.5555/weather.2021.17",
                "10.5555/WEATHER.2021.17",
                "doi:10.5555/weather.2021.17",
                "DOI: 10.5555/weather.2021.17",
                "https://doi.org/10.5555/weather.2021.17",
                "http://dx.doi.org/10.5555/Weather.2021.17",
                "https://doi.org/10.5555%2Fweather.2021.17",
                " 10.5555/weather.2021.17. ",
                "oztuerk2021attention",
            ],
            "doi:10.5555/weather.2021.17",
        ),
        (
            [
                "2301.04242",
                "2301.04242v3",
                "arXiv:2301.04242",
                "arxiv:2301.04242v1",
                "https://arxiv.org/abs/2301.04242",
                "https://arxiv.org/pdf/2301.04242v2",
                "10.48550/arXiv.2301.04242",
                "preprint2301",
            ],
            "arxiv:2301.04242",
        ),
        (["silent1999", " silent1999 ", "bib:silent1999"], "bib:silent1999"),
        (["10.1016/S0140-6736(10)00123-4", "https://doi.org/10.1016/s0140-6736(10)00123-4", "bracket2010"], None),
    ],
)
def test_every_name_of_a_paper_leads_to_it_and_its_id_follows_from_the_strongest(
    library: Caller, names: list[str], key: str | None
) -> None:
    ids = {name: library.id_of(name) for name in names}
    assert len(set(ids.values())) == 1, ids
    if key is not None:
        assert set(ids.values()) == {id_from(key)}
    assert library.id_of(ids[names[0]]) == ids[names[0]]


@pytest.mark.parametrize(
    "name", ["10.5555/weather.2021", "10.5555/weather.2021.170", "2301.0424", "silent", "Silent1999x"]
)
def test_a_name_that_is_nearly_right_names_nothing(library: Caller, name: str) -> None:
    assert library.failure("get_paper_metadata", paper_id=name)["code"] == "paper_not_found"


@requirement("PL-8", "PL-10")
def test_the_id_in_a_search_result_is_the_id_of_the_paper(library: Caller) -> None:
    for row in library.answer("search_papers", query="gravel", limit=100)["results"]:
        said = library.answer("get_paper_metadata", paper_id=row["paper_id"])
        assert [said[key] for key in ("paper_id", "title", "year", "venue")] == [
            row[key] for key in ("paper_id", "title", "year", "venue")
        ]


@requirement("PL-10")
@pytest.mark.parametrize(
    "spelled",
    [
        "doi.org/10.5555/weather.2021.17",
        "urn:doi:10.5555/WEATHER.2021.17",
        "https://doi.org/10.5555/weather.2021.17?utm=1",
        " 10.5555/weather.2021.17/ ",
        "<https://dx.doi.org/10.5555%2Fweather.2021.17#abstract>",
    ],
)
def test_every_spelling_of_a_doi_is_understood_wherever_a_paper_is_named(library: Caller, spelled: str) -> None:
    said = library.answer("get_paper_metadata", paper_id=spelled)
    assert said["identifiers"]["doi"] == inputs.ATTENTION_DOI
    assert said["citation_key"]
    assert library.text("get_paper_source", paper_id=spelled, max_chars=50)
