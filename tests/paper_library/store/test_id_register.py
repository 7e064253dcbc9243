"""The file of the ids of a shelf: what it keeps, forgets and refuses."""

import json
from pathlib import Path
from typing import Any

import pytest

from paper_library.domain.id_evidence import IdRecord
from paper_library.errors import RegisterTooNew
from paper_library.store.id_register import IdRegister

ONE, OTHER, THIRD = (letter * 32 for letter in "abc")


def load(path: Path) -> tuple[IdRegister, list[str]]:
    """Return the register in a file, and the reasons of its problems."""
    register = IdRegister()
    return register, [problem.reason for problem in register.load_file(path, rename_if_damaged=False)]


def write_document(path: Path, papers: dict[str, Any], version: Any = 1) -> None:
    path.write_text(json.dumps({"paper_library_ids": version, "papers": papers}))


def test_a_paper_that_another_one_absorbed_is_forgotten_and_the_others_stay(tmp_path: Path) -> None:
    register = IdRegister()
    register.add_or_merge_records(IdRecord(one, f"key-{one[0]}") for one in (ONE, OTHER, THIRD))
    register.record_paper(IdRecord(ONE, "key-a"), [OTHER])
    (tmp_path / "staging").mkdir()
    register.write_file(tmp_path / "shelf.ids.json", tmp_path / "staging")
    stored, problems = load(tmp_path / "shelf.ids.json")
    assert (sorted(record.paper_id for record in stored), problems) == ([ONE, THIRD], [])


def test_damaged_lines_are_counted_and_the_others_are_read(tmp_path: Path) -> None:
    file = tmp_path / "shelf.ids.json"
    write_document(file, {ONE: {"key": "a"}, "b": {}, OTHER: {"year": True}, THIRD: {"keys": "doi:10.1000/x"}})
    stored, problems = load(file)
    assert [record.paper_id for record in stored] == [ONE]
    assert problems == ["3 of 4 lines are damaged and were ignored."]


@pytest.mark.parametrize("version", [2, "2", None])
def test_a_register_of_a_later_version_is_refused(tmp_path: Path, version: Any) -> None:
    write_document(tmp_path / "shelf.ids.json", {ONE: {}}, version)
    with pytest.raises(RegisterTooNew, match="written by a later version"):
        load(tmp_path / "shelf.ids.json")
