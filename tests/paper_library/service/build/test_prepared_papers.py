"""The metadata and assets of a paper on a shelf."""

import json
from typing import Any

import pytest

from paper_library.domain.entries import Entry
from paper_library.domain.entry_matcher import make_keys
from paper_library.domain.merging import merge_entries
from paper_library.service.build.prepared_papers import PreparedPaper, normalise_template_name, prepare_paper
from tests.paper_library.service.build.readers.entries import make_entry

SOURCE = "# Fish\n\nThey swim.\n\n## Deep ones\n\nThey *sink*."


def prepare_entry(entry: Entry, *, omit_default_summary: bool = False) -> PreparedPaper:
    return prepare_paper(merge_entries([(entry, make_keys(entry))]), omit_default_summary=omit_default_summary)


def make_metadata(entry: Entry) -> dict[str, Any]:
    return json.loads(prepare_entry(entry).metadata)


def test_the_metadata_has_all_known_values_in_their_order() -> None:
    result = make_metadata(
        make_entry(
            "a.md",
            "Deep Fish",
            authors=["Kurt Gödel", "Ada Lovelace"],
            year=2019,
            month=5,
            venue="Sea",
            abstract="About fish.",
            doi="10.1000/X",
            keywords=["Fish"],
            tags=["wet"],
            institutions=["Uni"],
            source=SOURCE,
            translations={"ZH": "鱼"},
            bibtex="@article{x}",
        )
    )
    assert result["authors"] == ["Kurt Gödel", "Ada Lovelace"]
    assert result["identifiers"] == {"doi": "10.1000/x"}
    assert (result["keywords"], result["tags"], result["institutions"]) == (["Fish"], ["wet"], ["Uni"])
    assert (result["translations"], result["translation_chars"]) == (["zh"], {"zh": 1})
    assert (result["has_source"], result["source_chars"], result["has_bibtex"]) == (True, len(SOURCE), True)
    assert [heading["title"] for heading in result["outline"]] == ["Fish", "Deep ones"]
    assert [SOURCE[heading["offset"] :].splitlines()[0] for heading in result["outline"]] == ["# Fish", "## Deep ones"]


def test_the_metadata_of_an_empty_paper_has_every_key() -> None:
    assert (
        make_metadata(make_entry("a.md", "Bare")).keys()
        == make_metadata(make_entry("a.md", "Full", source=SOURCE, year=1)).keys()
    )


@pytest.mark.parametrize(
    ("summaries", "wanted", "preferred"),
    [
        ({}, "", "default"),
        ({"deep_read": {}}, "", "deep_read"),
        ({"deep_read": {}, "simple": {}}, "", "simple"),
        ({"deep_read": {}, "simple": {}}, "Deep Read", "deep_read"),
        ({"deep_read": {}}, "gone", "deep_read"),
    ],
)
def test_the_preferred_summary_is_the_requested_one_then_simple_then_any(
    summaries: dict[str, Any], wanted: str, preferred: str
) -> None:
    result = make_metadata(make_entry("a.md", summaries=summaries, preferred_summary=wanted))
    assert result["preferred_summary_template"] == preferred
    assert set(result["available_summary_templates"]) == {"default", *summaries}


def test_a_template_name_is_safe_in_an_address() -> None:
    assert normalise_template_name(" Deep Read! (v2) ") == "deep_read_v2"
    assert normalise_template_name("../../etc/passwd") == "etc_passwd"
    assert len(normalise_template_name("x" * 1000)) == 64


def test_a_template_named_in_another_script_still_has_a_name() -> None:
    assert all(make_metadata(make_entry("a.md", summaries={"摘要": {"text": "x"}}))["available_summary_templates"])


def test_two_templates_with_the_same_normalised_name_are_both_preserved() -> None:
    result = make_metadata(make_entry("a.md", summaries={"Deep Read": {"text": "x"}, "deep_read": {"text": "y"}}))
    assert len(result["available_summary_templates"]) == 3


def test_every_asset_has_the_digest_of_its_contents() -> None:
    import hashlib

    assets = prepare_entry(
        make_entry("a.md", source=SOURCE, translations={"zh": "鱼"}, summaries={"simple": {"a": 1}})
    ).assets
    assert {(asset.kind, asset.name) for asset in assets} == {
        ("summary", "default"),
        ("summary", "simple"),
        ("source", ""),
        ("translation", "zh"),
    }
    for asset in assets:
        assert asset.sha256 == hashlib.sha256(asset.content).hexdigest()
        assert asset.chars == len(asset.content.decode())


def test_on_a_large_shelf_only_papers_with_other_assets_have_files() -> None:
    assert prepare_entry(make_entry("a.bib:1", abstract="About fish."), omit_default_summary=True).assets == []
    assert len(prepare_entry(make_entry("a.md", source=SOURCE), omit_default_summary=True).assets) == 2


def test_omitting_default_summaries_does_not_change_the_digest() -> None:
    entry = make_entry("a.bib:1", abstract="About fish.")
    assert prepare_entry(entry, omit_default_summary=True).digest == prepare_entry(entry).digest


@pytest.mark.parametrize(
    "change",
    [
        {"abstract": "Other."},
        {"source": "# Other"},
        {"translations": {"zh": "其"}},
        {"summaries": {"simple": {"a": 2}}},
        {"bibtex": "@book{y}"},
        {"year": 2020},
        {"summaries": {"default": {"a": 2}}},
    ],
)
def test_every_change_of_a_paper_changes_its_digest(change: dict[str, Any]) -> None:
    facts: dict[str, Any] = {
        "abstract": "One.",
        "source": SOURCE,
        "translations": {"zh": "鱼"},
        "summaries": {"simple": {"a": 1}, "default": {"a": 1}},
        "bibtex": "@article{x}",
        "year": 2019,
    }
    summaries = {**facts["summaries"], **change.get("summaries", {})}
    assert (
        prepare_entry(make_entry("a.md", **facts)).digest
        != prepare_entry(make_entry("a.md", **{**facts, **change, "summaries": summaries})).digest
    )


def test_words_at_any_depth_of_a_summary_are_searched() -> None:
    result = {"a": ["**one**", {"b": "two"}], "n": 3}
    (text,) = prepare_entry(make_entry("a.md", summaries={"deep": result})).texts
    assert text == "one two"
