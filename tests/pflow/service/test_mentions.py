"""Workflows that mention a paper are found by whole words, wherever the text is."""

from pathlib import Path
from typing import Any

from pflow.service.catalog import find_mentions
from tests.pflow.store.homes import write_draft, write_workflow_file

DOI = "10.1038/nature21360"


def make_document(text: str, **others: Any) -> dict[str, Any]:
    nodes = [
        {"id": "quiet", "type": "echo", "params": {"message": "nothing"}},
        {"id": "cites", "type": "echo", "params": {"message": text}},
    ]
    return {"nodes": nodes, **others}


def test_nodes_with_the_identifier_of_a_paper_are_found(tmp_path: Path) -> None:
    write_draft(tmp_path, "by-doi", make_document(f"see https://doi.org/{DOI.upper()}."))
    write_draft(tmp_path, "by-arxiv", make_document("arXiv:1703.01424v2"))
    write_draft(tmp_path, "in-an-input", make_document("-", inputs={"paper": {"type": "string", "default": DOI}}))
    found = {one.name: one for one in find_mentions(tmp_path, [DOI, "1703.01424"])}
    assert found.keys() == {"by-doi", "by-arxiv", "in-an-input"}
    assert found["by-doi"].nodes == ["cites"]
    assert found["by-doi"].source == "draft"
    assert found["in-an-input"].nodes == []


def test_longer_identifiers_short_texts_and_broken_files_are_left_out(tmp_path: Path) -> None:
    write_draft(tmp_path, "longer", make_document(f"{DOI}99 and x{DOI} and gillon20171"))
    write_workflow_file(tmp_path, "workflows/drafts/broken.json", f"{{ {DOI}")
    write_draft(tmp_path, "odd", {"nodes": [DOI, {"id": 7, "params": DOI}]})
    assert [(one.name, one.nodes) for one in find_mentions(tmp_path, [DOI, "gillon2017", "(", "a.c"])] == [("odd", [])]
    assert find_mentions(tmp_path, ["abc", ""]) == []
    assert find_mentions(tmp_path / "none", [DOI]) == []
