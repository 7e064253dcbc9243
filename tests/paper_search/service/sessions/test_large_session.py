"""Sessions of many papers: they open, list, take decisions, search again, and export, also after a restart."""

import json
from pathlib import Path

import pytest

from bench.bench_large_search import LargeSearch


@pytest.mark.parametrize("papers", [500, pytest.param(20_000, marks=[pytest.mark.soak, pytest.mark.timeout(900)])])
async def test_a_session_of_many_papers_opens_lists_decides_and_exports(tmp_path: Path, papers: int) -> None:
    search = LargeSearch(tmp_path, papers)
    await search.run_steps()
    exported = json.loads((tmp_path / "export.json").read_text())
    found = papers * 5 // 4
    refused = papers // 20
    assert len(exported["papers"]) == found - refused
    assert len(exported["excluded_papers"]) == refused
    assert (tmp_path / "export.bibtex").read_text().count("\n@") + 1 == found - refused
    assert (tmp_path / "export.ris").read_text().count("TY  - ") == found - refused
    assert len(json.loads((tmp_path / "export.csl-json").read_text())) == found - refused
