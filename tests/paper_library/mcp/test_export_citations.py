"""`export_citations`: the papers in the formats of reference managers."""

import json
from pathlib import Path

import pytest

from tests.paper_library.mcp import inputs
from tests.paper_library.mcp.http_client import Caller
from tests.paper_library.service.build.readers.files import select_entries, write_and_read

PAPERS = [inputs.ATTENTION_DOI, "preprint2301", "10.5555/bcarotene.9", "clang", inputs.LONG]


def test_bibtex_is_the_default_and_as_its_owner_wrote_it(library: Caller) -> None:
    text = library.call_text("export_citations", paper_ids=["silent1999", "oztuerk2021attention", inputs.ATTENTION_DOI])
    assert text.count("@") == 2, "the same paper by two names is cited once"
    assert text.startswith("@article{silent1999,")
    assert r"{\"O}zt{\"u}rk, Ada" in text


@pytest.mark.parametrize(("format_name", "name"), [("bibtex", "a.bib"), ("ris", "a.ris"), ("csl-json", "a.json")])
def test_every_format_is_read_back_as_the_same_papers(
    library: Caller, tmp_path: Path, format_name: str, name: str
) -> None:
    text = library.call_text("export_citations", paper_ids=PAPERS, format=format_name)
    for paper, entry in zip(PAPERS, select_entries(write_and_read(tmp_path, name, text)), strict=True):
        known = library.call_structured("get_paper_metadata", paper_id=paper)
        assert entry.title == known["title"]
        assert entry.authors == known["authors"]
        assert entry.year == known["year"]
        assert entry.identifiers.get("doi", "").lower() == known["identifiers"].get("doi", "")


def test_kinds_and_keys_are_those_of_the_shelf(library: Caller) -> None:
    text = library.call_text("export_citations", paper_ids=PAPERS, format="csl-json")
    items = {item["id"]: item["type"] for item in json.loads(text)}
    assert items["oztuerk2021attention"] == "paper-conference"
    assert items["preprint2301"] == "article"
    assert items["clang"] == "book"


def test_an_unknown_paper_or_format_is_named(library: Caller) -> None:
    error = library.call_error("export_citations", paper_ids=["silent1999", "nobody"])
    assert (error["code"], error["paper_id"]) == ("paper_not_found", "nobody")
    error = library.call_error("export_citations", paper_ids=["silent1999"], format="apa")
    assert (error["code"], error["argument"]) == ("invalid_argument", "format")
    assert library.call_error("export_citations", paper_ids=[])["argument"] == "paper_ids"
    assert library.call_error("export_citations", paper_ids=["silent1999"] * 101)["argument"] == "paper_ids"
