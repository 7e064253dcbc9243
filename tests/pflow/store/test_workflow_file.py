"""Files of workflows, raw or wrapped, valid or not."""

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from pflow.errors import InvalidInputs, InvalidWorkflow
from pflow.store import workflow_file
from pflow.store.workflow_file import encode_wrapped_workflow, read_document
from tests.pflow.store.homes import IR, write_saved, write_workflow_file


def get_code(error: InvalidWorkflow) -> str:
    (found,) = error.ids["diagnostics"]
    return found["code"]


def test_a_raw_file_is_its_ir_and_as_old_as_the_file(tmp_path: Path) -> None:
    file = write_workflow_file(tmp_path, "x.json")
    os.utime(file, (1_000_000_000, 1_000_000_000.5))
    read = read_document(file, "x.json")
    assert (read.ir, read.is_wrapped, read.description, read.created_at) == (IR, False, "", None)
    assert read.updated_at == "2001-09-09T01:46:40.500000Z"


def test_a_wrapped_file_has_its_name_and_description(tmp_path: Path) -> None:
    read = read_document(write_saved(tmp_path, "x", "Greets."), "x.json")
    assert (read.ir, read.is_wrapped, read.description) == (IR, True, "Greets.")
    assert (read.created_at, read.updated_at) == ("2026-01-02T03:04:05.000000Z", "2026-02-03T04:05:06.000000Z")


@pytest.mark.parametrize("written", [7, None, "yesterday", ["2026"], "9" * 1000])
def test_invalid_metadata_is_ignored_and_the_workflow_is_read(tmp_path: Path, written: Any) -> None:
    plain = {"ir": IR, "description": 7, "created_at": written, "updated_at": written}
    file = write_workflow_file(tmp_path, "x.json", plain)
    os.utime(file, (1_000_000_000, 1_000_000_000))
    read = read_document(file, "x.json")
    assert (read.ir, read.description, read.created_at) == (IR, "", None)
    assert read.updated_at == "2001-09-09T01:46:40.000000Z"


@pytest.mark.parametrize("plain", [{"ir": "text", "name": "x"}, {"ir": {"nodes": []}, "nodes": []}, {}])
def test_a_wrapper_without_an_object_is_left_to_the_checker(tmp_path: Path, plain: dict[str, Any]) -> None:
    read = read_document(write_workflow_file(tmp_path, "x.json", plain), "x.json")
    assert (read.ir, read.is_wrapped) == (plain, False)


@pytest.mark.parametrize(("seconds", "year"), [(-(2.0**60), 1970), (2.0**60, 9999)])
def test_a_file_from_before_or_after_all_calendars_has_a_time_all_the_same(seconds: float, year: int) -> None:
    # Not through the disk: few file systems can keep such a time.
    read = workflow_file._make_document(IR, seconds)  # pyright: ignore[reportPrivateUsage]
    assert datetime.fromisoformat(read.updated_at).year == year


def test_a_folder_and_a_pipe_are_refused_without_waiting(tmp_path: Path) -> None:
    (tmp_path / "folder.json").mkdir()
    os.mkfifo(tmp_path / "pipe.json")
    for name in ("folder.json", "pipe.json"):
        with pytest.raises(InvalidWorkflow) as caught:
            read_document(tmp_path / name, name)
        assert get_code(caught.value) == "not_a_file"


def test_a_file_without_read_permission_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = write_workflow_file(tmp_path, "x.json")

    def denied(*_: object) -> bytes:
        raise PermissionError(13, "Permission denied", str(file))

    monkeypatch.setattr(workflow_file, "_read_up_to_limit", denied)
    with pytest.raises(InvalidWorkflow) as caught:
        read_document(file, "x.json")
    assert get_code(caught.value) == "unreadable_file"
    assert "Permission denied" in caught.value.message
    assert str(tmp_path) not in str(caught.value.body())


@pytest.mark.parametrize("path", ["none.json", "none/x.json", "x.json/y.json"])
def test_an_absent_file_is_just_not_there(tmp_path: Path, path: str) -> None:
    write_workflow_file(tmp_path, "x.json")
    with pytest.raises(FileNotFoundError):
        read_document(tmp_path / path, path)


def test_a_wrapped_workflow_is_read_back(tmp_path: Path) -> None:
    ir: Any = {**IR, "outputs": {"größe 漢": {"source": "${greet.echo}"}}, "big": 2**90}
    read = read_document(
        write_workflow_file(tmp_path, "x.json", encode_wrapped_workflow("x", ir, "  Grüßt.\n")), "x.json"
    )
    assert (read.ir, read.is_wrapped, read.description) == (ir, True, "Grüßt.")
    assert read.created_at == read.updated_at
    moment = datetime.fromisoformat(read.updated_at)
    assert abs((datetime.now(UTC) - moment).total_seconds()) < 60


@pytest.mark.parametrize("value", [float("nan"), float("inf"), {1, 2}, b"bytes", "\ud800"])
def test_values_that_json_cannot_carry_are_refused(value: Any) -> None:
    with pytest.raises(InvalidWorkflow) as caught:
        encode_wrapped_workflow("x", {"nodes": [value]}, "")
    assert get_code(caught.value) == "not_json"


def test_an_ir_without_end_and_one_beyond_the_limit_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    deep: list[Any] = []
    for _ in range(5_000):
        deep = [deep]
    with pytest.raises(InvalidWorkflow) as caught:
        encode_wrapped_workflow("x", {"nodes": deep}, "")
    assert get_code(caught.value) == "too_deep"
    monkeypatch.setattr(workflow_file, "LARGEST_FILE", 100)
    with pytest.raises(InvalidWorkflow) as caught:
        encode_wrapped_workflow("x", IR, "")
    assert get_code(caught.value) == "file_too_large"


def test_a_description_has_at_most_500_characters() -> None:
    assert b"d" * 500 in encode_wrapped_workflow("x", IR, " " + "d" * 500 + " ")
    with pytest.raises(InvalidInputs) as caught:
        encode_wrapped_workflow("x", IR, "d" * 501)
    assert caught.value.type == "validation_error"
    assert caught.value.ids["argument"] == "description"
    assert "501" in caught.value.message
