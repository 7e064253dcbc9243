"""Listing is complete and correct for any state of the index, and fast because of the index."""

import errno
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest

from pflow.errors import InvalidInputs
from pflow.store import workflow_listing
from pflow.store.workflow_file import WorkflowDocument
from pflow.store.workflow_listing import (
    INDEX,
    Summary,
    UnreadableWorkflow,
    filter_workflows,
    list_workflows,
    read_index,
)
from tests.pflow.store.homes import IR, write_draft, write_raw_draft, write_saved, write_workflow_file
from tests.requirements import requirement

LONG_AGO_S = 1_000_000_000


@pytest.fixture
def read_paths(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list that collects the files that are read, in order; files in the index are not read."""
    found: list[str] = []
    read: Callable[[Path, str], WorkflowDocument] = workflow_listing.read_document

    def noted(path: Path, display_path: str) -> WorkflowDocument:
        found.append(display_path)
        return read(path, display_path)

    monkeypatch.setattr(workflow_listing, "read_document", noted)
    # A test does not wait until its files are old enough to be remembered.
    monkeypatch.setattr(workflow_listing, "is_settled", always)
    return found


def always(*_: object) -> bool:
    return True


def list_names(home: Path) -> list[tuple[str, str]]:
    return [(one.name, one.source) for one in list_workflows(home).workflows]


NODE_TYPES: list[tuple[Any, tuple[str, ...]]] = [
    ([{"type": "github"}, {"type": "echo"}, {"type": "github"}], ("github", "echo")),
    ([{"type": "batch", "params": {"node": {"type": "read-file", "params": {}}}}], ("batch", "read-file")),
    ([{"type": "x" * 1000}], ("x" * 100,)),
    ([{"type": str(number)} for number in range(1000)], tuple(str(number) for number in range(50))),
    ([None, 3, "echo", {}, {"type": 5}, {"type": ["a"], "params": {"node": 1}}, {"params": []}], ()),
    ("github", ()),
    ({"type": "github"}, ()),
    (None, ()),
]


@requirement("PF-R4")
def test_saved_workflows_and_drafts_are_listed_with_their_inputs(tmp_path: Path) -> None:
    write_saved(tmp_path, "b", "Greets people.")
    write_draft(tmp_path, "b")
    write_draft(tmp_path, "a", {"ir": IR, "description": "Wrapped."})
    write_raw_draft(tmp_path, "c", {"nodes": [], "inputs": ["odd"]})
    os.utime(tmp_path / "workflows/c.json", (LONG_AGO_S, LONG_AGO_S))
    report = list_workflows(tmp_path)
    assert report.problems == ()
    assert list_names(tmp_path) == [("a", "draft"), ("b", "library"), ("b", "draft"), ("c", "draft")]
    inputs = ("who", "times")
    moment = "2026-02-03T04:05:06.000000Z"
    assert report.workflows[1] == Summary(
        "b", "Greets people.", inputs, ("echo",), moment, "library", "workflows/b.json"
    )
    assert report.workflows[0].description == "Wrapped."
    assert report.workflows[3] == Summary("c", "", (), (), "2001-09-09T01:46:40.000000Z", "draft", "workflows/c.json")


@pytest.mark.parametrize(("nodes", "types"), NODE_TYPES)
def test_the_node_types_are_listed_for_any_content_of_the_file(tmp_path: Path, nodes: Any, types: Any) -> None:
    write_draft(tmp_path, "x", {"nodes": nodes})
    for _ in range(2):  # read, then remembered
        assert list_workflows(tmp_path).workflows[0].node_types == types


def test_a_home_without_workflows_has_an_empty_list(tmp_path: Path) -> None:
    assert list_workflows(tmp_path / "none") == workflow_listing.Listing((), ())
    assert not (tmp_path / "none").exists()


def test_other_files_are_not_workflows(tmp_path: Path) -> None:
    write_saved(tmp_path, "a")
    for name in (".hidden.json", ".0123456789abcdef.tmp", "notes.txt", "a.json~", ".saving.lock"):
        write_workflow_file(tmp_path, f"workflows/{name}", "{")
    report = list_workflows(tmp_path)
    assert ([one.name for one in report.workflows], report.problems) == (["a"], ())


@requirement("PF-E8")
def test_an_unreadable_file_is_a_problem_and_hides_no_other(tmp_path: Path) -> None:
    write_saved(tmp_path, "good")
    write_raw_draft(tmp_path, "broken", '{"nodes": [')
    write_raw_draft(tmp_path, "two words")
    write_raw_draft(tmp_path, "con")
    write_draft(tmp_path, "list", [])
    (tmp_path / "workflows/folder.json").mkdir()
    (tmp_path / "workflows/dangling.json").symlink_to("nothing.json")
    (tmp_path / "workflows/outside.json").symlink_to(write_workflow_file(tmp_path, "elsewhere/workflow.json"))
    (tmp_path / "workflows/loop.json").symlink_to("loop.json")
    for _ in range(2):
        report = list_workflows(tmp_path)
        assert [one.name for one in report.workflows] == ["good"]
        assert [problem.path for problem in report.problems] == [
            "workflows/broken.json",
            "workflows/con.json",
            "workflows/dangling.json",
            "workflows/drafts/list.json",
            "workflows/folder.json",
            "workflows/loop.json",
            "workflows/outside.json",
            "workflows/two words.json",
        ]
        assert "at line 1, column" in report.problems[0].message
        assert not any(
            "elsewhere" in problem.message or str(tmp_path) in problem.message for problem in report.problems
        )


def test_file_names_that_are_not_valid_text_are_reported_in_printable_characters(tmp_path: Path) -> None:
    folder = os.fsencode(tmp_path / "workflows")
    os.mkdir(folder)
    for name in (b"\xff\xfe.json", b"line\nbreak.json"):
        with open(folder + b"/" + name, "wb") as stream:
            stream.write(b"{}")
    paths = [problem.path for problem in list_workflows(tmp_path).problems]
    assert paths == ["workflows/??.json", "workflows/line?break.json"]


def test_a_folder_that_may_not_be_read_is_a_problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(_: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(os, "scandir", denied)
    report = list_workflows(tmp_path)
    assert report.problems[0] == UnreadableWorkflow("workflows/", "The folder cannot be read (Permission denied).")


def test_files_are_read_once_and_again_only_when_they_change(tmp_path: Path, read_paths: list[str]) -> None:
    write_saved(tmp_path, "a")
    write_draft(tmp_path, "b")
    write_raw_draft(tmp_path, "broken", "{")
    first = list_workflows(tmp_path)
    assert sorted(read_paths) == ["workflows/a.json", "workflows/broken.json", "workflows/drafts/b.json"]
    read_paths.clear()
    assert list_workflows(tmp_path) == first
    assert read_paths == []
    write_saved(tmp_path, "a", "Another description.")
    assert list_workflows(tmp_path).workflows[0].description == "Another description."
    assert read_paths == ["workflows/a.json"]


def test_a_change_of_the_same_size_and_time_in_another_file_is_seen(tmp_path: Path, read_paths: list[str]) -> None:
    file = write_saved(tmp_path, "a", "One thing.")
    os.utime(file, (LONG_AGO_S, LONG_AGO_S))
    list_workflows(tmp_path)
    size = file.stat().st_size
    other = write_workflow_file(tmp_path, "other", file.read_text().replace("One thing.", "1234 5678."))
    os.utime(other, (LONG_AGO_S, LONG_AGO_S))
    other.replace(file)
    assert (file.stat().st_size, file.stat().st_mtime) == (size, LONG_AGO_S)
    assert list_workflows(tmp_path).workflows[0].description == "1234 5678."
    assert len(read_paths) == 2


def test_a_change_in_the_same_clock_tick_as_a_listing_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = write_saved(tmp_path, "a", "One thing.")
    stamp = workflow_listing.make_stamp(file.stat())

    def frozen(_: os.stat_result) -> list[int]:
        return stamp

    monkeypatch.setattr(workflow_listing, "make_stamp", frozen)  # as a clock of coarse ticks would have it
    list_workflows(tmp_path)
    file.write_text(file.read_text().replace("One thing.", "1234 5678."))
    assert list_workflows(tmp_path).workflows[0].description == "1234 5678."


def test_a_deleted_workflow_is_neither_listed_nor_indexed(tmp_path: Path, read_paths: list[str]) -> None:
    file = write_saved(tmp_path, "a")
    write_saved(tmp_path, "b")
    list_workflows(tmp_path)
    file.unlink()
    assert list_names(tmp_path) == [("b", "library")]
    assert set(read_index(tmp_path / INDEX)) == {"workflows/b.json"}
    assert len(read_paths) == 2


def test_listing_one_folder_keeps_the_index_entries_of_the_other(tmp_path: Path, read_paths: list[str]) -> None:
    write_saved(tmp_path, "a")
    write_draft(tmp_path, "b")
    list_workflows(tmp_path)
    write_saved(tmp_path, "c")
    workflow_listing.list_folders_and_update_index(tmp_path, {tmp_path / "workflows": "library"}, tmp_path / INDEX)
    read_paths.clear()
    assert list_names(tmp_path) == [("a", "library"), ("b", "draft"), ("c", "library")]
    assert read_paths == []


def list_corruptions(index: bytes) -> dict[str, bytes]:
    changed = orjson.loads(index)
    changed["files"]["workflows/a.json"]["description"] = "forged"
    return {
        "empty": b"",
        "cut": index[: len(index) // 2],
        "noise": os.urandom(200),
        "another kind": b"[]",
        "a number": b"7",
        "no entries": b'{"format": 2, "digest": "", "files": 3}',
        "older": index.replace(b'"format":2', b'"format":1'),
        "flipped": index.replace(b"Greets", b"Groots"),
        "edited": orjson.dumps(changed),
        "entries of another shape": b'{"format":2,"digest":"x","files":{"workflows/a.json":{}}}',
    }


@pytest.mark.parametrize("kind", sorted(list_corruptions(b'{"files": {"workflows/a.json": {}}}')))
def test_a_corrupted_index_is_rebuilt(tmp_path: Path, read_paths: list[str], kind: str) -> None:
    write_saved(tmp_path, "a")
    first = list_workflows(tmp_path)
    index = tmp_path / INDEX
    whole = index.read_bytes()
    index.write_bytes(list_corruptions(whole)[kind])
    assert list_workflows(tmp_path) == first
    assert len(read_paths) == 2
    assert index.read_bytes() == whole


def test_an_index_that_cannot_be_written_costs_time_and_nothing_else(tmp_path: Path, read_paths: list[str]) -> None:
    write_saved(tmp_path, "a")
    (tmp_path / "cache").write_text("a file where the folder should be")
    for _ in range(2):
        assert list_names(tmp_path) == [("a", "library")]
    assert len(read_paths) == 2


def test_a_file_that_vanishes_while_it_is_listed_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_saved(tmp_path, "a")
    gone = write_saved(tmp_path, "b")
    read = workflow_listing.read_document

    def vanishing(path: Path, display_path: str) -> WorkflowDocument:
        gone.unlink(missing_ok=True)
        return read(path, display_path)

    monkeypatch.setattr(workflow_listing, "read_document", vanishing)
    report = list_workflows(tmp_path)
    assert report.problems == ()
    assert "b" not in [one.name for one in report.workflows]


@requirement("PF-R5")
@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        (None, ["Daily-Report", "cafe", "test-1", "test-22"]),
        ("", ["Daily-Report", "cafe", "test-1", "test-22"]),
        ("  ", ["Daily-Report", "cafe", "test-1", "test-22"]),
        ("test", ["Daily-Report", "test-1", "test-22"]),
        ("TEST", ["Daily-Report", "test-1", "test-22"]),
        ("report test", ["Daily-Report"]),
        ("test*", ["test-1", "test-22"]),
        ("TEST-?", ["test-1"]),
        ("*[0-9]", ["test-1", "test-22"]),
        ("test-[", []),
        ("CAFÉ", ["cafe"]),
        ("daily missing", []),
    ],
)
def test_a_pattern_is_a_glob_for_names_or_words_of_names_and_descriptions(
    tmp_path: Path, pattern: str | None, found: list[str]
) -> None:
    write_saved(tmp_path, "Daily-Report", "Runs the tests.")
    write_saved(tmp_path, "cafe", "Un café.")
    write_saved(tmp_path, "test-1", "First.")
    write_saved(tmp_path, "test-22", "Second.")
    assert [one.name for one in filter_workflows(list_workflows(tmp_path).workflows, pattern)] == found


def test_a_pattern_that_is_too_long_is_refused() -> None:
    assert filter_workflows([], "*a" * 250) == []
    with pytest.raises(InvalidInputs) as caught:
        filter_workflows([], "x" * 501)
    assert caught.value.ids["argument"] == "pattern"


LIST = """
import sys
from pathlib import Path
from typing import Any
from time import process_time
from pflow.store.workflow_listing import list_workflows
heavy = {"pydantic", "typer", "rich", "httpx", "mcp", "platformdirs", "filelock", "rapidfuzz"} & set(sys.modules)
home = Path(sys.argv[1])
started = process_time()
listed = len(list_workflows(home).workflows)
print(listed, process_time() - started, *heavy)
"""


def test_a_thousand_workflows_are_listed_in_no_time_also_by_a_fresh_process(tmp_path: Path) -> None:
    for number in range(1_000):
        nodes = [{"id": f"n{n}", "type": "shell", "params": {"command": f"echo ${{who}} {n}"}} for n in range(10)]
        file = write_saved(tmp_path, f"workflow-{number:04}", "Greets people.", {**IR, "nodes": nodes})
        os.utime(file, (LONG_AGO_S, LONG_AGO_S))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(workflow_listing, "is_settled", always)
        assert len(list_workflows(tmp_path).workflows) == 1_000
    done = subprocess.run(
        [sys.executable, "-c", LIST, str(tmp_path)], capture_output=True, text=True, check=True, timeout=50
    )
    listed, seconds, *heavy = done.stdout.split()
    assert (int(listed), heavy) == (1_000, [])
    # Of its own time, which other processes do not lengthen.
    assert float(seconds) < 0.05


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("^report-.*", ["report-daily", "report-weekly"]),
        ("report-.*ly$", ["report-daily", "report-weekly"]),
        (".*", ["greeter", "report-daily", "report-weekly"]),
        ("(greet|weekly).*", ["greeter", "report-weekly"]),
        ("greeter|daily", ["greeter", "report-daily"]),
        ("report%", ["report-daily", "report-weekly"]),
        ("report-*.json", ["report-daily", "report-weekly"]),
        ("^report$", []),
        ("(a+)+$" * 20, []),
    ],
)
def test_simple_regular_expressions_and_like_patterns_are_read_as_globs(
    tmp_path: Path, pattern: str, found: list[str]
) -> None:
    for name in ("greeter", "report-daily", "report-weekly"):
        write_saved(tmp_path, name)
    assert [one.name for one in filter_workflows(list_workflows(tmp_path).workflows, pattern)] == found
