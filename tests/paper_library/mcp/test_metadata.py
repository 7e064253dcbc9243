"""`get_paper_metadata`: the metadata of a paper by any of its identifiers."""

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


def make_id(key: str) -> str:
    return hashlib.sha256(f"v1|{key}".encode()).hexdigest()[:32]


@requirement("PL-10")
def test_all_metadata_has_its_original_order_and_case(library: Caller) -> None:
    metadata = library.call_structured("get_paper_metadata", paper_id=inputs.ATTENTION_DOI)
    assert metadata.keys() >= KEYS
    assert metadata["title"] == "Attention for Weather: Transformers on Rain Radar"
    assert metadata["authors"] == ["Ada Öztürk", "Thị Minh Nguyễn", "John Smith"]
    assert (metadata["year"], metadata["venue"]) == (2021, "Conference on Learned Weather")
    assert metadata["abstract"].startswith("A transformer reads rain radar")
    assert metadata["identifiers"]["doi"] == inputs.ATTENTION_DOI
    assert metadata["keywords"] == ["transformer", "rain radar"]
    assert metadata["tags"] == ["nowcasting", "Transformer"]
    assert metadata["institutions"] == ["Institute of Sky", "University of Hven"]
    assert metadata["translations"] == ["zh"]


@requirement("PL-10")
def test_the_templates_are_listed_and_the_preferred_one_is_among_them(library: Caller) -> None:
    rich = library.call_structured("get_paper_metadata", paper_id=inputs.ATTENTION_DOI)
    assert set(rich["available_summary_templates"]) == {"default", "deep_read", "brief"}
    assert rich["preferred_summary_template"] in rich["available_summary_templates"]
    poor = library.call_structured("get_paper_metadata", paper_id=inputs.SOURCELESS)
    assert poor["available_summary_templates"] == ["default"]
    assert poor["preferred_summary_template"] == "default"


@requirement("PL-10")
def test_the_outline_has_the_offset_of_each_section(library: Caller) -> None:
    metadata = library.call_structured("get_paper_metadata", paper_id=inputs.ATTENTION_DOI)
    source = inputs.strip_front_matter(inputs.ATTENTION)
    assert [(one["level"], one["title"]) for one in metadata["outline"]] == [
        (1, "Introduction"),
        (2, "Data"),
        (1, "Results"),
    ]
    for one in metadata["outline"]:
        assert source[one["offset"] :].startswith(f"{'#' * one['level']} {one['title']}")
        read = library.call_text("get_paper_source", paper_id=metadata["paper_id"], offset=one["offset"])
        assert read.startswith(f"{'#' * one['level']} {one['title']}")
    assert metadata["source_chars"] == len(source)


@requirement("PL-10")
def test_a_missing_source_is_reported(library: Caller) -> None:
    metadata = library.call_structured("get_paper_metadata", paper_id=inputs.SOURCELESS)
    assert (metadata["has_source"], metadata["source_chars"], metadata["outline"], metadata["translations"]) == (
        False,
        0,
        [],
        [],
    )


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
def test_every_identifier_finds_the_paper_and_the_strongest_gives_its_id(
    library: Caller, names: list[str], key: str | None
) -> None:
    ids = {name: library.find_paper_id(name) for name in names}
    assert len(set(ids.values())) == 1, ids
    if key is not None:
        assert set(ids.values()) == {make_id(key)}
    assert library.find_paper_id(ids[names[0]]) == ids[names[0]]


@pytest.mark.parametrize(
    "name", ["10.5555/weather.2021", "10.5555/weather.2021.170", "2301.0424", "silent", "Silent1999x"]
)
def test_a_nearly_correct_identifier_finds_nothing(library: Caller, name: str) -> None:
    assert library.call_error("get_paper_metadata", paper_id=name)["code"] == "paper_not_found"


@requirement("PL-8", "PL-10")
def test_the_id_in_a_search_result_is_the_id_of_the_paper(library: Caller) -> None:
    for row in library.call_structured("search_papers", query="gravel", limit=100)["results"]:
        metadata = library.call_structured("get_paper_metadata", paper_id=row["paper_id"])
        assert [metadata[key] for key in ("paper_id", "title", "year", "venue")] == [
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
def test_every_tool_accepts_every_spelling_of_a_doi(library: Caller, spelled: str) -> None:
    metadata = library.call_structured("get_paper_metadata", paper_id=spelled)
    assert metadata["identifiers"]["doi"] == inputs.ATTENTION_DOI
    assert metadata["citation_key"]
    assert library.call_text("get_paper_source", paper_id=spelled, max_chars=50)
